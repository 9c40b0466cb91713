//! Truncating a text that streams by, in memory that depends on the budget alone.
//!
//! Whatever comes, a budget can show only so much of the beginning and of the end. Both are kept, the middle is counted and let
//! go, and at the end the answer is the one that [`super::truncate`] would give for the whole.

use super::{Ends, Shown, bytes_of_tokens, saturating_len, split_budget, tokens_of_bytes};
use crate::utf8::Measured;

/// Bytes of one character. A kept end is that much longer than what is shown of it, because it starts at a whole character.
const CHARACTER_BYTES_MAX: usize = 4;

/// What a stream came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truncated {
    /// The text as [`super::truncate`] gives it for the whole.
    pub text: String,
    /// Tokens of the whole, if anything was cut.
    pub original_tokens: Option<u64>,
    /// Size of the whole.
    pub total: Measured,
}

/// A streaming [`super::truncate`]. It holds at most about two and a half times the budget, and never more than was fed.
#[derive(Debug, Clone)]
pub struct HeadTail {
    budget_bytes: u64,
    head: String,
    head_is_full: bool,
    tail: String,
    total: Measured,
    has_gap: bool,
}

impl HeadTail {
    /// Starts for a budget in tokens. A negative one counts as 0.
    pub fn new(budget_tokens: i64) -> Self {
        Self {
            budget_bytes: bytes_of_tokens(budget_tokens),
            head: String::new(),
            head_is_full: false,
            tail: String::new(),
            total: Measured::default(),
            has_gap: false,
        }
    }

    /// Whether the beginning is complete, so that more text only moves the end along.
    pub fn head_is_full(&self) -> bool {
        self.head_is_full
    }

    /// Bytes of text at the end of the stream that can matter once the beginning is complete.
    pub fn tail_bytes(&self) -> usize {
        let (_, tail_bytes) = split_budget(self.budget_bytes);
        saturating_len(tail_bytes).saturating_add(CHARACTER_BYTES_MAX)
    }

    /// The size of what was fed and skipped so far.
    pub fn total(&self) -> Measured {
        self.total
    }

    /// Adds text.
    pub fn push(&mut self, text: &str) {
        self.total.append(&Measured::of(text));
        let for_tail = if self.head_is_full { text } else { self.fill_head(text) };
        self.push_tail(for_tail);
    }

    /// Accounts for text that was measured instead of fed.
    ///
    /// For an answer equal to the whole's, [`HeadTail::head_is_full`] must hold before, and at least [`HeadTail::tail_bytes`] of
    /// text must follow. If less follows, the end shown is shorter; sizes and the marker stay exact in every case.
    pub fn skip(&mut self, skipped: &Measured) {
        if skipped.bytes == 0 {
            return;
        }
        self.total.append(skipped);
        self.tail.clear();
        self.head_is_full = true;
        self.has_gap = true;
    }

    /// The truncated text.
    pub fn finish(self) -> Truncated {
        self.finish_with_shown().0
    }

    /// The truncated text, and how much of the whole it shows.
    pub fn finish_with_shown(mut self) -> (Truncated, Shown) {
        let bytes = self.total.bytes;
        if bytes <= self.budget_bytes && !self.has_gap {
            self.head.push_str(&self.tail);
            let shown = Shown { head_bytes: bytes, tail_bytes: 0 };
            return (Truncated { text: self.head, original_tokens: None, total: self.total }, shown);
        }
        let ends = Ends { bytes, head: &self.head, tail: &self.tail };
        let (text, shown) = ends.cut(self.budget_bytes, Some(|| self.total.lines.lines()));
        (Truncated { text, original_tokens: Some(tokens_of_bytes(bytes)), total: self.total }, shown)
    }

    /// Takes what the beginning has room for. Answers the rest.
    fn fill_head<'a>(&mut self, text: &'a str) -> &'a str {
        let (head_bytes, _) = split_budget(self.budget_bytes);
        let room = saturating_len(head_bytes) - self.head.len();
        let (fits, rest) = text.split_at(text.floor_char_boundary(room));
        self.head.push_str(fits);
        self.head_is_full = !rest.is_empty();
        rest
    }

    /// Moves the end along. Old text is dropped only when as much again has come, so each byte is moved once on average.
    fn push_tail(&mut self, text: &str) {
        let keep = self.tail_bytes();
        let start = text.floor_char_boundary(text.len().saturating_sub(keep));
        if start > 0 {
            self.tail.clear();
        }
        self.tail.push_str(&text[start..]);
        if self.tail.len() > keep.saturating_mul(2) {
            let stale = self.tail.floor_char_boundary(self.tail.len() - keep);
            self.tail.drain(..stale);
        }
    }
}
