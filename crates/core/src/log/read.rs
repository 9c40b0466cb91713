//! Reading a transcript: raw bytes with their streams, one stream alone, and where decoding stands at an offset.

use super::runs::{Run, Runs};
use super::{Archive, OutputLog, slot};
use crate::process::Stream;
use crate::utf8::{Decoder, PENDING_BYTES_MAX};

/// The cursor lies past the end of the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cursor {cursor} is past the end of the output at {total}: use a cursor that an earlier reply gave")]
pub struct CursorBeyondEnd {
    /// The offset asked for.
    pub cursor: u64,
    /// Bytes printed so far.
    pub total: u64,
}

/// A contiguous piece of a transcript. Reused from read to read, it allocates once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    offset: u64,
    skipped: u64,
    bytes: Vec<u8>,
    runs: Vec<(Stream, usize)>,
}

impl Chunk {
    /// Absolute offset of the first byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Absolute offset behind the last byte: where to read from next.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// Bytes between the offset asked for and [`Chunk::offset`], which are lost.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The bytes of both streams as they came.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, one piece for each stretch of a stream.
    pub fn pieces(&self) -> impl Iterator<Item = (Stream, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.runs.iter().map(move |(stream, len)| {
            let (piece, after) = rest.split_at(*len);
            rest = after;
            (*stream, piece)
        })
    }

    fn add_runs(&mut self, runs: &Runs, count: usize) {
        let (mut at, end) = (self.offset, self.offset + count as u64);
        for run in runs.from(self.offset) {
            let run_end = run.end.min(end);
            if run_end > at {
                self.runs.push((run.stream, usize::try_from(run_end - at).unwrap_or(count)));
            }
            if run.end >= end {
                break;
            }
            at = run_end;
        }
    }
}

/// What [`OutputLog::read_stream`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamPart {
    /// Where to read from next. At the end of the transcript it equals [`OutputLog::total`].
    pub next: u64,
    /// Bytes of both streams that were passed over because they are lost, all of them before the first byte read.
    pub skipped: u64,
}

impl<A: Archive> OutputLog<A> {
    /// Reads up to `bytes_max` bytes from `from` on into `chunk`, replacing what it held. A chunk ends at the gap; the read that
    /// starts there passes over it and says so. At the end of the transcript the chunk is empty.
    pub fn read(&self, from: u64, bytes_max: usize, chunk: &mut Chunk) -> Result<(), CursorBeyondEnd> {
        self.check(from)?;
        chunk.bytes.clear();
        chunk.runs.clear();
        chunk.offset = from;
        if from < self.front.end() {
            let count = bounded(self.front.end() - from, bytes_max);
            let read = self.front.read(from, count, &mut chunk.bytes);
            if read.is_ok() || !chunk.bytes.is_empty() {
                chunk.skipped = 0;
                chunk.add_runs(&self.front.runs, chunk.bytes.len());
                return Ok(());
            }
        }
        chunk.offset = from.max(self.tail.start);
        chunk.skipped = chunk.offset - from;
        let count = bounded(self.total() - chunk.offset, bytes_max);
        for piece in self.tail.slices(chunk.offset, count) {
            chunk.bytes.extend_from_slice(piece);
        }
        chunk.add_runs(&self.tail.runs, count);
        Ok(())
    }

    /// Reads up to `bytes_max` bytes of one stream and appends them to `out`. `from` is a merged offset like every cursor. A read
    /// ends at the gap; the one that starts there passes over it.
    pub fn read_stream(&self, stream: Stream, from: u64, bytes_max: usize, out: &mut Vec<u8>) -> Result<StreamPart, CursorBeyondEnd> {
        self.check(from)?;
        let (mut at, mut left) = (from, bytes_max);
        if at < self.front.end() {
            let mut is_readable = true;
            for run in self.front.runs.from(at) {
                let wanted = wanted(run, stream, at, left);
                let before = out.len();
                is_readable = wanted == 0 || self.front.read(at, wanted, out).is_ok();
                let taken = out.len() - before;
                left -= taken;
                at = if run.stream == stream { at + taken as u64 } else { run.end };
                if left == 0 || !is_readable {
                    break;
                }
            }
            // What was read or passed over stands on its own; what is lost is the next read's to say.
            if left < bytes_max || (if is_readable { at < self.tail.start } else { at > from }) {
                return Ok(StreamPart { next: at, skipped: 0 });
            }
        }
        let skipped = self.tail.start.saturating_sub(at);
        at = at.max(self.tail.start);
        for run in self.tail.runs.from(at) {
            let wanted = wanted(run, stream, at, left);
            self.tail.slices(at, wanted).into_iter().for_each(|piece| out.extend_from_slice(piece));
            left -= wanted;
            at = if run.stream == stream { at + wanted as u64 } else { run.end };
            if left == 0 {
                break;
            }
        }
        Ok(StreamPart { next: at, skipped })
    }

    /// Offset up to which a view goes: the end, less what may still become part of a character.
    ///
    /// An unfinished character at the end stays in front of the cursor, so that the reader who comes back gets it whole. While one
    /// stream's unfinished character lies further back, behind it the other stream's last byte is left for the next view, so that
    /// no view of a running process has seen the end: only the one that finishes the streams may be there.
    pub fn visible_end(&self) -> u64 {
        let total = self.total();
        if self.is_closed {
            return total;
        }
        match self.before_unfinished(total) {
            (end, true) if end == total => self.before_unfinished(total.saturating_sub(1).max(self.kept_from())).0,
            (end, _) => end,
        }
    }

    /// A decoder of `stream` that stands at `offset`, with what the bytes before it left unfinished.
    pub fn decoder_at(&self, stream: Stream, offset: u64) -> Decoder {
        let mut history = History::default();
        let mut offset = offset;
        if offset >= self.tail.start && (self.tail.start > self.front.end() || self.tail.len() > 0) {
            for (run, start) in self.tail.runs.back_from(offset, self.tail.start) {
                let (start, count) = history.want(run, start, offset, stream);
                let [first, second] = self.tail.slices(start, count);
                history.prepend(second);
                history.prepend(first);
                if history.is_full() {
                    return history.decoder();
                }
            }
            if let Some(loss) = &self.loss {
                // Enough: the bytes in front of an unfinished character are of no use to it.
                history.prepend(loss.pending(stream));
                return history.decoder();
            }
            offset = self.front.end();
        }
        let mut bytes = Vec::new();
        for (run, start) in self.front.runs.back_from(offset, 0) {
            let (start, count) = history.want(run, start, offset, stream);
            bytes.clear();
            if count > 0 && self.front.read(start, count, &mut bytes).is_err() {
                break;
            }
            history.prepend(&bytes);
            if history.is_full() {
                break;
            }
        }
        history.decoder()
    }

    /// Moves `end` in front of the unfinished characters that it stands behind, and answers whether any stream has one.
    fn before_unfinished(&self, end: u64) -> (u64, bool) {
        let mut left = [Stream::Stdout, Stream::Stderr].map(|stream| self.decoder_at(stream, end).pending().len() as u64);
        let has_unfinished = left != [0, 0];
        let mut before = end;
        while let Some((run, start)) = self.run_before(before) {
            let left = &mut left[slot(run.stream)];
            let step = (*left).min(before - start);
            if step == 0 {
                break;
            }
            before -= step;
            *left -= step;
        }
        (before, has_unfinished)
    }

    fn run_before(&self, end: u64) -> Option<(Run, u64)> {
        if end > self.tail.start {
            return self.tail.runs.back_from(end, self.tail.start).next();
        }
        (self.loss.is_none() && end > 0).then(|| self.front.runs.back_from(end, 0).next()).flatten()
    }

    /// The offset from which on everything is kept.
    fn kept_from(&self) -> u64 {
        if self.loss.is_some() { self.tail.start } else { 0 }
    }

    fn check(&self, cursor: u64) -> Result<(), CursorBeyondEnd> {
        let total = self.total();
        if cursor > total { Err(CursorBeyondEnd { cursor, total }) } else { Ok(()) }
    }
}

/// Up to [`PENDING_BYTES_MAX`] bytes of a stream before an offset, gathered backwards, and as many left over from a gap.
#[derive(Default)]
struct History {
    bytes: [u8; 2 * PENDING_BYTES_MAX],
    len: usize,
}

impl History {
    fn is_full(&self) -> bool {
        self.len >= PENDING_BYTES_MAX
    }

    /// Which bytes of `run`, which starts at `start`, are of use: their first offset and their number.
    fn want(&self, run: Run, start: u64, offset: u64, stream: Stream) -> (u64, usize) {
        let end = run.end.min(offset);
        let held = if run.stream == stream { end.saturating_sub(start) } else { 0 };
        let count = bounded(held, PENDING_BYTES_MAX - self.len);
        (end.max(start) - count as u64, count)
    }

    fn prepend(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
        let start = self.bytes.len() - self.len;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
    }

    fn decoder(&self) -> Decoder {
        Decoder::with_pending(&self.bytes[self.bytes.len() - self.len..])
    }
}

/// Bytes of `run` from `at` on that a read of `stream` takes when it has room for `left`.
fn wanted(run: Run, stream: Stream, at: u64, left: usize) -> usize {
    if run.stream == stream { bounded(run.end - at, left) } else { 0 }
}

/// A length that fits memory because `bytes_max` does.
fn bounded(bytes: u64, bytes_max: usize) -> usize {
    usize::try_from(bytes).map_or(bytes_max, |bytes| bytes.min(bytes_max))
}
