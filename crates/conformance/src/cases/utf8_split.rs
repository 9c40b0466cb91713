//! Characters that arrive in pieces: over windows, over reads, over streams, over the end.

use std::time::{Duration, Instant};

use crate::need;
use crate::outside;
use crate::place::Need;
use crate::room::Room;
use crate::run::{Run, Wait};

const REPLACEMENT: char = '\u{FFFD}';

/// UTF8-01.
pub(crate) async fn a_character_split_over_two_windows_arrives_whole(room: &Room) {
    for terminal in [true, false] {
        let run = Run::bash(r"printf '\344\270'; sleep 0.6; printf '\255\n'").terminal_if(terminal).window(250);
        let first = room.start(run).await;
        assert_eq!(first.text, "", "half a character is withheld");
        let whole = room.finish_in_windows(first, 250).await;
        assert_eq!(whole.clean_text(), if terminal { "\u{4E2D}\r\n" } else { "\u{4E2D}\n" });
        assert_eq!(whole.raw, whole.text.as_bytes());
        assert_eq!(whole.exit_code(), Some(0));
    }
}

/// UTF8-02.
pub(crate) async fn a_character_in_four_windows_arrives_whole(room: &Room) {
    let run = Run::shell(r"for x in 360 237 230 200; do printf \\$x; sleep 0.15; done; echo").terminal().window(100);
    let mut whole = crate::whole::Whole::of(&room.start(run).await);
    while whole.end.is_none() {
        let begin = Instant::now();
        let next = room.collect(whole.process, Wait::ms(100).from(whole.cursor)).await;
        assert!(begin.elapsed() < Duration::from_secs(1), "a window that holds only withheld bytes ends at its deadline");
        whole.add(&next);
    }
    assert_eq!(whole.clean_text(), "\u{1F600}\r\n");
    assert_eq!(whole.raw, b"\xF0\x9F\x98\x80\r\n");
    assert!(whole.texts.len() > 3, "the character came over several windows: {:?}", whole.texts);
}

/// The kind behind UTF8-01 and 02: two, three and four bytes, cut at every place, between plain characters, a window at each cut.
pub(crate) async fn every_cut_of_every_length_arrives_whole(room: &Room) {
    let cut = |(character, at): (&'static str, usize)| async move {
        let (head, tail) = character.as_bytes().split_at(at);
        let text = format!("printf 'a{}'; read x; printf '{}z'", octal(head), octal(tail));
        let first = room.start(Run::bash(text).piped().window(5_000).until(crannog::Until::Bytes(1 + at as u64))).await;
        assert_eq!(first.text, "a", "{character} cut at {at}");
        room.write(first.process, "\n", Wait::ms(0)).await;
        let whole = room.finish(first).await;
        assert_eq!(whole.clean_text(), format!("a{character}z"), "cut at {at}");
    };
    let characters = ["\u{E9}", "\u{4E2D}", "\u{1F600}", "\u{10FFFF}", "\u{7FF}", "\u{800}"];
    let cuts = characters.into_iter().flat_map(|character| (1..character.len()).map(move |at| (character, at)));
    futures_util::future::join_all(cuts.map(cut)).await;
}

/// A character of stdout torn by bytes of stderr, which is torn itself.
pub(crate) async fn characters_of_two_streams_torn_into_each_other_arrive_whole(room: &Room) {
    let text = "import os, time\n\
        for fd, piece in [(1, b'\\xe4'), (2, b'\\xf0\\x9f'), (1, b'\\xb8\\xad'), (2, b'\\x98'), (2, b'\\x80'), (1, b'|'), (2, b'!')]:\n\
        \x20 os.write(fd, piece); time.sleep(0.12)\n";
    for window_ms in [60, 5_000] {
        let first = room.start(Run::python(text).window(window_ms)).await;
        let whole = room.finish_in_windows(first, window_ms).await;
        let mut characters: Vec<char> = whole.clean_text().chars().collect();
        characters.sort_unstable();
        assert_eq!(characters, ['!', '|', '\u{4E2D}', '\u{1F600}'], "{:?}", whole.texts);
        assert_eq!(whole.cursor, 9, "every byte is counted");
        let output = room.exec(Run::python(text)).await;
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), ("\u{4E2D}|".as_bytes(), "\u{1F600}!".as_bytes()));
    }
}

/// UTF8-04.
pub(crate) async fn an_unfinished_character_at_the_end_is_delivered(room: &Room) {
    for terminal in [false, true] {
        let begin = Instant::now();
        let update = room.start(Run::bash(r"printf 'ok\344\270'").terminal_if(terminal).window(2_000)).await;
        assert!(begin.elapsed() < Duration::from_secs(1), "the rest is not waited for");
        assert_eq!(update.end.as_ref().and_then(crannog::End::exit_code), Some(0));
        assert_eq!(update.raw, b"ok\xE4\xB8");
        let replaced = update.text.strip_prefix("ok").unwrap();
        assert!((1..=2).contains(&replaced.chars().count()) && replaced.chars().all(|c| c == REPLACEMENT), "{:?}", update.text);
    }
}

/// The end comes in another window than the unfinished bytes.
pub(crate) async fn an_unfinished_character_before_a_late_end_is_delivered_once(room: &Room) {
    let first = room.start(Run::bash(r"printf 'ok\360\237\230'; sleep 0.5; exit 7").window(150)).await;
    assert_eq!(first.text, "ok");
    let whole = room.finish_in_windows(first, 150).await;
    assert_eq!(whole.raw, b"ok\xF0\x9F\x98");
    assert_eq!(whole.text.matches(REPLACEMENT).count(), 1, "one ill-formed sequence, one replacement: {:?}", whole.text);
    assert_eq!(whole.exit_code(), Some(7));
}

/// UTF8-05. The reader is delayed for real: the guest is stopped while the process prints its last byte and ends.
pub(crate) async fn a_late_reader_still_delivers_the_last_byte_before_the_end(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    for terminal in [true, false] {
        let text = r"printf 'x\303'; sleep 0.3; printf '\251'";
        let first = room.start(Run::bash(text).terminal_if(terminal).window(5_000).until_text("x")).await;
        assert_eq!((first.text.as_str(), first.end.clone()), ("x", None));
        outside::stopped(guest, Duration::from_millis(600)).await;
        let whole = room.finish_in_windows(first, 100).await;
        assert_eq!(whole.clean_text(), "x\u{E9}");
        assert_eq!(whole.exit_code(), Some(0));
    }
}

/// Characters outside what UTF-8 allows stay replaced, and never swallow the plain text around them.
pub(crate) async fn ill_formed_bytes_do_not_swallow_their_neighbours(room: &Room) {
    for (bytes, marks) in
        [(&b"\xFF"[..], 1), (b"\xC0\xAF", 2), (b"\xE4\xB8", 1), (b"\xF4\x90\x80\x80", 4), (b"\xED\xA0\x80", 3), (b"\x80\xBF", 2)]
    {
        let whole = room.whole(Run::bash(format!("printf 'a{}b'", octal(bytes)))).await;
        assert_eq!(whole.text, format!("a{}b", REPLACEMENT.to_string().repeat(marks)), "{bytes:?}");
        assert_eq!(whole.raw, [b"a", bytes, b"b"].concat());
    }
}

/// Bytes as `printf` of a shell takes them.
fn octal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:03o}")).collect()
}
