//! What a reader is shown of a transcript from a cursor on: decoded, cut to a budget, with exact counts of what is not shown.
//!
//! Each stream is decoded on its own and the texts stand in arrival order. Joined over any sequence of views, each starting where
//! the one before ended, they are the decoded whole: an unfinished character is kept for the next view, and a decoder that starts
//! in the middle looks back for what was kept. Once a transcript is closed nothing is kept back.
//!
//! A view is built in steps, so that a long window does not hold up the other processes, in memory that depends on the budget alone.

mod coverage;
mod text;

pub use text::TextReader;

use crate::limits;
use crate::log::{Archive, Chunk, CursorBeyondEnd, OutputLog};
use crate::process::Stream;
use crate::truncation::{HeadTail, Shown, TOKEN_BYTES};
use crate::utf8::{Decoder, Measure, PENDING_BYTES_MAX};

/// Bytes decoded at a time, so that the text in between stays in cache.
const DECODE_BYTES: usize = 64 * 1024;

/// Bytes that the two streams can leave unfinished together.
const UNFINISHED_BYTES_MAX: usize = 2 * PENDING_BYTES_MAX;

/// What a transcript showed between two offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The window as text: all of it, or as [`crate::truncation::truncate`] cuts it. Where bytes are lost the marker stands for them, too.
    pub text: String,
    /// The window's bytes, or those of `text` when something was cut.
    pub raw: Vec<u8>,
    /// Absolute offset at which the window began.
    pub start: u64,
    /// Absolute offset at which it ended, where the next view begins.
    pub cursor: u64,
    /// Bytes of the window that `text` does not show.
    pub omitted_bytes: u64,
    /// Of those, bytes that are lost.
    pub lost_bytes: u64,
    /// Tokens of the whole window, if anything was cut.
    pub original_token_count: Option<u64>,
}

/// Builds a view from a cursor to the end of the output.
#[derive(Debug, Clone)]
pub struct ViewBuilder {
    budget_tokens: u64,
    start: u64,
    next: u64,
    /// Where the part begins from which on everything was read.
    unbroken_from: u64,
    lost_bytes: u64,
    /// Where decoding stands at `next`; `None` before the first step.
    decoders: Option<[Decoder; 2]>,
    /// Bytes before the window that its first characters began with.
    borrowed_bytes: usize,
    ends: HeadTail,
    /// The window's bytes, until it is sure that something is cut.
    raw: Option<Vec<u8>>,
    chunk: Chunk,
}

impl ViewBuilder {
    /// Starts at `cursor`. `None` or a larger budget than [`limits::VIEW_BYTES_MAX`] counts as that.
    pub fn new(cursor: u64, budget_tokens: Option<u64>) -> Self {
        let most = limits::VIEW_BYTES_MAX / TOKEN_BYTES;
        let budget_tokens = budget_tokens.map_or(most, |tokens| tokens.min(most));
        Self {
            budget_tokens,
            start: cursor,
            next: cursor,
            unbroken_from: cursor,
            lost_bytes: 0,
            decoders: None,
            borrowed_bytes: 0,
            ends: HeadTail::new(i64::try_from(budget_tokens).unwrap_or(i64::MAX)),
            raw: Some(Vec::new()),
            chunk: Chunk::default(),
        }
    }

    /// Reads about `bytes_max` bytes further. Answers the view when the end of the output is reached; the builder then stands at
    /// its cursor and builds the next one.
    ///
    /// The tail is read in one step whatever its size: in between, more of it could be lost than has been measured.
    pub fn step<A: Archive>(&mut self, log: &mut OutputLog<A>, bytes_max: usize) -> Result<Option<View>, CursorBeyondEnd> {
        let end = log.visible_end().max(self.next);
        let gap = log.gap();
        let is_last = self.next >= gap.start;
        let count = if is_last { end.saturating_sub(self.next.max(gap.end)) } else { (end - self.next).min(bytes_max.max(1) as u64) };
        let mut chunk = std::mem::take(&mut self.chunk);
        log.read(self.next, usize::try_from(count).unwrap_or(usize::MAX), &mut chunk)?;
        let is_skip = chunk.skipped() > 0;
        if is_skip {
            self.pass_over(log, &chunk);
        }
        if is_last || !is_skip {
            self.add(log, &chunk);
        }
        self.chunk = chunk;
        if !is_last && (self.next < end || is_skip) {
            return Ok(None);
        }
        let view = self.finish(log);
        log.mark(view.cursor);
        *self = Self::new(view.cursor, Some(self.budget_tokens));
        Ok(Some(view))
    }

    /// Goes on behind what is lost.
    fn pass_over<A: Archive>(&mut self, log: &OutputLog<A>, chunk: &Chunk) {
        let mut missed = log.missed_text(self.next);
        // An archive that cannot be read any more was never measured.
        missed.bytes += log.gap().start.saturating_sub(self.next);
        self.ends.skip(&missed);
        self.lost_bytes += chunk.skipped();
        self.next = chunk.offset();
        self.unbroken_from = self.next;
        self.decoders = None;
        self.raw = None;
    }

    fn add<A: Archive>(&mut self, log: &OutputLog<A>, chunk: &Chunk) {
        let mut decoders = self.decoders.take().unwrap_or_else(|| {
            let decoders = decoders_at(log, chunk.offset());
            self.borrowed_bytes += unfinished_bytes(&decoders);
            decoders
        });
        // Behind a full beginning only the end of the chunk can be seen in the result; the rest is measured, which is cheaper.
        let hidden_end = chunk.bytes().len().saturating_sub(self.ends.tail_bytes() + UNFINISHED_BYTES_MAX);
        let mut position = 0;
        let mut text = String::new();
        for (stream, piece) in chunk.pieces() {
            let decoder = &mut decoders[slot(stream)];
            let mut rest = piece;
            while !rest.is_empty() {
                let hidden = if self.ends.head_is_full() { hidden_end.saturating_sub(position).min(rest.len()) } else { 0 };
                let (now, later) = rest.split_at(if hidden > 0 { hidden } else { rest.len().min(DECODE_BYTES) });
                if hidden > 0 {
                    let mut measure = Measure::with_pending(decoder.pending());
                    measure.push(now);
                    self.ends.skip(&measure.measured());
                    *decoder = Decoder::with_pending(measure.pending());
                } else {
                    text.clear();
                    decoder.decode(now, &mut text);
                    self.ends.push(&text);
                }
                position += now.len();
                rest = later;
            }
        }
        self.decoders = Some(decoders);
        self.next = chunk.end();
        self.keep_raw(chunk.bytes());
    }

    /// Replacement never shortens, so more bytes than the budget allows, and than can be unfinished, are sure to be cut.
    fn keep_raw(&mut self, bytes: &[u8]) {
        let most = self.budget_tokens * TOKEN_BYTES + UNFINISHED_BYTES_MAX as u64;
        self.raw = self.raw.take().filter(|raw| (raw.len() + bytes.len()) as u64 <= most);
        if let Some(raw) = &mut self.raw {
            raw.extend_from_slice(bytes);
        }
    }

    fn finish<A: Archive>(&mut self, log: &OutputLog<A>) -> View {
        let mut decoders = self.decoders.take().unwrap_or_default();
        let unfinished = unfinished_bytes(&decoders);
        // A view of nothing stands where an earlier one finished the streams.
        if log.is_closed() && self.next == log.total() && self.next > self.start {
            let mut text = String::new();
            for decoder in &mut decoders {
                decoder.finish(&mut text);
            }
            self.ends.push(&text);
        }
        let ends = std::mem::replace(&mut self.ends, HeadTail::new(0));
        let (truncated, shown) = ends.finish_with_shown();
        let window_bytes = self.next - self.start;
        let mut omitted_bytes = 0;
        if truncated.original_tokens.is_some() {
            let is_one_to_one = truncated.total.bytes == window_bytes && unfinished == 0 && self.borrowed_bytes == 0;
            omitted_bytes = window_bytes - if is_one_to_one { shown.head_bytes + shown.tail_bytes } else { self.shown_raw(log, shown) };
        }
        let raw = self.raw.take().filter(|_| truncated.original_tokens.is_none()).unwrap_or_else(|| truncated.text.clone().into_bytes());
        View {
            text: truncated.text,
            raw,
            start: self.start,
            cursor: self.next,
            omitted_bytes: omitted_bytes.max(self.lost_bytes),
            lost_bytes: self.lost_bytes,
            original_token_count: truncated.original_tokens,
        }
    }

    /// Bytes of the window behind the text that is shown of it.
    fn shown_raw<A: Archive>(&self, log: &OutputLog<A>, shown: Shown) -> u64 {
        let head = coverage::raw_of_beginning(log, self.start..self.next, shown.head_bytes);
        head + coverage::raw_of_end(log, self.unbroken_from..self.next, shown.tail_bytes)
    }
}

fn decoders_at<A: Archive>(log: &OutputLog<A>, offset: u64) -> [Decoder; 2] {
    [Stream::Stdout, Stream::Stderr].map(|stream| log.decoder_at(stream, offset))
}

fn unfinished_bytes(decoders: &[Decoder; 2]) -> usize {
    decoders.iter().map(|decoder| decoder.pending().len()).sum()
}

const fn slot(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}
