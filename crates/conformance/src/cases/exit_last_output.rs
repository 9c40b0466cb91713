//! What was printed before the end is in the answer that reports the end, and nothing comes after it.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::need;
use crate::outside;
use crate::place::Need;
use crate::room::Room;
use crate::run::{Run, Wait};
use crate::whole::Whole;

/// LAST-02.
pub(crate) async fn a_long_listing_keeps_its_last_line(room: &Room) {
    let whole = room.whole(Run::words("seq 1 200000").terminal().window(30_000).budget(1_000_000)).await;
    assert_eq!(whole.raw.len(), 1_488_895);
    assert!(whole.text.ends_with("\r\n200000\r\n") && whole.text.starts_with("1\r\n2\r\n"));
    assert_eq!((whole.omitted_bytes, whole.exit_code()), (0, Some(0)));

    let cut = room.whole(Run::words("seq 1 200000").terminal().window(30_000).budget(200)).await;
    assert!(cut.text.ends_with("200000\r\n"), "{:?}", cut.text);
    assert!(cut.omitted_bytes > 1_400_000 && cut.lost_bytes == 0);
}

/// LAST-04.
pub(crate) async fn a_quick_failure_keeps_its_error_text(room: &Room) {
    for _ in 0..25 {
        let runs = (0..4).map(|_| room.start(Run::python("import no_such_module_zz").window(10_000)));
        for update in join_all(runs).await {
            assert_eq!(update.end, Some(crannog::End::Exited { code: 1 }), "{update:?}");
            assert!(update.text.contains("ModuleNotFoundError"), "{:?}", update.text);
        }
    }
}

/// LAST-06. The master's EIO is an ordinary end.
pub(crate) async fn a_thousand_terminals_each_deliver_their_line(room: &Room) {
    for _ in 0..100 {
        let runs = (0..10).map(|_| room.start(Run::words("/bin/echo marker-xyz").terminal().window(10_000)));
        for update in join_all(runs).await {
            assert_eq!(update.raw, b"marker-xyz\r\n");
            assert_eq!(update.end, Some(crannog::End::Exited { code: 0 }));
        }
    }
}

/// LAST-07.
pub(crate) async fn nothing_comes_after_the_end(room: &Room) {
    let expected: String = (1..=20_000).map(|line| format!("{line}\r\n")).collect();
    for round in 0..50 {
        let first = room.start(Run::words("seq 1 20000").terminal().window(50)).await;
        let mut whole = room.finish_in_windows(first, 50).await;
        assert!(whole.text == expected, "round {round}: {} bytes of {}", whole.text.len(), expected.len());
        let extra = room.collect(whole.process, Wait::ms(50).from(whole.cursor)).await;
        assert_eq!(extra.raw, b"", "bytes after the end");
        whole.add(&extra);
        assert_eq!(whole.exit_code(), Some(0));
    }
}

/// LAST-09.
pub(crate) async fn an_exit_at_once_is_never_missed(room: &Room) {
    let worker = |worker: usize| async move {
        for round in 0..50 {
            let begin = Instant::now();
            let update = room.start(Run::words("true").terminal_if((worker + round).is_multiple_of(2)).window(5_000)).await;
            assert_eq!(update.end, Some(crannog::End::Exited { code: 0 }), "worker {worker} round {round}");
            assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
        }
    };
    join_all((0..20).map(worker)).await;
    let live: Vec<_> = room.list().await.into_iter().filter(|info| info.end.is_none()).collect();
    assert!(live.is_empty(), "entries left: {live:?}");
}

/// LAST-11.
pub(crate) async fn the_first_command_of_a_sandbox_is_like_any_other(room: &Room) {
    for round in 0..20 {
        let fresh = room.neighbour(room.place().options()).await;
        let whole = fresh.whole(Run::bash("echo first-$RANDOM").terminal().window(3_000)).await;
        assert!(whole.text.starts_with("first-"), "round {round}: {:?}", whole.text);
        assert_eq!(fresh.close().await, Vec::<String>::new());
    }
}

/// Both streams end with a large write at the very end; neither loses its tail.
pub(crate) async fn the_last_write_of_both_streams_is_complete(room: &Room) {
    let text = "import os\nos.write(2, b'e' * 20000 + b'END2')\nos.write(1, b'o' * 20000 + b'END1')\nos._exit(9)\n";
    for _ in 0..20 {
        let output = room.exec(Run::python(text)).await;
        assert_eq!((output.stdout.len(), output.stderr.len(), output.exit_code()), (20_004, 20_004, Some(9)));
        assert!(output.stdout.ends_with(b"END1") && output.stderr.ends_with(b"END2"));
    }
}

/// The guest is held up while a process prints as much as the kernel holds for it and ends, so it sees the end and the bytes at the same
/// time.
pub(crate) async fn an_end_seen_together_with_its_bytes_comes_after_them(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    for round in 0..6 {
        let terminal = round % 2 == 0;
        let (text, last) =
            if terminal { ("sleep 0.3; seq 1 2000; exit 5", "2000") } else { ("sleep 0.3; seq 1 11000; seq 1 11000 >&2; exit 5", "11000") };
        let first = room.start(Run::bash(text).terminal_if(terminal).window(0)).await;
        outside::stopped(guest, Duration::from_millis(600)).await;
        let mut whole = Whole::of(&room.collect(first.process, Wait::ms(0).from(0)).await);
        while whole.end.is_none() {
            whole.add(&room.collect(first.process, Wait::ms(0).from(whole.cursor)).await);
        }
        let lines = whole.lines().into_iter().filter(|line| *line == last).count();
        assert_eq!((lines, whole.exit_code()), (if terminal { 1 } else { 2 }, Some(5)), "{:?}", whole.lines().last());
    }
}

/// Someone who asks for the end by other means sees the whole output, too.
pub(crate) async fn an_end_that_is_listed_has_its_output_already(room: &Room) {
    for _ in 0..20 {
        let first = room.start(Run::words("seq 1 5000").window(0)).await;
        let ended = room.sandbox().wait_any(&[first.process], Duration::from_secs(10)).await.unwrap();
        assert_eq!(ended.len(), 1);
        let all = room.collect(first.process, Wait::ms(0).from(0)).await;
        assert_eq!(all.end, Some(crannog::End::Exited { code: 0 }), "ended, but not with a collect of no window");
        assert!(all.text.ends_with("\n5000\n"), "{:?}", all.text.get(all.text.len().saturating_sub(20)..));
    }
}
