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
    has_text: bool,
    starts_with_lf: bool,
    ends_with_break: bool,
}

impl LineStats {
    /// The statistics of a whole text.
    pub fn of(text: &str) -> Self {
        let mut stats = Self::default();
        stats.push(text.as_bytes());
        stats
    }

    /// The number of lines.
    pub fn lines(&self) -> u64 {
        self.breaks + u64::from(self.has_text && !self.ends_with_break)
    }

    /// Adds the bytes that follow.
    pub fn push(&mut self, bytes: &[u8]) {
        let [.., last] = bytes else { return };
        if !self.has_text {
            self.has_text = true;
            self.starts_with_lf = bytes[0] == b'\n';
        }
        // The first two positions look back into the previous piece; from the third on the piece suffices.
        let start = bytes.len().min(2);
        let mut seam = [0; 4];
        seam[..2].copy_from_slice(&self.last);
        seam[2..2 + start].copy_from_slice(&bytes[..start]);
        self.breaks += u64::from(ends_of_breaks(&seam[..2 + start]));
        self.breaks += count_breaks(bytes);
        let before = if bytes.len() > 1 { bytes[bytes.len() - 2] } else { self.last[1] };
        let before_that = if bytes.len() > 2 { bytes[bytes.len() - 3] } else { seam[bytes.len() - 1] };
        // A CR LF pair whose CR was counted before its LF came is one break, and it is at the end all the same.
        self.ends_with_break = is_single(*last) || completes_wide(before_that, before, *last);
        self.last = [before, *last];
    }

    /// Adds the statistics of the text that follows. Both texts must consist of whole characters; CR and LF may be parted.
    pub fn append(&mut self, next: &Self) {
        if !next.has_text {
            return;
        }
        if !self.has_text {
            *self = *next;
            return;
        }
        self.breaks += next.breaks - u64::from(self.last[1] == b'\r' && next.starts_with_lf);
        self.last = next.last;
        self.ends_with_break = next.ends_with_break;
    }
}

const fn is_single(byte: u8) -> bool {
    matches!(byte, b'\n'..=b'\r' | 0x1C..=0x1E)
}

/// Whether `third` ends NEL (C2 85), LS or PS (E2 80 A8, E2 80 A9).
const fn completes_wide(first: u8, second: u8, third: u8) -> bool {
    (second == 0xC2 && third == 0x85) || (first == 0xE2 && second == 0x80 && third | 1 == 0xA9)
}

/// Breaks that end at the third byte of `bytes` or later.
fn count_breaks(bytes: &[u8]) -> u64 {
    let mut breaks = 0;
    let mut rest = bytes;
    while rest.len() > 2 {
        let block = &rest[..rest.len().min(BLOCK_BYTES + 2)];
        breaks += u64::from(ends_of_breaks(block));
        rest = &rest[block.len() - 2..];
    }
    breaks
}

/// Breaks that end at the third byte of `block` or later. At most [`BLOCK_BYTES`] positions.
///
/// Conditions are numbers here: with branches in it the loop would look at one byte at a time.
fn ends_of_breaks(block: &[u8]) -> u8 {
    let len = block.len() - 2;
    let (first, second, third) = (&block[..len], &block[1..=len], &block[2..]);
    let mut ends = 0;
    for index in 0..len {
        let (before_that, before, byte) = (first[index], second[index], third[index]);
        let single = u8::from(byte.wrapping_sub(b'\n') < 4) | u8::from(byte.wrapping_sub(0x1C) < 3);
        let closes_pair = u8::from(before == b'\r') & u8::from(byte == b'\n');
        let next_line = u8::from(before == 0xC2) & u8::from(byte == 0x85);
        let separator = u8::from(before_that == 0xE2) & u8::from(before == 0x80) & u8::from(byte | 1 == 0xA9);
        ends += (single & !closes_pair) | next_line | separator;
    }
    ends
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LineStats, count};

    /// Says the rule in another way: one character at a time.
    fn count_slowly(text: &str) -> u64 {
        let mut lines = 0;
        let mut open = false;
        let mut characters = text.replace("\r\n", "\n").chars().collect::<Vec<_>>().into_iter();
        for character in characters.by_ref() {
            let is_break = "\n\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}".contains(character);
            lines += u64::from(is_break);
            open = !is_break;
        }
        lines + u64::from(open)
    }

    fn text() -> impl Strategy<Value = String> {
        const WORDS: &[&str] =
            &["\n", "\r", "\r\n", "\u{b}", "\u{1f}", "\u{1e}", "\u{85}", "\u{2028}", "\u{2027}", "\u{202a}", "a", "é", "\u{c5}", "文"];
        prop_oneof![
            prop::collection::vec(prop::sample::select(WORDS), 0..40).prop_map(|parts| parts.concat()),
            prop::collection::vec(prop::sample::select(WORDS), 200..900).prop_map(|parts| parts.concat()),
        ]
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_counts_the_same(text in text(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            ends.push(text.len());
            ends.sort_unstable();
            let (mut stats, mut start) = (LineStats::default(), 0);
            for end in ends {
                stats.push(&text.as_bytes()[start..end]);
                start = end;
            }
            prop_assert_eq!(stats, LineStats::of(&text));
            prop_assert_eq!(stats.lines(), count_slowly(&text));
        }

        #[test]
        fn appending_equals_counting_the_joined_text(left in text(), right in text(), more in text()) {
            let mut joined = LineStats::of(&left);
            joined.append(&LineStats::of(&right));
            joined.push(more.as_bytes());
            prop_assert_eq!(joined.lines(), count(&format!("{left}{right}{more}")));
        }
    }
}
