//! Terminal escape sequences in a text that arrives in pieces: found, told apart and, if wished, taken out.
//!
//! The grammar is that of ECMA-48 as terminals read it (xterm's control sequences, DEC STD 070): `ESC [` … final byte, strings
//! opened by `ESC ]`, `P`, `X`, `^` or `_` and ended by `ESC \` (an OSC also by BEL), and short sequences with optional
//! intermediates such as charset choices. CAN and SUB abort a sequence, and control characters inside a CSI act as if they stood
//! before it. Eight-bit controls are not looked for: in UTF-8 they are rare, and text is not to be swallowed by mistake.

use memchr::memchr;

/// Bytes of a sequence that are kept; the rest of a longer one is passed over.
pub const SEQUENCE_BYTES_MAX: usize = 4096;

const ESC: u8 = 0x1B;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1A;

/// What a sequence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `ESC [` parameters, intermediates and a final byte, all in the body.
    Csi,
    /// `ESC ]` string; the body is the string.
    Osc,
    /// `ESC P` string.
    Dcs,
    /// A string that terminals ignore: SOS, PM or APC.
    Ignored,
    /// `ESC`, intermediates and a final byte, the latter two in the body.
    Short,
}

/// A piece of a scanned text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text outside sequences, in pieces as it came.
    Text(&'a str),
    /// A complete sequence.
    Sequence {
        /// What it is.
        kind: Kind,
        /// What it says, at most [`SEQUENCE_BYTES_MAX`] bytes.
        body: &'a [u8],
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    /// Behind ESC.
    Escape,
    /// Behind ESC and an intermediate.
    Intermediate,
    Csi,
    String(Kind),
    /// Behind ESC inside a string.
    StringEscape(Kind),
}

/// A scanner that keeps at most one unfinished sequence between pieces.
#[derive(Debug, Clone, Default)]
pub struct Scanner {
    state: State,
    body: Vec<u8>,
}

impl Scanner {
    /// A scanner at the start of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Scans the next piece of the text and hands out what it holds, in order.
    pub fn scan(&mut self, text: &str, mut each: impl FnMut(Piece<'_>)) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Text {
                let end = memchr(ESC, rest.as_bytes()).unwrap_or(rest.len());
                let (before, after) = rest.split_at(end);
                if !before.is_empty() {
                    each(Piece::Text(before));
                }
                let Some(behind) = after.strip_prefix('\u{1b}') else { return };
                self.begin();
                rest = behind;
            } else {
                rest = self.advance(rest, &mut each);
            }
        }
    }

    /// Appends to `out` the next piece of the text without its sequences.
    pub fn strip(&mut self, text: &str, out: &mut String) {
        self.scan(text, |piece| {
            if let Piece::Text(text) = piece {
                out.push_str(text);
            }
        });
    }

    fn begin(&mut self) {
        self.state = State::Escape;
        self.body.clear();
    }

    /// Takes one character of a sequence. Answers what is left of `rest`.
    fn advance<'a>(&mut self, rest: &'a str, each: &mut impl FnMut(Piece<'_>)) -> &'a str {
        let mut characters = rest.chars();
        let character = characters.next().unwrap_or_default();
        let behind = characters.as_str();
        // Beyond ASCII nothing has a meaning; inside a string it is content.
        let byte = u8::try_from(character).ok().filter(u8::is_ascii);
        match (self.state, byte) {
            (_, Some(CAN | SUB)) => self.state = State::Text,
            (State::String(kind), Some(ESC)) => self.state = State::StringEscape(kind),
            (State::String(Kind::Osc), Some(BEL)) => self.finish(Kind::Osc, each),
            (State::String(_), _) => character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| self.keep(byte)),
            (State::StringEscape(kind), Some(b'\\')) => self.finish(kind, each),
            (State::StringEscape(_), _) => {
                // Not the end of the string, so the ESC aborted it and began a sequence of its own.
                self.begin();
                return rest;
            }
            (_, Some(ESC)) => self.begin(),
            (_, Some(control)) if control < 0x20 => each(Piece::Text(&rest[..1])),
            (State::Escape, Some(opener @ (b'[' | b']' | b'P' | b'X' | b'^' | b'_'))) => self.state = opened_by(opener),
            (State::Csi, Some(byte @ 0x20..=0x3F)) => self.keep(byte),
            (State::Csi, Some(byte @ 0x40..=0x7E)) => {
                self.keep(byte);
                self.finish(Kind::Csi, each);
            }
            (State::Escape | State::Intermediate, Some(byte @ 0x20..=0x2F)) => {
                self.keep(byte);
                self.state = State::Intermediate;
            }
            (State::Escape | State::Intermediate, Some(byte @ 0x30..=0x7E)) => {
                self.keep(byte);
                self.finish(Kind::Short, each);
            }
            // DEL is ignored; a character that cannot be here aborts the sequence and is text.
            (_, Some(_)) => {}
            (_, None) => {
                self.state = State::Text;
                return rest;
            }
        }
        behind
    }

    fn keep(&mut self, byte: u8) {
        if self.body.len() < SEQUENCE_BYTES_MAX {
            self.body.push(byte);
        }
    }

    fn finish(&mut self, kind: Kind, each: &mut impl FnMut(Piece<'_>)) {
        self.state = State::Text;
        each(Piece::Sequence { kind, body: &self.body });
    }
}

const fn opened_by(opener: u8) -> State {
    match opener {
        b'[' => State::Csi,
        b']' => State::String(Kind::Osc),
        b'P' => State::String(Kind::Dcs),
        _ => State::String(Kind::Ignored),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Kind, Piece, SEQUENCE_BYTES_MAX, Scanner};

    type Case = (&'static str, &'static str, &'static [(Kind, &'static str)]);

    fn scan<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, Vec<(Kind, Vec<u8>)>) {
        let (mut scanner, mut text, mut sequences) = (Scanner::new(), String::new(), Vec::new());
        for piece in pieces {
            scanner.scan(piece, |piece| match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Sequence { kind, body } => sequences.push((kind, body.to_vec())),
            });
        }
        (text, sequences)
    }

    #[test]
    fn sequences_are_told_apart() {
        let cases: &[Case] = &[
            ("\x1b[1;31mred\x1b[0m", "red", &[(Kind::Csi, "1;31m"), (Kind::Csi, "0m")]),
            ("\x1b[?2004h$ ", "$ ", &[(Kind::Csi, "?2004h")]),
            ("\x1b]0;title\x07x", "x", &[(Kind::Osc, "0;title")]),
            ("\x1b]8;;http://a/é\x1b\\link\x1b]8;;\x1b\\", "link", &[(Kind::Osc, "8;;http://a/é"), (Kind::Osc, "8;;")]),
            ("\x1bP+q544e\x1b\\x", "x", &[(Kind::Dcs, "+q544e")]),
            ("\x1b_hidden\x1b\\x", "x", &[(Kind::Ignored, "hidden")]),
            ("\x1b(B\x1b=a", "a", &[(Kind::Short, "(B"), (Kind::Short, "=")]),
            ("\x1b[1\n2mx", "\nx", &[(Kind::Csi, "12m")]),
            ("\x1b[1\x18x", "x", &[]),
            ("\x1b]0;a\x1b[mx", "x", &[(Kind::Csi, "m")]),
            ("\x1b[1éx", "éx", &[]),
            ("a\x1b", "a", &[]),
        ];
        for (input, text, sequences) in cases {
            let sequences: Vec<_> = sequences.iter().map(|(kind, body)| (*kind, body.as_bytes().to_vec())).collect();
            assert_eq!(scan([*input]), ((*text).to_owned(), sequences), "{input:?}");
        }
    }

    #[test]
    fn an_endless_string_takes_bounded_memory() {
        let mut scanner = Scanner::new();
        scanner.scan("\x1b]0;", |_| ());
        for _ in 0..100 {
            scanner.scan(&"x".repeat(1_000), |piece| assert_eq!(piece, Piece::Text("")));
        }
        assert!(scanner.body.len() <= SEQUENCE_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn any_split_finds_the_same(parts in prop::collection::vec(prop::sample::select(vec![
            "\x1b", "[", "]", "P", "_", "\\", "\x07", "\x18", "\n", "0", ";", "m", "(", "B", "é", " ", "x", "\x7f",
        ]), 0..60)) {
            let whole = parts.concat();
            prop_assert_eq!(scan(parts), scan([whole.as_str()]));
        }
    }
}
