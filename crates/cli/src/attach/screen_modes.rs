//! What a program has switched on in the caller's terminal, so that it can be switched off when the person leaves.
//!
//! A program that is left while it shows a full screen never gets to tidy up. So its output is watched for the modes that outlive it:
//! alternate screen, hidden cursor, mouse reports, bracketed paste, keyboard protocols (xterm's control sequences).

use crannog_core::escape::{Kind, Piece, Scanner};
use crannog_core::utf8::Decoder;

/// Private modes (`CSI ? N h`) that are off in an ordinary shell.
const OFF_BY_DEFAULT: [u16; 16] = [1, 5, 9, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 47, 1047, 1049];
/// Private modes that are on in an ordinary shell: wrapping, and the cursor.
const ON_BY_DEFAULT: [u16; 2] = [7, 25];
/// The modes of the alternate screen.
const ALTERNATE: [u16; 3] = [47, 1047, 1049];
/// Nesting of the keyboard protocol that is undone; terminals keep fewer.
const KEYBOARD_LEVELS_MAX: u32 = 16;

/// Watches output, split anywhere.
#[derive(Debug, Default)]
pub(crate) struct ScreenModes {
    decoder: Decoder,
    scanner: Scanner,
    modes: Modes,
}

/// What is not as in an ordinary shell.
#[derive(Debug, Default)]
struct Modes {
    changed: Vec<u16>,
    keypad: bool,
    keyboard_levels: u32,
    other_keys: bool,
    scroll_region: bool,
    cursor_style: bool,
}

impl ScreenModes {
    /// Takes output.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let mut text = String::with_capacity(bytes.len());
        self.decoder.decode(bytes, &mut text);
        self.scanner.scan(&text, |piece| match piece {
            Piece::Sequence { kind: Kind::Csi, body } => self.modes.control(body),
            Piece::Sequence { kind: Kind::Short, body } => self.modes.short(body),
            _ => {}
        });
    }

    /// The alternate screen is shown.
    pub(crate) fn is_alternate(&self) -> bool {
        self.modes.changed.iter().any(|mode| ALTERNATE.contains(mode))
    }

    /// The bytes that bring a terminal from what a shell expects to these modes, as far as that can be told from outside.
    pub(crate) fn set(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for mode in &self.modes.changed {
            let letter = if ON_BY_DEFAULT.contains(mode) { 'l' } else { 'h' };
            bytes.extend(format!("\x1b[?{mode}{letter}").bytes());
        }
        if self.modes.keypad {
            bytes.extend(b"\x1b=");
        }
        bytes
    }

    /// The bytes that bring the terminal back to what a shell expects, colours and character set included.
    pub(crate) fn restore(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.modes.keyboard_levels > 0 {
            bytes.extend(format!("\x1b[<{}u", self.modes.keyboard_levels).bytes());
        }
        if self.modes.other_keys {
            bytes.extend(b"\x1b[>4m");
        }
        if self.modes.keypad {
            bytes.extend(b"\x1b>");
        }
        if self.modes.scroll_region {
            // Setting the region moves the cursor home; it is put back.
            bytes.extend(b"\x1b7\x1b[r\x1b8");
        }
        for mode in &self.modes.changed {
            let letter = if ON_BY_DEFAULT.contains(mode) { 'h' } else { 'l' };
            bytes.extend(format!("\x1b[?{mode}{letter}").bytes());
        }
        if self.modes.cursor_style {
            bytes.extend(b"\x1b[0 q");
        }
        bytes.extend(b"\x1b(B\x1b[0m");
        bytes
    }
}

impl Modes {
    fn short(&mut self, body: &[u8]) {
        match body {
            b"=" => self.keypad = true,
            b">" => self.keypad = false,
            // A full reset.
            b"c" => *self = Self::default(),
            _ => {}
        }
    }

    fn control(&mut self, body: &[u8]) {
        let Some((last, parameters)) = body.split_last() else { return };
        match (parameters, last) {
            ([b'?', modes @ ..], b'h' | b'l') => self.private_modes(modes, *last == b'h'),
            ([b'>', ..], b'u') => self.keyboard_levels = (self.keyboard_levels + 1).min(KEYBOARD_LEVELS_MAX),
            ([b'<', levels @ ..], b'u') => self.keyboard_levels = self.keyboard_levels.saturating_sub(number(levels).max(1).into()),
            ([b'>', b'4', ..], b'm') => self.other_keys = !matches!(parameters, b">4" | b">4;0"),
            (_, b'r') if parameters.iter().all(|byte| byte.is_ascii_digit() || *byte == b';') => {
                self.scroll_region = !parameters.is_empty();
            }
            ([.., b' '], b'q') => self.cursor_style = !matches!(parameters, b" " | b"0 "),
            _ => {}
        }
    }

    fn private_modes(&mut self, parameters: &[u8], on: bool) {
        for mode in parameters.split(|byte| *byte == b';').map(number) {
            let changed = if on { OFF_BY_DEFAULT.contains(&mode) } else { ON_BY_DEFAULT.contains(&mode) };
            self.changed.retain(|known| *known != mode);
            if changed {
                self.changed.push(mode);
            }
        }
    }
}

/// The number that `digits` say; 0 when they say none that a terminal would take.
fn number(digits: &[u8]) -> u16 {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::ScreenModes;

    fn restored(output: &[u8]) -> String {
        let mut modes = ScreenModes::default();
        modes.feed(output);
        String::from_utf8_lossy(&modes.restore()).into_owned()
    }

    #[test]
    fn what_was_switched_on_is_switched_off() {
        let editor = b"\x1b[?1049h\x1b[?1h\x1b=\x1b[1;40r\x1b[?25l\x1b[?1000;1006h\x1b[>1u\x1b[2 q";
        assert_eq!(
            restored(editor),
            "\x1b[<1u\x1b>\x1b7\x1b[r\x1b8\x1b[?1049l\x1b[?1l\x1b[?25h\x1b[?1000l\x1b[?1006l\x1b[0 q\x1b(B\x1b[0m"
        );
    }

    #[test]
    fn what_a_program_tidied_itself_is_left_alone() {
        let tidy = b"\x1b[?1049h\x1b[?25lx\x1b[>1u\x1b[>4;2m\x1b[>4m\x1b[<u\x1b[r\x1b[ q\x1b[?25h\x1b[?1049l";
        assert_eq!(restored(tidy), "\x1b(B\x1b[0m");
        assert_eq!(restored(b"\x1b[?1049h\x1bc"), "\x1b(B\x1b[0m", "a full reset");
        assert_eq!(restored(b"\x1b]0;\x1b[?title\x07\x1b]2;[?25l\x1b\\"), "\x1b(B\x1b[0m", "a title");
    }

    #[test]
    fn sequences_may_be_split_anywhere() {
        let output = b"\x1b[?1049h\x1b]0;t\x1b\\\x1b[?25l\x1b[?2004h";
        let whole = restored(output);
        for cut in 0..output.len() {
            let mut modes = ScreenModes::default();
            modes.feed(&output[..cut]);
            modes.feed(&output[cut..]);
            assert_eq!(String::from_utf8_lossy(&modes.restore()), whole, "cut at {cut}");
            assert!(modes.is_alternate());
        }
    }

    #[test]
    fn modes_can_be_set_again() {
        let mut modes = ScreenModes::default();
        modes.feed(b"\x1b[?1049h\x1b[?25lsome text\x1b[?2004h\x1b=\x1b[?25h");
        assert_eq!(String::from_utf8_lossy(&modes.set()), "\x1b[?1049h\x1b[?2004h\x1b=");
        let mut again = ScreenModes::default();
        again.feed(&modes.set());
        assert_eq!(again.restore(), modes.restore());
    }

    #[test]
    fn an_endless_sequence_is_bounded_and_ignored() {
        let mut output = b"\x1b[?25;".to_vec();
        output.extend(std::iter::repeat_n(b'1', 100_000));
        output.push(b'l');
        assert_eq!(restored(&output), "\x1b(B\x1b[0m");
    }
}
