//! What a person sees first: the end of what was printed before they came, made harmless.
//!
//! Old output must not act again. A question to the terminal in it would be answered into the program's input, long after it was asked.
//! So only text and colours are shown again. A program that fills the screen is not shown its old output but made to draw anew.

use crannog::{Part, ProcessId, Sandbox, limits};
use crannog_core::escape::{Kind, Piece, Scanner};

use super::screen_modes::ScreenModes;
use crate::failure::Failure;

/// Bytes of the transcript's end that are searched for modes a program has set.
const SEARCHED_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Bytes of it that are shown again: some screens full.
const SHOWN_BYTES_MAX: usize = 16 * 1024;

/// What to begin with.
#[derive(Debug)]
pub(crate) struct Replay {
    /// To be drawn.
    pub(crate) bytes: Vec<u8>,
    /// The modes that the program has set in its terminal, which `bytes` set in ours.
    pub(crate) modes: ScreenModes,
    /// The program fills the screen and has to be asked to draw it.
    pub(crate) redraw: bool,
    /// Offset to follow from.
    pub(crate) next: u64,
}

impl Replay {
    /// Reads the end of a transcript.
    pub(crate) async fn read(sandbox: &Sandbox, process: ProcessId) -> Result<Self, Failure> {
        let total = sandbox.process(process).await?.output_bytes;
        let mut next = total.saturating_sub(SEARCHED_BYTES_MAX);
        let mut searched = Vec::new();
        while next < total {
            let part = sandbox.read(process, next, limits::READ_REPLY_BYTES_MAX, None).await?;
            if part.next == next {
                break;
            }
            searched.extend(part.parts.into_iter().flat_map(|Part { bytes, .. }| bytes));
            next = part.next;
        }
        Ok(Self::of(&searched, next))
    }

    fn of(searched: &[u8], next: u64) -> Self {
        let mut modes = ScreenModes::default();
        modes.feed(searched);
        let redraw = modes.is_alternate();
        let mut bytes = modes.set();
        if redraw {
            bytes.extend(b"\x1b[2J\x1b[H");
        } else {
            bytes.extend(harmless(last_lines(searched)).bytes());
        }
        Self { bytes, modes, redraw, next }
    }
}

/// The end, from the beginning of a line on if it has one.
fn last_lines(searched: &[u8]) -> &[u8] {
    let from = searched.len().saturating_sub(SHOWN_BYTES_MAX);
    let end = &searched[from..];
    if from == 0 {
        return end;
    }
    end.iter().position(|byte| *byte == b'\n').map_or(end, |line| &end[line + 1..])
}

/// Text and colours alone.
fn harmless(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    Scanner::new().scan(&String::from_utf8_lossy(bytes), |piece| match piece {
        Piece::Text(text) => shown.extend(text.chars().filter(|character| is_harmless(*character))),
        Piece::Sequence { kind: Kind::Csi, body } if is_colour(body) => {
            shown.push_str("\x1b[");
            shown.push_str(&String::from_utf8_lossy(body));
        }
        Piece::Sequence { .. } => {}
    });
    shown
}

/// Not a control character, U+0080 to U+009F included, or one that only moves in the text.
fn is_harmless(character: char) -> bool {
    !character.is_control() || matches!(character, '\n' | '\r' | '\t' | '\u{8}')
}

fn is_colour(body: &[u8]) -> bool {
    let parameters = body.strip_suffix(b"m");
    parameters.is_some_and(|parameters| parameters.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':')))
}

#[cfg(test)]
mod tests {
    use super::{Replay, SHOWN_BYTES_MAX, harmless};

    #[test]
    fn questions_to_the_terminal_are_not_asked_again() {
        let asked = b"a\x1b[6nb\x1b]11;?\x07c\x1b[cd\x1bP+q544e\x1b\\e\x1b(Bf\x05g\xc2\x9b6nh\r\n";
        assert_eq!(harmless(asked), "abcdefg6nh\r\n");
    }

    #[test]
    fn text_and_colours_stay() {
        let text = "\x1b[1;38;2;1;2;3mgr\u{fc}n\x1b[0m\ttab\r\n\u{1f389}";
        assert_eq!(harmless(text.as_bytes()), text);
        assert_eq!(harmless(b"x\x1b[>4;2my\x1b["), "xy", "not a colour, and one that does not end");
    }

    #[test]
    fn a_long_past_begins_at_a_line() {
        let line = "0123456789\n".repeat(SHOWN_BYTES_MAX);
        let replay = Replay::of(line.as_bytes(), 7);
        assert!(replay.bytes.starts_with(b"0123456789\n") && replay.bytes.len() <= SHOWN_BYTES_MAX);
        assert_eq!((replay.next, replay.redraw), (7, false));
    }

    #[test]
    fn a_full_screen_program_is_made_to_draw() {
        let replay = Replay::of(b"old\x1b[?1049hscreen", 20);
        assert!(replay.redraw);
        assert_eq!(replay.bytes, b"\x1b[?1049h\x1b[2J\x1b[H");
    }
}
