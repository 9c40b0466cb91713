//! Asking twice does nothing twice.

use std::time::Duration;

use crannog::{End, Input, ProcessId};
use futures_util::future::join_all;

use crate::room::Room;
use crate::run::{Run, Wait};

/// A start with the same request id answers for the first one.
pub(crate) async fn a_start_is_repeated_by_its_request_id(room: &Room) {
    let run = || Run::bash("echo once >> log; echo out; sleep 30").request_id("the-start").until_text("out");
    let starts = join_all((0..8).map(|_| room.start(run()))).await;
    let ids: Vec<ProcessId> = starts.iter().map(|update| update.process).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert!(starts.iter().all(|update| update.text == "out\n"), "each sees the beginning: {starts:?}");
    assert_eq!(room.bash("cat log").await, "once");
    room.kill(ids[0]).await;
    let late = room.start(run()).await;
    assert_eq!(late.process, ids[0], "also after the end");
    assert!(late.end.is_some());
    let other = room.start(run().request_id("another")).await;
    assert_ne!(other.process, ids[0]);
}

/// A write with the same id is not written again, and answers with what the first one did.
pub(crate) async fn a_write_is_repeated_by_its_id(room: &Room) {
    let cat = room.start(Run::words("cat").piped().window(0)).await;
    let input = || Input::new("line\n").write_id("w1");
    let written = join_all((0..8).map(|_| room.sandbox().write(cat.process, input()))).await;
    let repeated = written.iter().filter(|written| written.as_ref().unwrap().repeated).count();
    assert_eq!(repeated, 7);
    assert!(written.iter().all(|written| written.as_ref().unwrap().accepted == 5));
    room.sandbox().write(cat.process, Input::new("other\n").write_id("w2")).await.unwrap();
    room.close_stdin(cat.process).await;
    let again = room.sandbox().write(cat.process, input()).await.unwrap();
    assert!(again.repeated && again.accepted == 5, "a repeat is answered even when the input is closed");
    let whole = room.finish(cat).await;
    assert_eq!(whole.text, "line\nother\n");
    let after = room.sandbox().write(whole.process, input()).await.unwrap();
    assert!(after.repeated, "and after the end");
}

/// A caller that gives up on its write may ask what became of it.
pub(crate) async fn a_write_that_was_given_up_on_is_written_once(room: &Room) {
    let reader =
        "import os, time; time.sleep(1)\nd = b''\nwhile True:\n  x = os.read(0, 99999)\n  if not x: break\n  d += x\nprint(len(d))";
    let first = room.start(Run::python(reader).piped().window(0)).await;
    let input = || Input::new(vec![b'x'; 300_000]).write_id("big").patience(Duration::from_secs(20));
    let dropped = tokio::time::timeout(Duration::from_millis(200), room.sandbox().write(first.process, input())).await;
    assert!(dropped.is_err(), "the reader was not ready");
    let written = room.sandbox().write(first.process, input()).await.unwrap();
    assert_eq!((written.accepted, written.repeated), (300_000, true));
    room.close_stdin(first.process).await;
    assert_eq!(room.finish(first).await.text, "300000\n");
}

/// Kill, close and collect may be repeated.
pub(crate) async fn endings_may_be_repeated(room: &Room) {
    let cat = room.start(Run::words("cat").piped().window(0)).await;
    room.close_stdin(cat.process).await;
    room.close_stdin(cat.process).await;
    let whole = room.finish(cat).await;
    for _ in 0..2 {
        let killed = room.kill(whole.process).await;
        assert_eq!((killed.end, killed.reached, killed.complete), (End::Exited { code: 0 }, 0, true));
    }
    let sleep = room.start(Run::words("sleep 50").window(0)).await;
    let kills = join_all((0..5).map(|_| room.kill(sleep.process))).await;
    assert!(kills.iter().all(|killed| killed.complete && killed.end == kills[0].end), "{kills:?}");
    assert!(room.close().await.is_empty());
}

/// A cursor is only a number: everybody has their own, and any may be asked again.
pub(crate) async fn any_number_of_readers_see_the_same(room: &Room) {
    let first = room.start(Run::bash("for i in $(seq 300); do echo $i; sleep 0.002; done").window(0)).await;
    let reader = |window_ms: u64| {
        let first = first.clone();
        async move {
            let mut update = room.collect(first.process, Wait::ms(0).from(0)).await;
            let mut whole = crate::whole::Whole::of(&update);
            while whole.end.is_none() {
                let twice = room.collect(whole.process, Wait::ms(0).from(update.start)).await;
                assert!(twice.raw.starts_with(&update.raw), "asking again gives the same bytes");
                update = room.collect(whole.process, Wait::ms(window_ms).from(whole.cursor)).await;
                whole.add(&update);
            }
            whole.text
        }
    };
    let expected: String = (1..=300).map(|line| format!("{line}\n")).collect();
    for text in join_all([1, 3, 10, 40, 200, 2_000].map(reader)).await {
        assert_eq!(text, expected);
    }
}
