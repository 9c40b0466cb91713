//! What a model is shown of raw output: decoded and cut to the budget in one pass.

use super::head_tail::{HeadTail, Truncated};
use crate::utf8::{Decoder, Measure, Measured, PENDING_BYTES_MAX};

/// Raw bytes decoded at a time, so that the text in between is small.
const DECODE_BYTES: usize = 16 * 1024;

/// A streaming decoder and [`HeadTail`] in one. Output that cannot be shown is measured, not decoded, so a flood costs little
/// more than reading it once.
#[derive(Debug, Clone)]
pub struct View {
    decoder: Decoder,
    ends: HeadTail,
}

impl View {
    /// Starts for a budget in tokens. A negative one counts as 0.
    pub fn new(budget_tokens: i64) -> Self {
        Self::continuing(budget_tokens, &[])
    }

    /// Starts after `history`, which is not shown. An incomplete scalar at its end is completed by what follows.
    pub fn continuing(budget_tokens: i64, history: &[u8]) -> Self {
        Self { decoder: Decoder::with_pending(history), ends: HeadTail::new(budget_tokens) }
    }

    /// The bytes that wait for more, at most three.
    pub fn pending(&self) -> &[u8] {
        self.decoder.pending()
    }

    /// Whether the beginning is complete; a condition of [`View::skip`].
    pub fn head_is_full(&self) -> bool {
        self.ends.head_is_full()
    }

    /// Raw bytes at the end of the stream that can matter once the beginning is complete. Replacement never shortens, so this
    /// many give enough text.
    pub fn tail_bytes(&self) -> usize {
        self.ends.tail_bytes().saturating_add(PENDING_BYTES_MAX)
    }

    /// Adds raw output.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let excess = bytes.len().saturating_sub(self.tail_bytes());
            if excess > 0 && self.head_is_full() {
                let mut measure = Measure::with_pending(self.pending());
                measure.push(&bytes[..excess]);
                self.skip(&measure.measured(), measure.pending());
                bytes = &bytes[excess..];
                continue;
            }
            let (piece, rest) = bytes.split_at(bytes.len().min(DECODE_BYTES));
            let mut text = String::new();
            self.decoder.decode(piece, &mut text);
            self.ends.push(&text);
            bytes = rest;
        }
    }

    /// Accounts for raw output that was measured instead of fed: by a [`Measure`] that started with [`View::pending`] and ended
    /// with `pending`. The conditions are those of [`HeadTail::skip`], with [`View::tail_bytes`] raw bytes to follow.
    pub fn skip(&mut self, skipped: &Measured, pending: &[u8]) {
        self.ends.skip(skipped);
        self.decoder = Decoder::with_pending(pending);
    }

    /// Ends the stream: an incomplete scalar becomes U+FFFD.
    pub fn finish(mut self) -> Truncated {
        let mut text = String::new();
        self.decoder.finish(&mut text);
        self.ends.push(&text);
        self.ends.finish()
    }

    /// Ends the view but not the stream: an incomplete scalar is not shown, and its bytes are answered to be carried over.
    pub fn finish_open(self) -> (Truncated, Vec<u8>) {
        let pending = self.pending().to_vec();
        (self.ends.finish(), pending)
    }
}
