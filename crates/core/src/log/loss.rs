//! What retention could not keep, measured while it went by.
//!
//! A reply about a flood says exactly how much text and how many lines it does not show, although nobody can count them any more
//! by then. The counts are of decoded text: a character cut at an edge of the gap counts where its last byte lies.

use super::slot;
use crate::process::Stream;
use crate::utf8::{Measure, Measured};

/// Lost bytes of a transcript: all those of its gap.
#[derive(Debug, Clone, Default)]
pub(super) struct Loss {
    pending: [Measure; 2],
    text: [Measured; 2],
    bytes: [u64; 2],
    merged: Measured,
}

/// How much of a transcript, or of one of its streams, is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lost {
    /// Raw bytes.
    pub bytes: u64,
    /// The text that they decode to, in arrival order.
    pub text: Measured,
}

impl Loss {
    /// Begins behind what is kept; each stream's `pending` bytes there wait for the first lost ones.
    pub(super) fn after(pending: [&[u8]; 2]) -> Self {
        Self { pending: pending.map(Measure::with_pending), ..Self::default() }
    }

    /// Counts the next lost bytes, given in pieces, and answers the size of their text.
    pub(super) fn add(&mut self, stream: Stream, pieces: [&[u8]; 2]) -> Measured {
        let slot = slot(stream);
        // Both streams add to one text, so what is new is measured on its own and then appended to either sum.
        let mut new = Measure::with_pending(self.pending[slot].pending());
        for piece in pieces {
            new.push(piece);
            self.bytes[slot] += piece.len() as u64;
        }
        let measured = new.measured();
        self.text[slot].append(&measured);
        self.merged.append(&measured);
        self.pending[slot] = new;
        measured
    }

    /// Bytes of `stream` at the end of the gap that wait for the first byte behind it.
    pub(super) fn pending(&self, stream: Stream) -> &[u8] {
        self.pending[slot(stream)].pending()
    }

    pub(super) fn of(&self, stream: Option<Stream>) -> Lost {
        match stream {
            Some(stream) => Lost { bytes: self.bytes[slot(stream)], text: self.text[slot(stream)] },
            None => Lost { bytes: self.bytes.iter().sum(), text: self.merged },
        }
    }
}
