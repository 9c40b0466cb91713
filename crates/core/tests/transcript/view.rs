//! Views against a model that keeps every byte and the text it completed.

use crate::support::{Model, index_of, limits, output};
use crannog_core::log::{Limits, MemoryArchive, OutputLog};
use crannog_core::process::Stream;
use crannog_core::truncation::{HeadTail, Shown, truncate};
use crannog_core::utf8::Measured;
use crannog_core::view::{TextReader, View, ViewBuilder};
use proptest::prelude::*;

/// Every budget is far below the largest allowed, so none stands for all of these outputs.
const UNLIMITED_TOKENS: i64 = 1 << 20;

fn view(log: &mut OutputLog<MemoryArchive>, cursor: u64, budget: Option<u64>, bytes_max: usize) -> View {
    let mut builder = ViewBuilder::new(cursor, budget);
    loop {
        if let Some(view) = builder.step(log, bytes_max).unwrap() {
            return view;
        }
    }
}

fn window_text(model: &Model, view: &View, is_closed: bool) -> String {
    let mut text = model.text(view.start..view.cursor);
    if is_closed && view.start < view.cursor {
        text.push_str(&model.ending());
    }
    text
}

/// Bytes from `start` on that gave `text_bytes` of text, without a last one that belongs to the text behind.
fn raw_for(model: &Model, start: u64, text_bytes: u64) -> u64 {
    let (mut raw, mut text) = (0, 0);
    while text < text_bytes {
        let Some(new) = model.texts.get(index_of(start + raw)) else { break };
        text += new.len() as u64;
        let begins_a_character = new == "\u{FFFD}" && matches!(model.bytes[index_of(start + raw)].1, 0xC2..=0xF4);
        if text > text_bytes || (text == text_bytes && begins_a_character) {
            break;
        }
        raw += 1;
    }
    raw
}

/// What a view over a gap must be: the truncation of the whole, of which only the parts beside the gap can be shown.
fn expected_over_gap(
    model: &Model,
    log: &OutputLog<MemoryArchive>,
    view: &View,
    missed: &Measured,
    budget: Option<u64>,
) -> (String, Option<u64>, u64) {
    let gap = log.gap();
    let mut ends = HeadTail::new(budget.map_or(UNLIMITED_TOKENS, |tokens| i64::try_from(tokens).unwrap()));
    ends.push(&model.text(view.start..gap.start.clamp(view.start, view.cursor)));
    ends.skip(missed);
    let tail_start = gap.end.clamp(view.start, view.cursor);
    let ending = if log.is_closed() && view.start < view.cursor { model.ending() } else { String::new() };
    let tail = model.text(tail_start..view.cursor) + &ending;
    ends.push(&tail);
    let (truncated, Shown { head_bytes, tail_bytes }) = ends.finish_with_shown();
    let omitted = if truncated.original_tokens.is_none() {
        view.lost_bytes
    } else {
        let tail_start = if missed.bytes == 0 { view.start } else { tail_start };
        let tail = if missed.bytes == 0 { model.text(view.start..view.cursor) + &ending } else { tail };
        let shown_tail =
            if tail_bytes == 0 { 0 } else { view.cursor - tail_start - raw_for(model, tail_start, tail.len() as u64 - tail_bytes) };
        view.cursor - view.start - raw_for(model, view.start, head_bytes) - shown_tail
    };
    (truncated.text, truncated.original_tokens, omitted)
}

proptest! {
    #[test]
    fn joined_views_are_the_decoded_whole(output in output(30), collects in prop::collection::vec(any::<bool>(), 30), bytes_max in 1..40_usize) {
        let mut log = OutputLog::new(Limits { head_bytes: 40, tail_bytes: 30, archive_bytes: 10_000, runs_max: 1_000 }, MemoryArchive::default());
        let (mut model, mut cursor, mut joined) = (Model::default(), 0, String::new());
        for ((stream, bytes), is_collect) in output.into_iter().zip(collects) {
            log.push(stream, &bytes);
            model.push(stream, &bytes);
            if is_collect {
                let view = view(&mut log, cursor, None, bytes_max);
                prop_assert_eq!(&view.text, &window_text(&model, &view, false));
                prop_assert_eq!(&view.raw, &model.raw(view.start..view.cursor));
                prop_assert_eq!((view.start, view.omitted_bytes, view.lost_bytes, view.original_token_count), (cursor, 0, 0, None));
                prop_assert!(log.total() - view.cursor <= 7);
                cursor = view.cursor;
                joined += &view.text;
            }
        }
        log.close();
        for _ in 0..2 {
            let view = view(&mut log, cursor, None, bytes_max);
            cursor = view.cursor;
            joined += &view.text;
        }
        prop_assert_eq!(cursor, log.total());
        prop_assert_eq!(joined, model.text(0..model.total()) + &model.ending());
    }

    #[test]
    fn a_text_reader_gives_the_text_behind_its_cursor(output in output(30), cursor in any::<prop::sample::Index>(), bytes_max in 1..40_usize) {
        let printed: usize = output.iter().map(|(_, bytes)| bytes.len()).sum();
        let cursor = cursor.index(printed + 1) as u64;
        let mut log = OutputLog::new(Limits { head_bytes: 40, tail_bytes: 30, archive_bytes: 10_000, runs_max: 1_000 }, MemoryArchive::default());
        let (mut model, mut reader, mut text) = (Model::default(), TextReader::new(cursor), String::new());
        for (stream, bytes) in output {
            log.push(stream, &bytes);
            model.push(stream, &bytes);
            prop_assert_eq!(log.total() < cursor, reader.read(&log, bytes_max, &mut text).is_err());
        }
        log.close();
        while reader.read(&log, bytes_max, &mut text).unwrap() {}
        prop_assert_eq!(text, model.text(cursor..model.total()));
    }

    #[test]
    fn a_view_of_what_is_kept_is_the_truncated_text(
        output in output(30), cursor in any::<prop::sample::Index>(), budget in 0..80_u64, bytes_max in 1..300_usize, is_closed in any::<bool>(),
    ) {
        let mut log = OutputLog::new(Limits { head_bytes: 40, tail_bytes: 30, archive_bytes: 10_000, runs_max: 1_000 }, MemoryArchive::default());
        let mut model = Model::default();
        for (stream, bytes) in output {
            log.push(stream, &bytes);
            model.push(stream, &bytes);
        }
        if is_closed {
            log.close();
        }
        let cursor = cursor.index(index_of(log.total()) + 1) as u64;
        let view = view(&mut log, cursor, Some(budget), bytes_max);
        let whole = window_text(&model, &view, is_closed);
        let (text, count) = truncate(&whole, Some(i64::try_from(budget).unwrap()));
        prop_assert_eq!((view.text.as_str(), view.original_token_count), (&*text, count));
        prop_assert!(view.text.len() as u64 <= 4 * budget);
        let raw = if count.is_none() { model.raw(view.start..view.cursor) } else { view.text.clone().into_bytes() };
        prop_assert_eq!(view.raw, raw);
    }

    #[test]
    fn counts_are_exact_over_a_gap(
        output in output(60), limits in limits(), budget in prop::option::of(0..60_u64), bytes_max in 1..20_usize,
        cursor in any::<prop::sample::Index>(), is_closed in any::<bool>(), steps_apart in 1..4_usize,
    ) {
        let mut log = OutputLog::new(limits, MemoryArchive::default());
        let mut model = Model::default();
        let half = output.len() / 2;
        for (stream, bytes) in &output[..half] {
            log.push(*stream, bytes);
            model.push(*stream, bytes);
        }
        let cursor = cursor.index(index_of(log.total()) + 1) as u64;
        log.mark(cursor);
        let is_overtaken = log.gap().start < cursor && cursor < log.gap().end;
        // More output comes while the view is being built.
        let mut more = output[half..].iter();
        let mut builder = ViewBuilder::new(cursor, budget);
        let view = loop {
            for (stream, bytes) in more.by_ref().take(steps_apart) {
                log.push(*stream, bytes);
                model.push(*stream, bytes);
            }
            if is_closed && more.len() == 0 {
                log.close();
            }
            if let Some(view) = builder.step(&mut log, bytes_max).unwrap() {
                break view;
            }
        };
        let gap = log.gap();
        let lost = gap.start.max(cursor)..gap.end.max(cursor);
        prop_assert_eq!((view.start, view.lost_bytes), (cursor, lost.end - lost.start));
        let missed = match (lost.is_empty(), is_overtaken) {
            (true, _) => Measured::default(),
            (false, true) => Measured { bytes: lost.end - lost.start, ..Measured::default() },
            (false, false) => Measured::of(&model.text(lost)),
        };
        let expected = expected_over_gap(&model, &log, &view, &missed, budget);
        prop_assert!(view.omitted_bytes >= view.lost_bytes);
        // Lost bytes that completed no character leave no gap in the text; how much of it is shown is then a matter of view.
        let omitted_bytes = if missed.bytes == 0 && view.lost_bytes > 0 { expected.2 } else { view.omitted_bytes };
        prop_assert_eq!((view.text, view.original_token_count, omitted_bytes), expected);
        if let Some(tokens) = budget {
            prop_assert!(view.raw.len() as u64 <= 4 * tokens + 6);
        }
    }

    #[test]
    fn a_character_is_never_parted(texts in prop::collection::vec(prop::sample::select(vec!["é", "€", "😀", "x\n"]), 1..20), cuts in prop::collection::vec(any::<bool>(), 80)) {
        let whole = texts.concat();
        let mut log = OutputLog::new(Limits::default(), MemoryArchive::default());
        let mut cursor = 0;
        for (byte, is_collect) in whole.bytes().zip(cuts) {
            log.push(Stream::Stdout, &[byte]);
            if is_collect {
                let view = view(&mut log, cursor, None, 1_024);
                prop_assert_eq!(view.text.as_bytes(), &view.raw);
                prop_assert!(whole[index_of(cursor)..].starts_with(&view.text));
                cursor = view.cursor;
            }
        }
    }
}

#[test]
fn what_was_lost_stands_in_the_text() {
    let mut log = OutputLog::new(Limits { head_bytes: 10, tail_bytes: 10, archive_bytes: 0, runs_max: 8 }, MemoryArchive::default());
    log.push(Stream::Stdout, b"begin-----");
    log.push(Stream::Stdout, &[b'.'; 400]);
    log.push(Stream::Stdout, b"-------end");
    let all = view(&mut log, 0, None, 1_024);
    assert_eq!(all.text, "Total output lines: 1\n\nbegin-----…100 tokens truncated…-------end");
    assert_eq!((all.omitted_bytes, all.lost_bytes, all.original_token_count), (400, 400, Some(105)));
    let overtaken = view(&mut log, 210, None, 1_024);
    assert_eq!(overtaken.text, "Total output lines: 1\n\n…50 tokens truncated…-------end");
    assert_eq!((overtaken.omitted_bytes, overtaken.lost_bytes, overtaken.cursor), (200, 200, 420));
}

#[test]
fn a_cursor_past_the_end_is_refused() {
    let mut log = OutputLog::new(Limits::default(), MemoryArchive::default());
    log.push(Stream::Stdout, b"abc");
    assert!(ViewBuilder::new(4, None).step(&mut log, 10).is_err());
    assert_eq!(view(&mut log, 3, None, 10).text, "");
}
