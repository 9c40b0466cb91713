//! How many raw bytes stand behind a piece of shown text.
//!
//! In well-formed output they are as many. Replacement makes three bytes out of one to three, so where there was any, the bytes at
//! either end of the window are gone through a second time, as far as the text reaches: no more than the budget.

use std::ops::Range;

use super::{UNFINISHED_BYTES_MAX, decoders_at, slot};
use crate::log::{Archive, Chunk, OutputLog};
use crate::utf8::{Decoder, Measure};

const READ_BYTES: usize = 64 * 1024;

/// Bytes at the beginning of `window` that give its first `text_bytes` of text.
pub(super) fn raw_of_beginning<A: Archive>(log: &OutputLog<A>, window: Range<u64>, text_bytes: u64) -> u64 {
    walk(log, window, text_bytes).0
}

/// Bytes at the end of `window` that give its last `text_bytes` of text, those that wait to be finished included.
pub(super) fn raw_of_end<A: Archive>(log: &OutputLog<A>, window: Range<u64>, text_bytes: u64) -> u64 {
    if text_bytes == 0 {
        return 0;
    }
    let start = window.end.saturating_sub(text_bytes + UNFINISHED_BYTES_MAX as u64).max(window.start);
    let (_, mut total) = walk(log, start..window.end, u64::MAX);
    if log.is_closed() && window.end == log.total() {
        let mut ending = String::new();
        for mut decoder in decoders_at(log, window.end) {
            decoder.finish(&mut ending);
        }
        total += ending.len() as u64;
    }
    let (hidden, _) = walk(log, start..window.end, total.saturating_sub(text_bytes));
    window.end - start - hidden
}

/// Goes through `window` until `text_bytes` of text have come. Answers the bytes passed and their text.
fn walk<A: Archive>(log: &OutputLog<A>, window: Range<u64>, text_bytes: u64) -> (u64, u64) {
    let mut decoders = decoders_at(log, window.start);
    let mut chunk = Chunk::default();
    let (mut at, mut text) = (window.start, 0);
    while at < window.end && text < text_bytes {
        let count = usize::try_from(window.end - at).unwrap_or(READ_BYTES).min(READ_BYTES);
        if log.read(at, count, &mut chunk).is_err() || chunk.bytes().is_empty() || chunk.skipped() > 0 {
            break;
        }
        for (stream, piece) in chunk.pieces() {
            let decoder = &mut decoders[slot(stream)];
            let (new, pending) = measure(decoder, piece);
            if text + new >= text_bytes {
                let last = within(decoder, piece, text_bytes - text);
                return (at + last as u64 - window.start, text_bytes);
            }
            *decoder = pending;
            text += new;
            at += piece.len() as u64;
        }
    }
    (at - window.start, text)
}

/// Bytes of `piece` that give `text_bytes` of text, of which it gives at least as much.
fn within(decoder: &Decoder, piece: &[u8], text_bytes: u64) -> usize {
    let (mut low, mut high) = (0, piece.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if measure(decoder, &piece[..middle]).0 < text_bytes { low = middle + 1 } else { high = middle }
    }
    if low == 0 {
        return 0;
    }
    // The byte that decides a broken character can be one of its own, or begin one: then the text ends in front of it.
    let (text, after) = measure(decoder, &piece[..low]);
    low - usize::from(text > text_bytes || !after.pending().is_empty())
}

fn measure(decoder: &Decoder, piece: &[u8]) -> (u64, Decoder) {
    let mut measure = Measure::with_pending(decoder.pending());
    measure.push(piece);
    (measure.measured().bytes, Decoder::with_pending(measure.pending()))
}
