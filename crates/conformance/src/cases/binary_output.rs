//! Output that is not text: it is kept byte for byte, and shown without lies.

use sha2::{Digest as _, Sha256};

use crate::outside;
use crate::room::Room;
use crate::run::{Run, Wait};

/// BIN-03.
pub(crate) async fn a_nul_byte_survives_in_text_bytes_and_json(room: &Room) {
    let whole = room.whole(Run::bash(r"printf 'a\000b\n'")).await;
    assert_eq!(whole.raw, b"a\0b\n");
    assert_eq!(whole.text, "a\0b\n");
    assert_eq!(room.bash("echo next").await, "next", "the connection goes on");

    let answer = outside::cli(room, &["start", room.id(), "--json", "-c", r"printf 'a\000b\n'"]).await;
    assert_eq!(answer["output"].as_str(), Some("a\0b\n"), "{answer}");
}

/// BIN-04.
pub(crate) async fn a_lone_surrogate_is_replaced_in_text_and_json(room: &Room) {
    let whole = room.whole(Run::bash(r"printf '\355\240\200\n'")).await;
    assert_eq!(whole.raw, b"\xED\xA0\x80\n");
    let marks = whole.text.matches('\u{FFFD}').count();
    assert!((1..=3).contains(&marks) && whole.text.chars().count() == marks + 1, "{:?}", whole.text);

    let answer = outside::cli(room, &["start", room.id(), "--json", "-c", r"printf '\355\240\200\n'"]).await;
    assert_eq!(answer["output"].as_str(), Some(whole.text.as_str()));
    assert!(!answer.to_string().contains("\\ud8"), "{answer}");
}

/// BIN-06.
pub(crate) async fn invalid_text_is_neither_guessed_nor_decoded_twice(room: &Room) {
    let command = r"printf 'caf\351 \360\237\224\215\n'";
    let output = room.exec(Run::bash(command).timeout_ms(5_000)).await;
    assert_eq!(output.stdout, b"caf\xE9 \xF0\x9F\x94\x8D\n");
    let whole = room.whole(Run::bash(command)).await;
    assert_eq!(whole.text, "caf\u{FFFD} \u{1F50D}\n");
}

/// Every byte value, many times, through pipes and through a raw terminal.
pub(crate) async fn all_byte_values_come_back_as_they_were(room: &Room) {
    let write = "import os\nfor i in range(400): os.write(1, bytes(range(256)))\n";
    let expected: Vec<u8> = (0..400).flat_map(|_| 0..=255).collect();
    let piped = room.whole(Run::python(write)).await;
    assert!(piped.raw == expected, "{} bytes of {}", piped.raw.len(), expected.len());
    let raw = "import tty; tty.setraw(1)\n".to_owned() + write;
    let terminal = room.whole(Run::python(raw).terminal()).await;
    assert!(terminal.raw == expected, "{} bytes of {}", terminal.raw.len(), expected.len());
    let output = room.exec(Run::python(write)).await;
    assert!(output.stdout == expected, "{} bytes of {}", output.stdout.len(), expected.len());
}

/// Random bytes on both streams at once, compared by hash: joined windows, exec, and the raw transcript of each stream.
pub(crate) async fn random_bytes_of_two_streams_hash_alike(room: &Room) {
    let text = "import os, random, threading, hashlib\n\
        def pump(fd, seed):\n\
        \x20 r = random.Random(seed)\n\
        \x20 for i in range(150): os.write(fd, r.randbytes(r.randrange(1, 9000)))\n\
        t = [threading.Thread(target=pump, args=a) for a in ((1, 11), (2, 22))]\n\
        [x.start() for x in t]; [x.join() for x in t]\n";
    let reference = "import random, hashlib\n\
        for seed in (11, 22):\n\
        \x20 r = random.Random(seed); h = hashlib.sha256()\n\
        \x20 for i in range(150): h.update(r.randbytes(r.randrange(1, 9000)))\n\
        \x20 print(h.hexdigest())\n";
    let expected = room.bash(&format!("python3 -c '{reference}'")).await;
    let expected: Vec<&str> = expected.lines().collect();

    let output = room.exec(Run::python(text)).await;
    assert_eq!([hex(&output.stdout), hex(&output.stderr)], expected[..]);

    let whole = room.whole(Run::python(text)).await;
    for (stream, wanted) in [crannog::Stream::Stdout, crannog::Stream::Stderr].into_iter().zip(expected) {
        assert_eq!(hex(&outside::transcript(room, whole.process, Some(stream)).await), wanted, "{stream:?}");
    }
    assert!(outside::transcript(room, whole.process, None).await == whole.raw, "joined windows are the merged transcript");
}

/// Bytes written to a process arrive as they were, too.
pub(crate) async fn all_byte_values_go_in_as_they_are(room: &Room) {
    let input: Vec<u8> = (0..64).flat_map(|_| 0..=255).collect();
    let cat = room.start(Run::words("cat").piped().window(0)).await;
    room.write(cat.process, &input, Wait::ms(0)).await;
    room.close_stdin(cat.process).await;
    let whole = room.finish(cat).await;
    assert!(whole.raw == input, "{} bytes of {}", whole.raw.len(), input.len());
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
