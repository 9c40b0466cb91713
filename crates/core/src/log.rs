//! The transcript of one process: everything it printed, in arrival order, at absolute byte offsets.
//!
//! Output is appended the moment it comes and reading never consumes, so any number of readers keep their own cursor. What is kept
//! is bounded: a head in memory, behind it an archive up to its cap, and a ring of the latest bytes. Bytes that leave the ring go
//! to the archive while it is contiguous and takes them; after that they are lost, and the transcript has one gap between the
//! front (head and archive) and the tail (ring). Lost bytes are measured as they go, so that counts stay exact.
//!
//! ```text
//!     0          head       archive          gap          tail        total
//!     |-----------|------------|······················|------------------|
//!                              front end          tail start
//! ```
//!
//! With pipes each byte also belongs to a stream. Runs of bytes of one stream are kept for what is retained; see [`Limits::runs_max`].

mod archive;
mod front;
mod loss;
mod marks;
mod read;
mod runs;
mod tail;

use std::ops::Range;

pub use archive::{Archive, MemoryArchive, NoArchive, Unreadable};
pub use loss::Lost;
pub use read::{Chunk, CursorBeyondEnd, StreamPart};

use crate::limits;
use crate::process::Stream;
use crate::utf8::Measured;
use front::Front;
use loss::Loss;
use marks::Marks;
use tail::Tail;

/// Bytes that move to the archive at a time, so that small output does not become as many small writes.
const ARCHIVE_BATCH_BYTES: usize = 64 * 1024;

/// How much of a transcript is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the head.
    pub head_bytes: usize,
    /// Bytes of the ring, at least 1.
    pub tail_bytes: usize,
    /// Bytes that may go to the archive.
    pub archive_bytes: u64,
    /// Runs remembered for the front, and again for the tail; at least 1. A front that needs more is closed; a tail that needs
    /// more lets its oldest run go.
    pub runs_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: limits::TRANSCRIPT_HEAD_BYTES,
            tail_bytes: limits::TRANSCRIPT_TAIL_BYTES,
            archive_bytes: limits::TRANSCRIPT_SPILL_BYTES_DEFAULT,
            runs_max: limits::TRANSCRIPT_RUNS_MAX,
        }
    }
}

/// The transcript of one process. Empty, it takes a few hundred bytes; it allocates as output comes.
#[derive(Debug, Clone)]
pub struct OutputLog<A> {
    limits: Limits,
    front: Front<A>,
    tail: Tail,
    loss: Option<Box<Loss>>,
    marks: Marks,
    stream_totals: [u64; 2],
    is_closed: bool,
}

impl<A: Archive> OutputLog<A> {
    /// An empty transcript.
    pub fn new(limits: Limits, archive: A) -> Self {
        let limits = Limits { tail_bytes: limits.tail_bytes.max(1), runs_max: limits.runs_max.max(1), ..limits };
        Self {
            limits,
            front: Front::new(archive),
            tail: Tail::default(),
            loss: None,
            marks: Marks::default(),
            stream_totals: [0; 2],
            is_closed: false,
        }
    }

    /// Appends output. Takes at most the memory of its limits, whatever comes, and loses the oldest bytes of the tail if it must.
    /// Output after [`OutputLog::close`] opens the transcript again.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.stream_totals[slot(stream)] += bytes.len() as u64;
        self.is_closed &= bytes.is_empty();
        let mut rest = bytes;
        if self.tail.len() == 0 && self.front.is_open() {
            rest = &bytes[self.front.fill(stream, bytes, &self.limits)..];
            self.tail.start = self.front.end();
        }
        for piece in rest.chunks(self.limits.tail_bytes) {
            let excess = (self.tail.len() + piece.len()).saturating_sub(self.limits.tail_bytes);
            if excess > 0 {
                self.evict(excess);
            }
            if !self.tail.runs.has_room(stream, self.limits.runs_max) {
                self.evict_run();
            }
            self.tail.push(stream, piece, self.limits.tail_bytes);
        }
    }

    /// Says that nothing more will come, so that a view no longer waits for the rest of a character.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether nothing more will come.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Bytes printed so far; the offset of the next one.
    pub fn total(&self) -> u64 {
        self.tail.end()
    }

    /// Bytes printed so far to one stream.
    pub fn stream_total(&self, stream: Stream) -> u64 {
        self.stream_totals[slot(stream)]
    }

    /// The bytes that are not kept, always one range; empty if all are.
    pub fn gap(&self) -> Range<u64> {
        self.front.end()..self.tail.start
    }

    /// Size of what is lost of one stream, or of all.
    pub fn lost(&self, stream: Option<Stream>) -> Lost {
        self.loss.as_ref().map(|loss| loss.of(stream)).unwrap_or_default()
    }

    /// Remembers a cursor that a reader was given, so that [`OutputLog::missed_text`] stays exact for it whatever is lost.
    pub fn mark(&mut self, cursor: u64) {
        if cursor > self.front.end() && cursor >= self.tail.start {
            self.marks.add(cursor, self.front.end());
        }
    }

    /// Size of the text that a reader at `cursor` can no longer get before the tail begins. Exact for the front's end and before,
    /// and for cursors noted by [`OutputLog::mark`] not long ago; for others each byte counts as a character and lines are not known.
    pub fn missed_text(&self, cursor: u64) -> Measured {
        let gap = self.gap();
        if cursor <= gap.start {
            return self.lost(None).text;
        }
        let missed = gap.end.saturating_sub(cursor);
        self.marks.lost_since(cursor).unwrap_or(Measured { bytes: missed, ..Measured::default() })
    }

    /// Makes room for `need` bytes in the tail, which holds at least as many.
    fn evict(&mut self, need: usize) {
        let mut left = need;
        if self.front.is_open() {
            let batch = need.max(ARCHIVE_BATCH_BYTES).min(self.tail.len());
            let taken = self.front.take(&self.tail, batch, &self.limits);
            self.tail.drop_first(taken);
            left = need.saturating_sub(taken);
        }
        if left > 0 {
            self.lose(left);
        }
    }

    /// Makes room for a run in the tail.
    fn evict_run(&mut self) {
        let Some(first) = self.tail.runs.first() else { return };
        let len = usize::try_from(first.end - self.tail.start).unwrap_or(self.tail.len());
        self.evict(len);
    }

    /// Lets the first `count` bytes of the tail go for good.
    fn lose(&mut self, count: usize) {
        let mut loss = self.loss.take().unwrap_or_else(|| {
            let [out, err] = [Stream::Stdout, Stream::Stderr].map(|stream| self.decoder_at(stream, self.tail.start));
            Box::new(Loss::after([out.pending(), err.pending()]))
        });
        let start = self.tail.start;
        let end = start + count as u64;
        let mut at = start;
        for run in self.tail.runs.from(start) {
            while at < run.end.min(end) {
                let mark = self.marks.next(at).unwrap_or(u64::MAX);
                let piece_end = run.end.min(end).min(mark);
                let len = usize::try_from(piece_end - at).unwrap_or(count);
                let measured = loss.add(run.stream, self.tail.slices(at, len));
                self.marks.count(at, &measured);
                at = piece_end;
            }
            if at == end {
                break;
            }
        }
        self.tail.drop_first(count);
        self.loss = Some(loss);
    }
}

/// Where a stream's own state stands in a pair.
const fn slot(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}
