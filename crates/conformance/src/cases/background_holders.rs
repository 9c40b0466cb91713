//! Children that outlive the command and hold its output open. The command's end is reported when the command ends.

use std::time::{Duration, Instant};

use crannog::End;

use crate::marker;
use crate::processes::{eventually, matching};
use crate::room::Room;
use crate::run::{Run, Wait};

const ENDED_OK: Option<End> = Some(End::Exited { code: 0 });

/// BG-02.
pub(crate) async fn a_background_child_of_a_terminal_does_not_delay_the_end(room: &Room) {
    let sleep = marker::sleep_seconds();
    let begin = Instant::now();
    let update = room.start(Run::bash(format!("sleep {sleep} & echo started")).terminal().window(10_000)).await;
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert_eq!((update.text.as_str(), update.end), ("started\r\n", ENDED_OK));
}

/// The same with pipes, where nothing hangs the child up: it lives on and is told of.
pub(crate) async fn a_background_child_with_pipes_does_not_delay_the_end(room: &Room) {
    let sleep = marker::sleep_seconds();
    let begin = Instant::now();
    let update = room.start(Run::bash(format!("sleep {sleep} & echo started")).window(10_000)).await;
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert_eq!((update.text.as_str(), update.end), ("started\n", ENDED_OK));
    assert!(update.descendants_alive && matching(&sleep).len() == 1, "the child lives and is reported");
    let killed = room.kill(update.process).await;
    assert!(killed.complete && matching(&sleep).is_empty(), "killing the ended process ends what it left: {killed:?}");
    assert_eq!(killed.end, End::Exited { code: 0 }, "the end stays what it was");
}

/// BG-03.
pub(crate) async fn a_detached_child_holding_the_terminal_does_not_delay_the_end(room: &Room) {
    let sleep = marker::sleep_seconds();
    let begin = Instant::now();
    let update = room.start(Run::bash(format!("setsid sleep {sleep} & echo hi; sleep 0.2")).terminal().window(20_000)).await;
    assert!(begin.elapsed() < Duration::from_millis(3_200), "{:?}", begin.elapsed());
    assert_eq!((update.text.as_str(), update.end), ("hi\r\n", ENDED_OK));
    assert!(update.descendants_alive);
    assert!(room.close().await.is_empty(), "closing ends the detached child and its reader");
    assert!(eventually(Duration::from_secs(5), || matching(&sleep).is_empty()).await);
}

/// BG-05.
pub(crate) async fn output_through_a_substitution_that_ends_later_is_complete(room: &Room) {
    for _ in 0..10 {
        let text = "exec > >(tee log.txt) 2>&1; echo hi-procsub";
        let begin = Instant::now();
        let output = room.exec(Run::bash(text).timeout_ms(20_000)).await;
        assert_eq!((output.stdout.as_slice(), output.exit_code()), (&b"hi-procsub\n"[..], Some(0)));
        assert!(begin.elapsed() < Duration::from_secs(5));
        assert_eq!(room.bash("cat log.txt; rm log.txt").await, "hi-procsub");
        let update = room.start(Run::bash(text).window(5_000)).await;
        assert_eq!((update.text.as_str(), update.end), ("hi-procsub\n", ENDED_OK));
    }
}

/// BG-08.
pub(crate) async fn a_child_that_writes_on_stays_in_its_own_transcript(room: &Room) {
    let text = "(for i in 1 2 3 4 5; do sleep 0.2; echo bg$i; done) & echo fg; exit 4";
    let begin = Instant::now();
    let first = room.start(Run::bash(text).window(5_000)).await;
    assert!(begin.elapsed() < Duration::from_secs(3));
    assert_eq!(first.end, Some(End::Exited { code: 4 }));
    let other = room.whole(Run::bash("echo other")).await;
    assert_eq!(other.raw, b"other\n");
    let full = "fg\nbg1\nbg2\nbg3\nbg4\nbg5\n";
    assert!(first.text.starts_with("fg\n") && full.starts_with(&first.text), "{:?}", first.text);
    let mut seen = first.text.clone();
    let mut cursor = first.cursor;
    let deadline = Instant::now() + Duration::from_secs(10);
    while seen != full {
        assert!(Instant::now() < deadline, "what the child printed later is kept, too: {seen:?}");
        let next = room.collect(first.process, Wait::ms(100).from(cursor)).await;
        assert_eq!(next.end, Some(End::Exited { code: 4 }));
        seen.push_str(&next.text);
        cursor = next.cursor;
        assert!(full.starts_with(&seen), "{seen:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// BG-10.
pub(crate) async fn a_fifo_pair_is_ended_by_the_timeout(room: &Room) {
    let word = marker::word();
    let text = format!("mkfifo p1; (while true; do echo child; sleep 1; done) > p1 & cat p1 # {word}");
    let begin = Instant::now();
    let output = room.exec(Run::bash(text).timeout_ms(2_000)).await;
    assert!((Duration::from_secs(2)..Duration::from_secs(4)).contains(&begin.elapsed()), "{:?}", begin.elapsed());
    assert_eq!(output.end, End::TimedOut { after_ms: 2_000 });
    assert!(output.stdout.starts_with(b"child\n"));
    assert!(eventually(Duration::from_secs(2), || matching(&word).is_empty()).await, "{:?}", matching(&word));
}

/// BG-12.
pub(crate) async fn burners_in_the_background_end_with_the_sandbox(room: &Room) {
    let word = marker::word();
    let begin = Instant::now();
    let output = room.exec(Run::bash(format!("for i in $(seq 20); do yes {word} >/dev/null & done; echo ok")).timeout_ms(10_000)).await;
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert_eq!((output.stdout.as_slice(), output.exit_code()), (&b"ok\n"[..], Some(0)));
    assert!(room.close().await.is_empty());
    assert!(eventually(Duration::from_secs(2), || matching(&word).is_empty()).await, "{:?}", matching(&word));
}

/// A child that lost every tie a Unix process can lose: session, parent, environment, directory, descriptors.
pub(crate) async fn a_child_without_any_tie_ends_with_the_sandbox(room: &Room) {
    let sleep = marker::sleep_seconds();
    let text = format!("(cd /; env -i /usr/bin/setsid -f /bin/sh -c '(sleep {sleep} &) &' </dev/null >/dev/null 2>&1)");
    assert_eq!(room.exec(Run::bash(text)).await.exit_code(), Some(0));
    assert!(eventually(Duration::from_secs(2), || matching(&format!("sleep {sleep}")).len() == 1).await);
    assert!(room.close().await.is_empty());
    assert!(eventually(Duration::from_secs(2), || matching(&sleep).is_empty()).await);
}

/// A stopped child that holds the output delays nothing, and goes with the sandbox.
pub(crate) async fn a_stopped_child_holding_the_output_delays_nothing(room: &Room) {
    let sleep = marker::sleep_seconds();
    let begin = Instant::now();
    let update = room.start(Run::bash(format!("bash -c 'kill -STOP $$; sleep {sleep}' & sleep 0.1; echo done")).window(10_000)).await;
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert_eq!((update.text.as_str(), update.end), ("done\n", ENDED_OK));
}
