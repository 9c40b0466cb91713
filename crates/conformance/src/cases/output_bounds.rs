//! Output of any size: what is shown is bounded, what is left out is counted, what is kept is exact.

use std::time::{Duration, Instant};

use crannog::{End, Until};

use crate::need;
use crate::place::Need;
use crate::processes;
use crate::room::Room;
use crate::run::{Run, Wait};
use crate::whole::shown;

/// OUT-03.
pub(crate) async fn an_endless_flood_that_nobody_collects_stays_small(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    let before = processes::resident_bytes(guest);
    let first = room.start(Run::words("yes").terminal().window(300).budget(200)).await;
    assert!(first.text.len() <= 200 * 4 + 64, "{}", first.text.len());
    tokio::time::sleep(Duration::from_secs(10)).await;
    let begin = Instant::now();
    let later = room.collect(first.process, Wait::ms(300).budget(200)).await;
    assert!(begin.elapsed() <= Duration::from_millis(1_500), "{:?}", begin.elapsed());
    assert!(later.text.len() <= 200 * 4 + 64 && later.end.is_none());
    assert_eq!(later.start, first.cursor);
    let begin = Instant::now();
    assert!(room.kill(first.process).await.complete);
    assert!(begin.elapsed() < Duration::from_secs(5));
    let growth = processes::resident_bytes(guest).saturating_sub(before);
    assert!(growth < 64 << 20, "the guest grew by {growth} bytes");
}

/// OUT-04. The estimate is one token for four bytes, rounded up.
pub(crate) async fn a_cut_keeps_both_ends_and_counts_the_rest(room: &Room) {
    let update = room.start(Run::words("seq 1 100000").window(10_000).budget(500)).await;
    let text = shown(&update.text);
    assert!(text.starts_with("1\n2\n") && text.ends_with("100000\n"), "{text:?}");
    assert_eq!(text.matches(" truncated\u{2026}").count(), 1, "{:?}", update.text);
    assert_eq!(update.original_token_count, Some(588_895_u64.div_ceil(4)));
    assert!(update.text.len() <= 500 * 4 + 64, "{}", update.text.len());
    let (head, tail) = text.split_once('\u{2026}').unwrap();
    let tail = tail.split_once('\u{2026}').unwrap().1;
    let shown = (head.len() + tail.len()) as u64;
    assert!(
        update.omitted_bytes >= 588_895 - shown - 2 && update.omitted_bytes < 588_895,
        "{} left out, {shown} shown",
        update.omitted_bytes
    );
    assert_eq!((update.lost_bytes, update.cursor), (0, 588_895));
    let all = room.finish(room.collect(update.process, Wait::ms(0).from(0)).await).await;
    assert_eq!(all.raw.len(), 588_895, "what was left out can still be fetched");
}

/// OUT-07.
pub(crate) async fn what_one_answer_left_out_does_not_come_with_the_next(room: &Room) {
    let first = room.start(Run::bash("read; seq 1 50000; read; echo TAIL").piped().window(0).budget(100)).await;
    let second = room.write(first.process, "\n", Wait::ms(5_000).until(Until::Text("\n50000\n".to_owned())).budget(100)).await;
    assert!(second.text.len() <= 100 * 4 + 64 && second.text.matches(" truncated\u{2026}").count() == 1, "{:?}", second.text);
    assert!(shown(&second.text).starts_with("1\n2\n") && second.text.ends_with("50000\n"), "{:?}", second.text);
    let third = room.write(first.process, "\n", Wait::ms(5_000).budget(100)).await;
    assert_eq!((third.text.as_str(), third.end), ("TAIL\n", Some(End::Exited { code: 0 })));
    assert_eq!(third.omitted_bytes, 0);
}

/// OUT-10.
pub(crate) async fn exec_keeps_streams_apart_and_start_merges_them_in_order(room: &Room) {
    let text = "for i in 1 2 3; do echo o$i; echo e$i >&2; done";
    let output = room.exec(Run::bash(text)).await;
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"o1\no2\no3\n"[..], &b"e1\ne2\ne3\n"[..]));
    let whole = room.whole(Run::bash(text).terminal()).await;
    assert_eq!(whole.lines(), ["o1", "e1", "o2", "e2", "o3", "e3"]);
}

/// With pipes the order of two streams is the order of arrival: writes that are apart in time are in order.
pub(crate) async fn pipes_are_merged_in_arrival_order(room: &Room) {
    let whole = room.whole(Run::bash("for i in 1 2 3; do echo o$i; sleep 0.1; echo e$i >&2; sleep 0.1; done")).await;
    assert_eq!(whole.lines(), ["o1", "e1", "o2", "e2", "o3", "e3"]);
}

/// OUT-11.
pub(crate) async fn a_million_tiny_writes_cost_little(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    let before = processes::processor_time(guest);
    let text = "import os; [os.write(1, b'.') for _ in range(1000000)]";
    let output = room.exec(Run::argv(["python3", "-u", "-c", text]).timeout_ms(60_000)).await;
    assert_eq!(output.exit_code(), Some(0));
    assert_eq!(output.stdout.len() as u64 + output.stdout_omitted_bytes, 1_000_000);
    assert!(output.stdout.iter().all(|byte| *byte == b'.') && output.stdout_omitted_bytes == 0);
    let used = processes::processor_time(guest).saturating_sub(before);
    assert!(used < Duration::from_secs(10), "the guest used {used:?}");
}

/// Budgets from nothing to plenty: the answer stays within, and its counts add up.
pub(crate) async fn every_budget_is_kept(room: &Room) {
    let first = room.whole(Run::bash(r"for i in $(seq 3000); do printf '%d\344\270\255\n' $i; done")).await;
    let total = first.raw.len() as u64;
    for budget in [0, 1, 2, 3, 7, 10, 100, 1_000, total / 4 - 1, total / 4 + 1, 1_000_000] {
        let update = room.collect(first.process, Wait::ms(0).from(0).budget(budget)).await;
        let fits = total <= budget * 4;
        assert_eq!(update.omitted_bytes == 0, fits, "budget {budget}");
        assert_eq!(update.original_token_count.is_none(), fits, "budget {budget}");
        assert!(!update.text.contains('\u{FFFD}'), "budget {budget} cuts a character");
        assert!(update.text.len() as u64 <= if fits { total } else { budget * 4 + 64 }, "budget {budget}: {}", update.text.len());
        assert_eq!(update.cursor, total, "budget {budget}");
    }
}

/// One line without an end, longer than any buffer.
pub(crate) async fn one_endless_line_is_cut_like_any_text(room: &Room) {
    let whole = room.whole(Run::bash("head -c 3000000 /dev/zero | tr '\\0' x; printf END").budget(50)).await;
    assert!(shown(&whole.text).starts_with("xxx") && whole.text.ends_with("END") && whole.text.len() < 300, "{:?}", whole.text);
    assert_eq!(whole.cursor, 3_000_003);
}
