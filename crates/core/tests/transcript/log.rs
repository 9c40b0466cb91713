//! The transcript against a model that keeps every byte: whatever is pushed, whatever the limits, offsets add up and what is lost
//! is known exactly.

use crate::support::{FullDisk, Model, index_of, limits, output};
use crannog_core::log::{Archive, Chunk, Limits, MemoryArchive, NoArchive, OutputLog};
use crannog_core::process::Stream;
use crannog_core::utf8::Measured;
use proptest::prelude::*;

const STREAMS: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

/// Reads from `from` to the end in reads of `bytes_max` and compares with the model.
fn check_read<A: Archive>(log: &OutputLog<A>, model: &Model, from: u64, bytes_max: usize) {
    let gap = log.gap();
    let mut chunk = Chunk::default();
    let mut at = from;
    while at < log.total() {
        log.read(at, bytes_max, &mut chunk).unwrap();
        let expected_start = if gap.contains(&at) { gap.end } else { at };
        assert_eq!((chunk.offset(), chunk.skipped()), (expected_start, expected_start - at));
        assert!(chunk.bytes().len() <= bytes_max && !chunk.bytes().is_empty());
        assert_eq!(chunk.bytes(), model.raw(chunk.offset()..chunk.end()));
        let streams: Vec<Stream> = chunk.pieces().flat_map(|(stream, piece)| vec![stream; piece.len()]).collect();
        let range = index_of(chunk.offset())..index_of(chunk.end());
        assert_eq!(streams, model.bytes[range].iter().map(|(stream, _)| *stream).collect::<Vec<_>>());
        at = chunk.end();
    }
    log.read(at, bytes_max, &mut chunk).unwrap();
    assert_eq!((chunk.offset(), chunk.skipped(), chunk.bytes()), (log.total(), 0, &[][..]));
    assert!(log.read(log.total() + 1, bytes_max, &mut chunk).is_err());
}

fn check_read_stream<A: Archive>(log: &OutputLog<A>, model: &Model, stream: Stream, from: u64, bytes_max: usize) {
    let gap = log.gap();
    let (mut at, mut skipped, mut bytes) = (from, 0, Vec::new());
    while at < log.total() {
        let before = bytes.len();
        let part = log.read_stream(stream, at, bytes_max, &mut bytes).unwrap();
        assert!(bytes.len() - before <= bytes_max && part.next > at);
        assert!(part.skipped == 0 || at + part.skipped == gap.end);
        skipped += part.skipped;
        at = part.next;
    }
    assert_eq!(at, log.total());
    let (lost_start, lost_end) = (gap.start.max(from), gap.end.max(from));
    assert_eq!(skipped, lost_end - lost_start);
    let kept = [model.raw_of(stream, from..lost_start), model.raw_of(stream, lost_end..log.total())].concat();
    assert_eq!(bytes, kept);
}

fn size(text: &Measured) -> (u64, u64) {
    (text.bytes, text.lines.lines())
}

fn check_lost<A: Archive>(log: &OutputLog<A>, model: &Model) {
    let gap = log.gap();
    let all = log.lost(None);
    assert_eq!((all.bytes, size(&all.text)), (gap.end - gap.start, size(&Measured::of(&model.text(gap.clone())))));
    for stream in STREAMS {
        let lost = log.lost(Some(stream));
        assert_eq!(lost.bytes, model.raw_of(stream, gap.clone()).len() as u64);
        let range = index_of(gap.start)..index_of(gap.end);
        let text: String = range.filter(|index| model.bytes[*index].0 == stream).map(|index| model.texts[index].as_str()).collect();
        assert_eq!(size(&lost.text), size(&Measured::of(&text)));
        assert_eq!(log.stream_total(stream), model.raw_of(stream, 0..model.total()).len() as u64);
    }
}

fn runs_in(model: &Model, range: std::ops::Range<u64>) -> usize {
    let kept = &model.bytes[index_of(range.start)..index_of(range.end)];
    kept.chunk_by(|left, right| left.0 == right.0).count()
}

proptest! {
    #[test]
    fn a_transcript_is_its_model_but_for_a_measured_gap(
        output in output(40), limits in limits(), room in prop_oneof![0..40_usize, Just(10_000)], bytes_max in 1..9_usize,
    ) {
        let mut log = OutputLog::new(limits, FullDisk { room, ..FullDisk::default() });
        let mut model = Model::default();
        for (stream, bytes) in output {
            log.push(stream, &bytes);
            model.push(stream, &bytes);
            let (total, gap) = (log.total(), log.gap());
            prop_assert_eq!(total, model.total());
            prop_assert!(total - gap.end <= limits.tail_bytes as u64);
            prop_assert!(gap.start <= limits.head_bytes as u64 + limits.archive_bytes.min(room as u64));
            prop_assert!(runs_in(&model, 0..gap.start) <= limits.runs_max && runs_in(&model, gap.end..total) <= limits.runs_max);
            check_lost(&log, &model);
        }
        for from in 0..=log.total() {
            check_read(&log, &model, from, bytes_max);
            for stream in STREAMS {
                check_read_stream(&log, &model, stream, from, bytes_max);
            }
        }
    }

    #[test]
    fn nothing_is_lost_before_the_limits_are_reached(output in output(40), head_bytes in 0..50_usize, tail_bytes in 1..50_usize, archive_bytes in 0..50_u64) {
        let limits = Limits { head_bytes, tail_bytes, archive_bytes, runs_max: 1_000 };
        let mut log = OutputLog::new(limits, MemoryArchive::default());
        for (stream, bytes) in output {
            log.push(stream, &bytes);
            let room = head_bytes as u64 + archive_bytes + tail_bytes as u64;
            prop_assert_eq!(log.lost(None).bytes, log.total().saturating_sub(room));
        }
    }

    #[test]
    fn what_the_archive_does_not_give_back_is_passed_over(output in output(40), limits in limits(), from in any::<prop::sample::Index>()) {
        let mut log = OutputLog::new(limits, FullDisk { room: 1_000, is_unreadable: true, ..FullDisk::default() });
        let mut model = Model::default();
        for (stream, bytes) in output {
            log.push(stream, &bytes);
            model.push(stream, &bytes);
        }
        let mut at = from.index(index_of(log.total()) + 1) as u64;
        let mut chunk = Chunk::default();
        while at < log.total() {
            log.read(at, 5, &mut chunk).unwrap();
            prop_assert_eq!(chunk.bytes(), model.raw(chunk.offset()..chunk.end()));
            prop_assert_eq!(at + chunk.skipped(), chunk.offset());
            prop_assert!(chunk.skipped() == 0 || chunk.offset() == log.gap().end);
            prop_assert!(chunk.end() > at);
            at = chunk.end();
        }
        for stream in STREAMS {
            let (mut at, mut bytes) = (0, Vec::new());
            while at < log.total() {
                let before = bytes.len();
                let part = log.read_stream(stream, at, 5, &mut bytes).unwrap();
                let read = model.raw_of(stream, at + part.skipped..part.next);
                prop_assert_eq!(&bytes[before..], read);
                prop_assert!(part.skipped == 0 || at + part.skipped == log.gap().end);
                prop_assert!(part.next > at);
                at = part.next;
            }
        }
    }
}

#[test]
fn one_run_too_many_costs_the_oldest_run() {
    let limits = Limits { head_bytes: 0, tail_bytes: 100, archive_bytes: 0, runs_max: 2 };
    let mut log = OutputLog::new(limits, NoArchive);
    log.push(Stream::Stdout, b"first");
    log.push(Stream::Stderr, b"second");
    assert_eq!(log.gap(), 0..0);
    log.push(Stream::Stdout, b"third");
    assert_eq!(log.gap(), 0..5);
    assert_eq!(log.lost(Some(Stream::Stdout)).bytes, 5);
    assert_eq!(log.lost(Some(Stream::Stderr)).bytes, 0);
}

#[test]
fn a_flood_leaves_head_archive_and_tail() {
    let limits = Limits { head_bytes: 1_000, tail_bytes: 5_000, archive_bytes: 100_000, runs_max: 16 };
    let mut log = OutputLog::new(limits, MemoryArchive::default());
    let line = b"0123456789abcdef0123456789abcde\n";
    for _ in 0..100_000 {
        log.push(Stream::Stdout, line);
    }
    assert_eq!(log.gap(), 101_000..3_195_000);
    let lost = log.lost(None);
    assert_eq!((lost.bytes, lost.text.bytes), (3_094_000, 3_094_000));
    // The gap begins and ends inside a line; both broken lines have a piece in it.
    assert_eq!(lost.text.lines.lines(), 3_195_000_u64.div_ceil(32) - 101_000 / 32);
}

#[test]
fn an_idle_transcript_is_small() {
    assert!(size_of::<OutputLog<MemoryArchive>>() < 512);
}
