//! The keys that leave an attached process, found in a stream of typed bytes.

use crannog_core::keys::{self, KeysError};

/// Finds one key sequence in what is typed. Bytes that may begin it are held back until the next one decides.
#[derive(Debug, Clone)]
pub(crate) struct DetachKeys {
    sequence: Vec<u8>,
    held: Vec<u8>,
}

/// What to do with typed bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    /// Bytes for the process.
    pub(crate) forward: Vec<u8>,
    /// The sequence was typed; whatever came after it is dropped.
    pub(crate) detach: bool,
}

impl DetachKeys {
    /// Reads names of keys, such as `ctrl-] d`. `none` never detaches.
    pub(crate) fn parse(text: &str) -> Result<Self, KeysError> {
        Ok(Self::new(if text == "none" { Vec::new() } else { keys::parse(text)? }))
    }

    /// The keys as bytes; empty never detaches.
    pub(crate) fn new(sequence: Vec<u8>) -> Self {
        Self { sequence, held: Vec::new() }
    }

    /// Takes what was typed.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Typed {
        let mut forward = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.held.push(*byte);
            while !self.sequence.starts_with(&self.held) {
                forward.push(self.held.remove(0));
            }
            if !self.held.is_empty() && self.held == self.sequence {
                self.held.clear();
                return Typed { forward, detach: true };
            }
        }
        Typed { forward, detach: false }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{DetachKeys, Typed};

    fn typed(keys: &mut DetachKeys, chunks: &[&str]) -> (String, bool) {
        let mut all = String::new();
        for chunk in chunks {
            let Typed { forward, detach } = keys.feed(chunk.as_bytes());
            all.push_str(std::str::from_utf8(&forward).unwrap());
            if detach {
                return (all, true);
            }
        }
        (all, false)
    }

    #[test]
    fn the_sequence_is_found_across_chunks_and_nothing_of_it_is_forwarded() {
        for chunks in [&["ls\r\u{1d}dxx"][..], &["ls\r\u{1d}", "dxx"], &["ls", "\r", "\u{1d}", "d"]] {
            let mut keys = DetachKeys::parse("ctrl-] d").unwrap();
            assert_eq!(typed(&mut keys, chunks), ("ls\r".to_owned(), true), "{chunks:?}");
        }
    }

    #[test]
    fn a_false_start_is_forwarded_whole() {
        let mut keys = DetachKeys::new(b"aab".to_vec());
        assert_eq!(typed(&mut keys, &["a", "a", "a", "x"]), ("aaax".to_owned(), false));
        assert_eq!(typed(&mut keys, &["aaab"]), ("a".to_owned(), true));
    }

    #[test]
    fn without_a_sequence_everything_passes() {
        let mut keys = DetachKeys::parse("none").unwrap();
        assert_eq!(typed(&mut keys, &["\u{1d}d"]), ("\u{1d}d".to_owned(), false));
        assert!(DetachKeys::parse("").is_err());
        assert!(DetachKeys::parse("no-such-key").is_err());
    }
}
