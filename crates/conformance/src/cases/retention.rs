//! What is kept of a long transcript, and the exact size of what is not.

use std::time::Duration;

use crannog::{ErrorCode, FollowEvent, Stream};
use sha2::{Digest as _, Sha256};

use crate::outside;
use crate::room::Room;
use crate::run::{Run, Wait};
use crate::whole::shown;

const KEPT_IN_MEMORY: u64 = (crannog::limits::TRANSCRIPT_HEAD_BYTES + crannog::limits::TRANSCRIPT_TAIL_BYTES) as u64;

/// Lines of 16 bytes, so that each offset tells which line must be there.
fn line(index: u64) -> String {
    format!("{index:015}\n")
}

fn numbered(count: u64) -> Run {
    Run::python(format!("import sys\nfor i in range({count}): sys.stdout.write('%015d\\n' % i)"))
}

/// More than is kept: beginning and end are there, the gap is stated in exact bytes, everywhere it can be seen.
pub(crate) async fn the_gap_is_stated_in_exact_bytes(room: &Room) {
    for spill in [0, 100_000, 2 << 20] {
        let fresh = room.neighbour(room.place().options().spill_bytes(spill)).await;
        let total: u64 = 16 * 300_000;
        let update = fresh.start(numbered(total / 16).window(30_000).budget(1_000)).await;
        assert!(update.end.is_some() && update.cursor == total);
        let info = fresh.info(update.process).await;
        assert_eq!(info.output_bytes, total);
        let lost = info.lost_bytes;
        assert!(lost <= total - KEPT_IN_MEMORY.min(total) && lost + KEPT_IN_MEMORY + spill + 65_536 >= total, "spill {spill}: {lost} lost");

        let mut parts = Vec::new();
        let (mut from, mut gaps) = (0, Vec::new());
        while from < total {
            let part = fresh.sandbox().read(update.process, from, 1 << 20, None).await.unwrap();
            if part.lost_bytes > 0 {
                gaps.push(part.lost_bytes);
            }
            assert!(part.next > from);
            from = part.next;
            parts.extend(part.parts);
        }
        assert_eq!(gaps, [lost], "one gap, as large as listed");
        let kept: u64 = parts.iter().map(|part| part.bytes.len() as u64).sum();
        assert_eq!(kept + lost, total);
        for part in &parts {
            check_lines(part.offset, &part.bytes);
        }
        check_cuts(&fresh, &update, total, lost).await;
    }
}

/// Answers whose window holds the gap count it as lost, whatever their budget.
async fn check_cuts(room: &Room, update: &crannog::Update, total: u64, lost: u64) {
    for budget in [None, Some(500), Some(300_000)] {
        let mut wait = Wait::ms(0).from(0);
        wait.0.budget = budget;
        let all = room.collect(update.process, wait).await;
        assert_eq!((all.lost_bytes, all.cursor), (lost, total), "budget {budget:?}");
        assert!(all.omitted_bytes >= lost);
        let text = shown(&all.text);
        assert!(text.starts_with(&line(0)) && text.ends_with(&line(total / 16 - 1)), "budget {budget:?}");
        assert_eq!(all.original_token_count.unwrap_or_else(|| total.div_ceil(4)), total.div_ceil(4), "lost bytes were measured");
    }
    let end = room.collect(update.process, Wait::ms(0).from(total - 160)).await;
    assert_eq!((end.text.len(), end.lost_bytes), (160, 0));
}

/// Where a part says it begins, the line that must be there is.
fn check_lines(offset: u64, bytes: &[u8]) {
    let skip = usize::try_from((16 - offset % 16) % 16).unwrap();
    for (index, chunk) in (offset.div_ceil(16)..).zip(bytes.get(skip..).unwrap_or_default().chunks_exact(16)) {
        assert_eq!(chunk, line(index).as_bytes(), "at {}", index * 16);
    }
}

/// A cursor may be any offset within what was printed, also in the middle of a character; beyond it is a mistake.
pub(crate) async fn any_offset_is_a_cursor(room: &Room) {
    let whole = room.whole(Run::bash(r"printf 'a\344\270\255\360\237\230\200z'")).await;
    assert_eq!(whole.raw.len(), 9);
    for from in 0..=9 {
        let update = room.collect(whole.process, Wait::ms(0).from(from)).await;
        assert_eq!(update.cursor, 9, "from {from}");
        assert!(update.text.ends_with('z') || from == 9, "from {from}: {:?}", update.text);
    }
    let error = room.try_collect(whole.process, Wait::ms(0).from(10)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    let error = room.sandbox().read(whole.process, 10, 10, None).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}

/// A slow reader of a run slows the process instead of losing its output: 80 MiB, more than is kept, compared by hash.
pub(crate) async fn a_run_is_slowed_to_its_reader_and_loses_nothing(room: &Room) {
    const CHUNKS: u32 = 1_280;
    let text = format!("import os\nfor i in range({CHUNKS}):\n  d = (b'%08d' % i) * 8192\n  while d: d = d[os.write(1, d):]");
    let mut run = room.sandbox().run(Run::python(text).into_command()).await.unwrap();
    let mut seen = Sha256::new();
    let (mut length, mut ended) = (0_u64, None);
    while let Some(event) = run.next().await.unwrap() {
        match event {
            FollowEvent::Started(_) => tokio::time::sleep(Duration::from_secs(1)).await,
            FollowEvent::Output(part) => {
                assert_eq!((part.offset, part.stream), (length, Stream::Stdout));
                length += part.bytes.len() as u64;
                seen.update(&part.bytes);
            }
            FollowEvent::Lost(bytes) => panic!("{bytes} bytes were lost"),
            FollowEvent::Ended(end) => ended = Some(end),
        }
    }
    let mut expected = Sha256::new();
    (0..CHUNKS).for_each(|index| expected.update(format!("{index:08}").repeat(8_192)));
    assert_eq!(length, u64::from(CHUNKS) * 65_536);
    assert!(seen.finalize() == expected.finalize(), "other bytes");
    assert_eq!(ended.map(|ended| ended.end), Some(crannog::End::Exited { code: 0 }));
}

/// Exec hands over head and tail of each stream with the exact number of bytes between them.
pub(crate) async fn exec_counts_what_it_leaves_out(room: &Room) {
    let text = "import sys\nfor i in range(100000): sys.stdout.write('%015d\\n' % i)\nsys.stderr.write('e' * 5000)";
    let output = room.sandbox().exec_with(Run::python(text).into_command(), 10_000).await.unwrap();
    assert_eq!(output.stdout.len() as u64 + output.stdout_omitted_bytes, 1_600_000);
    assert!(output.stdout.len() <= 10_000 && output.stdout.starts_with(line(0).as_bytes()));
    assert!(output.stdout.ends_with(line(99_999).as_bytes()));
    assert_eq!((output.stderr.len(), output.stderr_omitted_bytes), (5_000, 0));
}

/// A follower that comes late, or twice, gets everything from where it asks.
pub(crate) async fn a_follower_starts_anywhere(room: &Room) {
    let first = room.start(numbered(5_000).window(0)).await;
    for from in [0, 16 * 100, 79_999] {
        let mut follow = room.sandbox().follow(first.process, from, false).await.unwrap();
        let mut next = from;
        while let Some(event) = follow.next().await.unwrap() {
            if let FollowEvent::Output(part) = event {
                assert_eq!(part.offset, next);
                check_lines(part.offset, &part.bytes);
                next += part.bytes.len() as u64;
            }
        }
        assert_eq!(next, 80_000);
    }
    assert_eq!(outside::transcript(room, first.process, Some(Stream::Stderr)).await, b"");
}

/// Ended processes stay readable by id for a while, the newest at least.
pub(crate) async fn ended_transcripts_stay_readable(room: &Room) {
    let oldest = room.whole(Run::words("true")).await.process;
    let first = room.whole(Run::bash("echo kept; exit 3")).await;
    for _ in 0..20 {
        futures_util::future::join_all((0..10).map(|_| room.start(Run::words("true")))).await;
    }
    let again = room.collect(first.process, Wait::ms(0).from(0)).await;
    assert_eq!((again.text.as_str(), again.end), ("kept\n", first.end));
    for _ in 0..8 {
        futures_util::future::join_all((0..10).map(|_| room.start(Run::words("true")))).await;
    }
    assert!(room.list().await.len() <= crannog::limits::PROCESSES_ENDED_KEPT + 1);
    let error = room.try_collect(oldest, Wait::ms(0).from(0)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::PtySessionNotFound, "the oldest goes first");
}
