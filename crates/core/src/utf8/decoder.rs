//! Bytes to text, piece by piece, keeping back at most three bytes.

use super::chunks::each_chunk;
use super::{Pending, incomplete_suffix_len};

/// A streaming decoder. The text of all its calls joined equals [`String::from_utf8_lossy`] of all its bytes joined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decoder {
    pending: Pending,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// A decoder that continues after `history`, whose text is not given out again. Only an incomplete scalar at its end matters, so
    /// what [`Decoder::pending`] answered is enough.
    pub fn with_pending(history: &[u8]) -> Self {
        Self { pending: Pending::after(history) }
    }

    /// The bytes that wait for more, at most three.
    pub fn pending(&self) -> &[u8] {
        self.pending.as_slice()
    }

    /// Decodes `piece` and appends its text to `out`. `out` grows by at most three times the bytes of `piece` and what was pending.
    pub fn decode(&mut self, piece: &[u8], out: &mut String) {
        out.reserve(piece.len());
        let (joined, rest) = self.pending.complete(piece);
        out.extend(joined);
        let (decided, incomplete) = rest.split_at(rest.len() - incomplete_suffix_len(rest));
        each_chunk(decided, |text, is_broken| {
            out.push_str(text);
            out.extend(is_broken.then_some(char::REPLACEMENT_CHARACTER));
        });
        if !incomplete.is_empty() {
            self.pending = Pending::after(incomplete);
        }
    }

    /// Ends the stream: an incomplete scalar becomes U+FFFD. The decoder is then as new.
    pub fn finish(&mut self, out: &mut String) {
        if !self.pending().is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
            self.pending = Pending::default();
        }
    }
}
