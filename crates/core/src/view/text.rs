//! The decoded output from a cursor on, as it comes.

use super::{decoders_at, slot};
use crate::log::{Archive, Chunk, CursorBeyondEnd, OutputLog};
use crate::utf8::Decoder;

/// Follows a transcript as text, in the order and up to the end that a view has. Lost bytes are passed over.
#[derive(Debug, Clone)]
pub struct TextReader {
    next: u64,
    decoders: Option<[Decoder; 2]>,
    chunk: Chunk,
}

impl TextReader {
    /// Starts at `cursor`.
    pub fn new(cursor: u64) -> Self {
        Self { next: cursor, decoders: None, chunk: Chunk::default() }
    }

    /// Appends to `out` the text of up to `bytes_max` further bytes. Answers whether there is more to read.
    pub fn read<A: Archive>(&mut self, log: &OutputLog<A>, bytes_max: usize, out: &mut String) -> Result<bool, CursorBeyondEnd> {
        let end = log.visible_end();
        if self.next <= log.total() && self.next >= end {
            return Ok(false);
        }
        let kept = usize::try_from(end.saturating_sub(self.next)).unwrap_or(bytes_max);
        log.read(self.next, bytes_max.min(kept), &mut self.chunk)?;
        if self.chunk.skipped() > 0 {
            self.decoders = None;
        }
        let mut decoders = self.decoders.take().unwrap_or_else(|| decoders_at(log, self.chunk.offset()));
        for (stream, piece) in self.chunk.pieces() {
            decoders[slot(stream)].decode(piece, out);
        }
        self.decoders = Some(decoders);
        self.next = self.chunk.end();
        Ok(self.next < end)
    }
}
