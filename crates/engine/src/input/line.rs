//! The longest line that a terminal in line mode takes.
//!
//! The kernel collects a line until its end comes and drops what does not fit, without a word. So the length of the line being typed is
//! kept here, across writes, to tell the caller.

use crannog_core::limits::TERMINAL_LINE_BYTES_MAX;

/// Bytes that end a line, or throw it away, with a terminal's default control characters: end of file, interrupt, quit, suspend, kill.
const LINE_ENDS: &[u8] = b"\n\r\x04\x03\x1c\x1a\x15";

/// Counts the bytes of the line that is being typed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LineGauge {
    bytes: usize,
}

impl LineGauge {
    /// Takes bytes that a terminal in line mode accepted. Whether part of a line did not fit.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        let mut is_too_long = false;
        for piece in bytes.split_inclusive(|byte| LINE_ENDS.contains(byte)) {
            let ends = piece.last().is_some_and(|byte| LINE_ENDS.contains(byte));
            self.bytes += piece.len() - usize::from(ends);
            is_too_long |= self.bytes > TERMINAL_LINE_BYTES_MAX;
            if ends {
                self.bytes = 0;
            }
        }
        is_too_long
    }

    /// The terminal is not in line mode: nothing is collected.
    pub(super) fn reset(&mut self) {
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LineGauge, TERMINAL_LINE_BYTES_MAX};

    #[test]
    fn a_line_may_fill_the_buffer_and_no_more() {
        let mut line = vec![b'a'; TERMINAL_LINE_BYTES_MAX];
        line.push(b'\n');
        assert!(!LineGauge::default().push(&line.repeat(3)));
        line.insert(0, b'a');
        assert!(LineGauge::default().push(&line));
    }

    proptest! {
        #[test]
        fn any_split_into_writes_says_the_same(lengths in prop::collection::vec(0_usize..6000, 1..4), cut in 0_usize..20_000) {
            let text = lengths.iter().map(|length| "a".repeat(*length)).collect::<Vec<_>>().join("\r").into_bytes();
            let cut = cut.min(text.len());
            let mut gauge = LineGauge::default();
            let split = [gauge.push(&text[..cut]), gauge.push(&text[cut..])];
            let whole = LineGauge::default().push(&text);
            prop_assert_eq!(split.contains(&true), whole);
            prop_assert_eq!(whole, lengths.iter().any(|length| *length > TERMINAL_LINE_BYTES_MAX));
        }
    }
}
