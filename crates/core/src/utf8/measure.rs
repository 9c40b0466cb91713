//! How long a stream's text would be and how many lines it would have, without making it.

use super::chunks::each_chunk;
use super::{Pending, incomplete_suffix_len};
use crate::lines::LineStats;

/// The size of a piece of decoded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measured {
    /// Length of the text in bytes of UTF-8.
    pub bytes: u64,
    /// Its lines.
    pub lines: LineStats,
}

impl Measured {
    /// Measures a whole text.
    pub fn of(text: &str) -> Self {
        Self { bytes: text.len() as u64, lines: LineStats::of(text) }
    }

    /// Adds the text that follows.
    pub fn append(&mut self, next: &Self) {
        self.bytes += next.bytes;
        self.lines.append(&next.lines);
    }
}

/// A streaming counter that agrees with [`super::Decoder`] on the same pieces at every moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measure {
    pending: Pending,
    total: Measured,
}

impl Measure {
    /// A counter at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// A counter that continues after `history`, whose decided text is not counted; an incomplete scalar at its end counts here.
    pub fn with_pending(history: &[u8]) -> Self {
        Self { pending: Pending::after(history), total: Measured::default() }
    }

    /// The bytes that wait for more, at most three. They are not counted yet.
    pub fn pending(&self) -> &[u8] {
        self.pending.as_slice()
    }

    /// The size of the text decided so far.
    pub fn measured(&self) -> Measured {
        self.total
    }

    /// Counts `piece`.
    pub fn push(&mut self, piece: &[u8]) {
        let (joined, rest) = self.pending.complete(piece);
        if let Some(scalar) = joined {
            self.push_char(scalar);
        }
        let (decided, incomplete) = rest.split_at(rest.len() - incomplete_suffix_len(rest));
        self.total.bytes += lossy_len(decided);
        // Line breaks are well-formed scalars, and no ill-formed byte belongs to one: they can be counted on the raw bytes.
        self.total.lines.push(decided);
        if !incomplete.is_empty() {
            self.pending = Pending::after(incomplete);
        }
    }

    /// Ends the stream: an incomplete scalar counts as U+FFFD. Answers the size of the whole text.
    pub fn finish(mut self) -> Measured {
        if !self.pending().is_empty() {
            self.push_char(char::REPLACEMENT_CHARACTER);
        }
        self.total
    }

    fn push_char(&mut self, scalar: char) {
        let mut buffer = [0; 4];
        let text = scalar.encode_utf8(&mut buffer);
        self.total.bytes += text.len() as u64;
        self.total.lines.push(text.as_bytes());
    }
}

/// Length of `bytes` decoded with replacement. They do not end inside a scalar.
fn lossy_len(bytes: &[u8]) -> u64 {
    let mut len = 0;
    each_chunk(bytes, |text, is_broken| {
        len += text.len() + if is_broken { char::REPLACEMENT_CHARACTER.len_utf8() } else { 0 };
    });
    len as u64
}
