//! Counting lines as Python's `str.splitlines` does, on a whole text or on pieces of one.
//!
//! Breaks are LF, CR, CR LF (one), VT, FF, FS, GS, RS, NEL (U+0085), LS (U+2028) and PS (U+2029). A final break does not open
//! another line, and an empty text has none.

/// Blocks short enough that a sum of ones fits a byte, which lets the compiler count sixteen bytes at a time.
const BLOCK_BYTES: usize = 240;

/// The number of lines of `text`.
pub fn count(text: &str) -> u64 {
    LineStats::of(text).lines()
}

/// What must be known of a piece of text to count the lines of a longer one that contains it.
///
/// It is also the streaming counter: [`LineStats::push`] takes any split of the bytes, even inside a character or between CR and LF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineStats {
    breaks: u64,
    /// The last two bytes, the latest last; zero where there is none, which is no part of a break.
    last: [u8; 2],
    is_empty: bool_default_true::Empty,
    starts_with_lf: bool,
    ends_with_break: bool,
}
