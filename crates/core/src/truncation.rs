//! Cutting the middle out of a text so that it fits a token budget, byte for byte as the compatible surface does.
//!
//! A token stands for four bytes of UTF-8. What is left is a line count, the beginning, a marker that says how much is missing, and
//! the end. [`truncate`] works on a whole text. [`HeadTail`] and [`View`] give the same answer for one that streams by, and keep
//! only what the budget can show.

mod by_bytes;
mod head_tail;
mod view;

use std::borrow::Cow;

pub use by_bytes::truncate_bytes;
pub use head_tail::{HeadTail, Truncated};
pub use view::View;

use crate::lines;

/// Bytes of UTF-8 that one token stands for.
pub const TOKEN_BYTES: u64 = 4;

/// Header of the shortest line count. Where not even this fits, the lines need not be counted.
const HEADER_BYTES_MIN: usize = "Total output lines: 0\n\n".len();

/// Tokens that `bytes` bytes of text take, rounded up.
pub const fn tokens_of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(TOKEN_BYTES)
}

/// Tokens of `text`.
pub const fn tokens_of(text: &str) -> u64 {
    tokens_of_bytes(text.len() as u64)
}

/// Bytes that a budget of `tokens` allows. A negative budget allows none; one too large to express allows all.
pub const fn bytes_of_tokens(tokens: i64) -> u64 {
    if tokens < 0 { 0 } else { tokens.unsigned_abs().saturating_mul(TOKEN_BYTES) }
}

/// What of a budget goes to the beginning and what to the end, which gets the odd byte.
pub const fn split_budget(bytes: u64) -> (u64, u64) {
    (bytes / 2, bytes - bytes / 2)
}

/// What a marker counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Removed characters.
    Chars,
    /// Tokens of the removed bytes.
    Tokens,
}

/// The text that stands for `removed` units.
pub fn marker(unit: Unit, removed: u64) -> String {
    let name = match unit {
        Unit::Chars => "chars",
        Unit::Tokens => "tokens",
    };
    format!("…{removed} {name} truncated…")
}

/// The two ends of a text that was split at character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split<'a> {
    /// The longest beginning of whole characters within its limit.
    pub head: &'a str,
    /// The longest end of whole characters within its limit that does not reach into the beginning.
    pub tail: &'a str,
    /// Characters between them.
    pub removed_chars: u64,
}

/// Splits `text` into at most `head_bytes` of its beginning and at most `tail_bytes` of its end.
pub fn split(text: &str, head_bytes: u64, tail_bytes: u64) -> Split<'_> {
    let head = beginning(text, head_bytes);
    let tail = end(&text[head.len()..], tail_bytes);
    let removed = &text[head.len()..text.len() - tail.len()];
    Split { head, tail, removed_chars: removed.chars().count() as u64 }
}

/// Cuts `text` to `budget_tokens` as terminal calls and the shell tool do. `None` cuts nothing.
///
/// The count is that of the whole text, and there only if something was cut. The result never exceeds the budget, and one of 0
/// tokens or fewer leaves nothing.
pub fn truncate(text: &str, budget_tokens: Option<i64>) -> (Cow<'_, str>, Option<u64>) {
    match budget_tokens {
        Some(tokens) => cut_whole(text, tokens, true),
        None => (Cow::Borrowed(text), None),
    }
}

/// As [`truncate`], without the line count in front.
pub fn truncate_without_header(text: &str, budget_tokens: i64) -> (Cow<'_, str>, Option<u64>) {
    cut_whole(text, budget_tokens, false)
}

fn cut_whole(text: &str, budget_tokens: i64, with_header: bool) -> (Cow<'_, str>, Option<u64>) {
    let budget_bytes = bytes_of_tokens(budget_tokens);
    let bytes = text.len() as u64;
    if bytes <= budget_bytes {
        return (Cow::Borrowed(text), None);
    }
    let ends = Ends { bytes, head: text, tail: text };
    let (cut, _) = ends.cut(budget_bytes, with_header.then_some(|| lines::count(text)));
    (Cow::Owned(cut), Some(tokens_of_bytes(bytes)))
}

/// A text longer than its budget, of which only the ends need to be at hand.
struct Ends<'a> {
    /// Length of the whole.
    bytes: u64,
    /// Its beginning, at least as long as half of the budget.
    head: &'a str,
    /// Its end, likewise.
    tail: &'a str,
}

impl Ends<'_> {
    /// The text cut to `budget_bytes`, and what of the whole it shows. `lines` counts the lines of the whole for the header;
    /// without it there is none.
    fn cut(&self, budget_bytes: u64, lines: Option<impl FnOnce() -> u64>) -> (String, Shown) {
        if budget_bytes == 0 {
            return Default::default();
        }
        // The final number is not known before the split, so room is made for the largest it can be.
        let mut text = String::new();
        let reserved = marker(Unit::Tokens, tokens_of_bytes(self.bytes));
        let room = budget_bytes.checked_sub(reserved.len() as u64);
        let Some(mut content_bytes) = room else {
            text.push_str(beginning(&reserved, budget_bytes));
            return (text, Shown::default());
        };
        if let Some(count) = lines.filter(|_| content_bytes >= HEADER_BYTES_MIN as u64) {
            let header = header(count());
            if let Some(rest) = content_bytes.checked_sub(header.len() as u64) {
                content_bytes = rest;
                text = header;
            }
        }
        let (head_bytes, tail_bytes) = split_budget(content_bytes);
        let (head, tail) = (beginning(self.head, head_bytes), end(self.tail, tail_bytes));
        let removed = self.bytes - (head.len() + tail.len()) as u64;
        text.push_str(head);
        text.push_str(&marker(Unit::Tokens, tokens_of_bytes(removed)));
        text.push_str(tail);
        (text, Shown { head_bytes: head.len() as u64, tail_bytes: tail.len() as u64 })
    }
}

/// How much of the beginning and of the end of a text its truncation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shown {
    /// Bytes of the beginning.
    pub head_bytes: u64,
    /// Bytes of the end.
    pub tail_bytes: u64,
}

fn header(lines: u64) -> String {
    format!("Total output lines: {lines}\n\n")
}

/// The longest beginning of whole characters within `bytes_max`.
fn beginning(text: &str, bytes_max: u64) -> &str {
    &text[..text.floor_char_boundary(saturating_len(bytes_max))]
}

/// The longest end of whole characters within `bytes_max`.
fn end(text: &str, bytes_max: u64) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(saturating_len(bytes_max)))..]
}

/// A limit as a length in memory, where nothing is longer than `usize::MAX`.
fn saturating_len(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
