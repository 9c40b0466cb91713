//! Finds what programs ask of their terminal in what they print.
//!
//! The grammar is that of [`crannog_core::escape`]. This scanner works on bytes, costs one search for ESC where there is none, and keeps
//! only what it needs: few bytes of a sequence, and by which of its two ends an OSC was ended, since it is answered with the same one.

const ESC: u8 = 0x1B;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1A;

/// Bytes of a sequence that are kept. A longer one is no question.
const BODY_BYTES_MAX: usize = 32;

/// A question that the guest answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Query {
    /// `CSI 5 n`: are you there.
    Status,
    /// `CSI 6 n`, and `CSI ? 6 n` if extended.
    CursorPosition { extended: bool },
    /// `CSI c`: what are you.
    PrimaryAttributes,
    /// `CSI > c`: what version are you.
    SecondaryAttributes,
    /// `OSC 10 ; ?` (text), `11` (background) or `12` (cursor).
    Colour { which: u8, bell: bool },
    /// `CSI ? N $ p`, and `CSI N $ p` if not private: is this mode set.
    Mode { number: u16, private: bool },
    /// `CSI 18 t`: how large are you.
    TextArea,
}

/// What was met, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    /// Text, or a sequence that changes something.
    Output,
    /// The alternate screen was switched on or off; also output.
    Alternate(bool),
    /// A question that is answered.
    Asked(Query),
    /// A question that nobody answers here.
    AskedOther,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    Escape,
    /// Behind ESC and an intermediate.
    Short,
    Csi,
    /// In a string, and behind ESC in one. The opener tells them apart.
    String(u8),
    StringEscape(u8),
}

/// Keeps at most one unfinished sequence between pieces of output.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    state: State,
    body: Vec<u8>,
    is_long: bool,
}

impl Scanner {
    /// Takes the next piece of output.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Met)) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if self.state == State::Text {
                let end = memchr::memchr(ESC, rest).unwrap_or(rest.len());
                if end > 0 {
                    each(Met::Output);
                }
                let Some(behind) = rest.get(end + 1..) else { return };
                self.begin();
                rest = behind;
            } else {
                self.advance(*first, &mut each);
                rest = &rest[1..];
            }
        }
    }

    fn begin(&mut self) {
        self.state = State::Escape;
        self.body.clear();
        self.is_long = false;
    }

    fn advance(&mut self, byte: u8, each: &mut impl FnMut(Met)) {
        match (self.state, byte) {
            (_, CAN | SUB) => self.end(Met::Output, each),
            (State::String(b']'), BEL) => self.end_string(b']', true, each),
            (State::String(opener), ESC) => self.state = State::StringEscape(opener),
            (State::String(_), _) => self.keep(byte),
            (State::StringEscape(opener), b'\\') => self.end_string(opener, false, each),
            (State::StringEscape(_), _) => {
                // Not the end of the string: the ESC has aborted it and begins a sequence of its own.
                each(Met::Output);
                self.begin();
                self.advance(byte, each);
            }
            (_, ESC) => {
                each(Met::Output);
                self.begin();
            }
            // A control character inside a sequence acts by itself.
            (_, 0..0x20) => each(Met::Output),
            (State::Escape, b'[') => self.state = State::Csi,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => self.state = State::String(byte),
            (State::Csi, 0x20..=0x3F) => self.keep(byte),
            (State::Csi, 0x40..=0x7E) => {
                self.keep(byte);
                let met = if self.is_long { Met::Output } else { control(&self.body) };
                self.end(met, each);
            }
            (State::Escape | State::Short, 0x20..=0x2F) => self.state = State::Short,
            (_, 0x7F) => {}
            // The end of a short sequence, or a byte that can't be in one and is text.
            _ => self.end(Met::Output, each),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.body.len() < BODY_BYTES_MAX {
            self.body.push(byte);
        } else {
            self.is_long = true;
        }
    }

    fn end(&mut self, met: Met, each: &mut impl FnMut(Met)) {
        self.state = State::Text;
        each(met);
    }

    fn end_string(&mut self, opener: u8, bell: bool, each: &mut impl FnMut(Met)) {
        let met = match (opener, self.body.as_slice()) {
            (b']', b"10;?") => Met::Asked(Query::Colour { which: 10, bell }),
            (b']', b"11;?") => Met::Asked(Query::Colour { which: 11, bell }),
            (b']', b"12;?") => Met::Asked(Query::Colour { which: 12, bell }),
            (b']', body) if !self.is_long && body.ends_with(b";?") => Met::AskedOther,
            // A setting or a terminfo entry is asked for.
            (b'P', [b'$' | b'+', b'q', ..]) => Met::AskedOther,
            _ => Met::Output,
        };
        self.end(met, each);
    }
}

/// What a control sequence is.
fn control(body: &[u8]) -> Met {
    match body {
        b"5n" => Met::Asked(Query::Status),
        b"6n" => Met::Asked(Query::CursorPosition { extended: false }),
        b"?6n" => Met::Asked(Query::CursorPosition { extended: true }),
        b"c" | b"0c" => Met::Asked(Query::PrimaryAttributes),
        b">c" | b">0c" => Met::Asked(Query::SecondaryAttributes),
        b"18t" => Met::Asked(Query::TextArea),
        b"=c" | b"=0c" | b">q" | b">0q" | b"?u" | [b'?', .., b'n'] | [b'1', b'0'..=b'9', b't'] | b"20t" | b"21t" => Met::AskedOther,
        [b'?', digits @ .., b'$', b'p'] => mode(digits, true),
        [digits @ .., b'$', b'p'] => mode(digits, false),
        b"?1049h" | b"?1047h" | b"?47h" => Met::Alternate(true),
        b"?1049l" | b"?1047l" | b"?47l" => Met::Alternate(false),
        _ => Met::Output,
    }
}

fn mode(digits: &[u8], private: bool) -> Met {
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    number.map_or(Met::Output, |number| Met::Asked(Query::Mode { number, private }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BODY_BYTES_MAX, Met, Query, Scanner};

    /// What is met, runs of output taken as one: how they are cut is nobody's business.
    fn scan<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Met> {
        let (mut scanner, mut met) = (Scanner::default(), Vec::new());
        for piece in pieces {
            scanner.feed(piece, |next| met.push(next));
        }
        assert!(scanner.body.len() <= BODY_BYTES_MAX);
        met.dedup_by(|next, last| *next == Met::Output && *last == Met::Output);
        met
    }

    #[test]
    fn questions_are_told_apart() {
        let position = Met::Asked(Query::CursorPosition { extended: false });
        let cases: &[(&[u8], &[Met])] = &[
            (b"text", &[Met::Output]),
            (b"\x1b[6n", &[position]),
            (b"x\x1b[6n\x1b[0c", &[Met::Output, position, Met::Asked(Query::PrimaryAttributes)]),
            (b"\x1b[>c\x1b[?6n", &[Met::Asked(Query::SecondaryAttributes), Met::Asked(Query::CursorPosition { extended: true })]),
            (b"\x1b]11;?\x07", &[Met::Asked(Query::Colour { which: 11, bell: true })]),
            (b"\x1b]10;?\x1b\\", &[Met::Asked(Query::Colour { which: 10, bell: false })]),
            (b"\x1b]11;#000000\x07", &[Met::Output]),
            (b"\x1b]4;1;?\x07\x1bP+q544e\x1b\\\x1b[?u", &[Met::AskedOther, Met::AskedOther, Met::AskedOther]),
            (b"\x1b[?2026$p", &[Met::Asked(Query::Mode { number: 2026, private: true })]),
            (b"\x1b[?1049h\x1b[18t", &[Met::Alternate(true), Met::Asked(Query::TextArea)]),
            (b"\x1b[6\x18n", &[Met::Output]),
            (b"\x1b]0;x\x1b[6n", &[Met::Output, position]),
            (b"\x1b[6", &[]),
            (b"\x1b(B\x1b[1m", &[Met::Output]),
        ];
        for (output, met) in cases {
            assert_eq!(scan([*output]), *met, "{}", output.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn any_split_meets_the_same(parts in prop::collection::vec(prop::sample::select(vec![
            &b"\x1b"[..], b"[", b"]", b"P", b"\\", b"\x07", b"\x18", b"6n", b"?", b"c", b"10;?", b"$p", b"+q", b"1049h", b"x", b"\x7f", b"\xc3",
            b"00000000000000000000000000000000000000",
        ]), 0..40)) {
            let whole = parts.concat();
            prop_assert_eq!(scan(parts), scan([whole.as_slice()]));
            prop_assert_eq!(scan(whole.chunks(1)), scan([whole.as_slice()]));
        }
    }
}
