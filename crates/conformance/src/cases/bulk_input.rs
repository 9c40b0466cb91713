//! A lot of input: it is taken whole or its rest is told of, and nobody blocks anybody.

use std::time::{Duration, Instant};

use crannog::{End, Until};

use crate::need;
use crate::place::Need;
use crate::processes;
use crate::room::Room;
use crate::run::{Run, Wait};

/// BULK-02.
pub(crate) async fn after_a_line_that_is_too_long_the_terminal_is_usable(room: &Room) {
    let cat = room.start(Run::words("cat").terminal().until(Until::Input)).await;
    let long = [vec![b'a'; 5_000], b"\n".to_vec()].concat();
    let update = room.write(cat.process, long, Wait::ms(1_000)).await;
    assert!(update.written.is_some_and(|written| written.line_too_long), "{:?}", update.written);
    let update = room.write(cat.process, "next\n", Wait::text("next\r\nnext\r\n")).await;
    assert!(update.text.ends_with("next\r\nnext\r\n"), "{:?}", update.text);
}

/// BULK-03.
pub(crate) async fn a_megabyte_is_pasted_into_an_echoing_program(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    let before = processes::resident_bytes(guest);
    let input = [vec![b'x'; 79], b"\n".to_vec()].concat().repeat(12_500);
    let count = room.start(Run::words("wc -c").terminal().until(Until::Input)).await;
    let begin = Instant::now();
    let update = room.write(count.process, &input, Wait::ms(20_000).until(Until::Silent(Duration::from_millis(300))).budget(500)).await;
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert_eq!(update.written.map(|written| written.accepted), Some(1_000_000));
    let update = room.write(count.process, b"\x04\x04", Wait::ms(5_000)).await;
    assert!(update.text.ends_with("1000000\r\n"), "{:?}", update.text);
    let echoed = room.info(count.process).await.output_bytes;
    assert!(echoed > 1_000_000, "the echo is in the transcript: {echoed}");
    let growth = processes::resident_bytes(guest).saturating_sub(before);
    assert!(growth < 64 << 20, "the guest grew by {growth} bytes");
}

/// BULK-05.
pub(crate) async fn a_stuck_write_tells_its_part_and_does_not_block_the_end(room: &Room) {
    for terminal in [false, true] {
        let sleep = room.start(Run::words("sleep 60").terminal_if(terminal).piped_unless(terminal).window(0)).await;
        let begin = Instant::now();
        let lines = [vec![b'x'; 79], b"\n".to_vec()].concat().repeat(12_500);
        let update = room.write(sleep.process, lines, Wait::ms(500)).await;
        assert!(begin.elapsed() <= Duration::from_secs(2), "{:?}", begin.elapsed());
        let accepted = update.written.unwrap().accepted;
        assert!((1..1_000_000).contains(&accepted), "{accepted}");
        if !terminal {
            room.close_stdin(sleep.process).await;
        }
        let begin = Instant::now();
        assert!(room.kill(sleep.process).await.complete);
        assert!(begin.elapsed() <= Duration::from_secs(5));
    }
}

/// BULK-07.
pub(crate) async fn a_bracketed_paste_passes_untouched(room: &Room) {
    let shell = Run::words("bash --norc --noprofile -i").terminal().env("TERM", "xterm-256color").until(Until::Input);
    let first = room.start(shell).await;
    assert!(first.text.contains("\u{1b}[?2004h"), "{:?}", first.text);
    let pasted = room.write(first.process, "\x1b[200~echo one\necho two\x1b[201~", Wait::ms(800)).await;
    let lines = |text: &str, wanted: &str| text.split("\r\n").filter(|line| plain(line) == wanted).count();
    assert_eq!(lines(&pasted.text, "one"), 0, "{:?}", pasted.text);
    let entered = room.write(first.process, "\r", Wait::input()).await;
    assert_eq!((lines(&entered.text, "one"), lines(&entered.text, "two")), (1, 1), "{:?}", entered.text);
}

/// Four megabytes through a pipe in one write arrive whole; several writers at once do not mix (see `lifecycle` for terminals).
pub(crate) async fn large_writes_through_a_pipe_arrive_whole_and_in_order(room: &Room) {
    let reader = "import sys\nd = sys.stdin.buffer.read()\nruns = 1 + sum(a != b for a, b in zip(d, d[1:]))\nprint(len(d), runs)";
    let first = room.start(Run::python(reader).piped().window(0)).await;
    let size = crannog::limits::WRITE_BYTES_MAX / 8;
    let writes = (b'a'..=b'h').map(|letter| room.write(first.process, vec![letter; size], Wait::ms(20_000).until(Until::Bytes(0))));
    for update in futures_util::future::join_all(writes).await {
        assert_eq!(update.written.map(|written| written.accepted), Some(size as u64));
    }
    room.close_stdin(first.process).await;
    let whole = room.finish(first).await;
    assert_eq!(whole.text, format!("{} 8\n", size * 8));
}

/// A reader that takes its time gets everything, and the writer is told when all was taken.
pub(crate) async fn a_slow_reader_gets_everything(room: &Room) {
    let reader = "import os, time, hashlib\nh = hashlib.sha256(); n = 0\n\
        while True:\n\
        \x20 d = os.read(0, 40000)\n\
        \x20 if not d: break\n\
        \x20 h.update(d); n += len(d); time.sleep(0.01)\n\
        print(n)";
    let first = room.start(Run::python(reader).piped().window(0)).await;
    let update = room.write(first.process, vec![7; 2_000_000], Wait::ms(20_000).until(Until::Bytes(0))).await;
    assert_eq!(update.written.map(|written| written.accepted), Some(2_000_000));
    room.close_stdin(first.process).await;
    let whole = room.finish(first).await;
    assert_eq!((whole.text.as_str(), whole.end), ("2000000\n", Some(End::Exited { code: 0 })));
}

/// The text without its escape sequences and what was overwritten before a carriage return.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((head, tail)) = rest.split_once('\u{1b}') {
        text.push_str(head);
        let end = tail.find(|c: char| c.is_ascii_alphabetic()).map_or(tail.len(), |at| at + 1);
        rest = &tail[end..];
    }
    text.push_str(rest);
    text.rsplit('\r').next().unwrap_or_default().to_owned()
}
