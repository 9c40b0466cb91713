//! UTF-8 that arrives in pieces: which bytes at the end of a piece must wait for the next one, decoding with replacement whatever
//! the split, and measuring a stream without building its text.
//!
//! Ill-formed input becomes one U+FFFD for each maximal subpart (Unicode standard, chapter 3.9), the rule of
//! [`String::from_utf8_lossy`]. The decoded text of a stream therefore depends on its bytes alone, never on how reads cut it.

mod chunks;
mod decoder;
mod measure;

pub use decoder::Decoder;
pub use measure::{Measure, Measured};

/// Longest sequence that can be incomplete: a scalar has four bytes at most.
pub const PENDING_BYTES_MAX: usize = 3;

/// Bytes at the end of `bytes` that begin a scalar and do not complete it: 0 to 3. The next piece may complete them, so they are
/// to be carried over to it. A tail that no further byte can make well-formed is not carried.
pub fn incomplete_suffix_len(bytes: &[u8]) -> usize {
    let continuations = bytes.iter().rev().take(PENDING_BYTES_MAX).take_while(|byte| is_continuation(**byte)).count();
    let Some((lead, tail)) = bytes.len().checked_sub(continuations + 1).and_then(|start| bytes[start..].split_first()) else {
        return 0;
    };
    let expected = match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return 0,
    };
    // Overlong forms, surrogates and values past U+10FFFF are refused by the second byte already (RFC 3629, section 4).
    let possible = match (lead, tail.first()) {
        (0xE0, Some(second)) => *second >= 0xA0,
        (0xED, Some(second)) => *second <= 0x9F,
        (0xF0, Some(second)) => *second >= 0x90,
        (0xF4, Some(second)) => *second <= 0x8F,
        _ => true,
    };
    if possible && continuations + 1 < expected { continuations + 1 } else { 0 }
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The bytes of an incomplete scalar. They are always a proper prefix of a well-formed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Pending {
    bytes: [u8; PENDING_BYTES_MAX],
    len: u8,
}

impl Pending {
    /// What stays pending after `history`.
    fn after(history: &[u8]) -> Self {
        let tail = &history[history.len() - incomplete_suffix_len(history)..];
        let mut pending = Self::default();
        for byte in tail {
            pending.push(*byte);
        }
        pending
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn push(&mut self, byte: u8) {
        self.bytes[usize::from(self.len)] = byte;
        self.len += 1;
    }

    /// Takes bytes of `piece` until the pending scalar is decided. Answers it (U+FFFD when it turned out ill-formed) and the rest
    /// of `piece`, which then starts at a boundary.
    fn complete<'a>(&mut self, mut piece: &'a [u8]) -> (Option<char>, &'a [u8]) {
        while self.len > 0 {
            let Some((next, rest)) = piece.split_first() else { break };
            let mut joined = [0; PENDING_BYTES_MAX + 1];
            let len = usize::from(self.len);
            joined[..len].copy_from_slice(self.as_slice());
            joined[len] = *next;
            match std::str::from_utf8(&joined[..=len]) {
                Ok(text) => {
                    *self = Self::default();
                    return (text.chars().next(), rest);
                }
                Err(error) if error.error_len().is_none() => {
                    self.push(*next);
                    piece = rest;
                }
                Err(_) => {
                    // `next` cannot continue what is pending, so it starts something of its own.
                    *self = Self::default();
                    return (Some(char::REPLACEMENT_CHARACTER), piece);
                }
            }
        }
        (None, piece)
    }
}

#[cfg(test)]
mod tests {
    use super::incomplete_suffix_len;

    #[test]
    fn a_tail_that_cannot_become_well_formed_is_not_carried() {
        assert_eq!(incomplete_suffix_len(b"a\xE2\x82"), 2);
        assert_eq!(incomplete_suffix_len(b"a\xF0\x9F\x98"), 3);
        assert_eq!(incomplete_suffix_len(b"a\xED\xA0"), 0);
        assert_eq!(incomplete_suffix_len(b"\x80\x80\x80\x80"), 0);
        assert_eq!(incomplete_suffix_len(b"\x80"), 0);
    }
}
