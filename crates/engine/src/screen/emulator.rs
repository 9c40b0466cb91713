//! The terminal emulator: output goes in, a picture can be looked at.
//!
//! What goes in is chosen by whoever runs in the sandbox. A fault of the emulator must not take down the guest, which serves others: it is
//! caught, and the emulator is of no more use.

use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crannog_core::limits;
use crannog_core::process::TerminalSize;
use crannog_core::screen::Cursor;
use vt100::{MouseProtocolEncoding, MouseProtocolMode, Parser, Screen};

/// The emulator met a fault of its own. It is to be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the terminal emulator failed on this output")]
pub struct EmulatorFault;

/// A terminal that nobody sees. Takes 32 bytes for each cell and each cell of the lines that scrolled off.
pub struct Emulator {
    parser: Parser<Title>,
    size: TerminalSize,
}

/// What the emulator itself does not keep.
#[derive(Debug, Default)]
struct Title(String);

impl Title {
    fn set<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]>) {
        let bytes = pieces.collect::<Vec<_>>().join(&b';');
        self.0 = String::from_utf8_lossy(&bytes).chars().filter(|character| !character.is_control()).collect();
        self.0.truncate(self.0.floor_char_boundary(limits::SCREEN_TITLE_BYTES_MAX));
    }
}

impl vt100::Callbacks for Title {
    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.set(std::iter::once(title));
    }

    /// A title with semicolons arrives here, cut at them.
    fn unhandled_osc(&mut self, _: &mut Screen, parameters: &[&[u8]]) {
        if let [b"0" | b"2", title @ ..] = parameters {
            self.set(title.iter().copied());
        }
    }
}

impl Emulator {
    /// An empty screen, its cursor at the top left. A side of zero counts as one.
    pub fn new(size: TerminalSize) -> Self {
        let at_least_one = |cells| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
        let cells_of_line = usize::from(size.columns).max(1);
        let lines = (limits::SCREEN_SCROLLBACK_LINES_MAX as usize).min(limits::SCREEN_CELLS_MAX / cells_of_line);
        Self { parser: Parser::new_with_callbacks(at_least_one(size.rows), at_least_one(size.columns), lines, Title::default()), size }
    }

    /// Takes output, split anywhere.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), EmulatorFault> {
        // What a caught fault leaves behind is dropped by the caller and never looked at.
        catch_unwind(AssertUnwindSafe(|| self.parser.process(bytes))).map_err(|_| EmulatorFault)
    }

    /// The size it was made for.
    pub fn size(&self) -> TerminalSize {
        self.size
    }

    /// The text of each row without the blanks at its end, from the top.
    pub fn rows(&self) -> Result<Vec<String>, EmulatorFault> {
        let screen = self.parser.screen();
        let rows = || screen.rows(0, self.size.columns).map(without_blanks).collect();
        catch_unwind(AssertUnwindSafe(rows)).map_err(|_| EmulatorFault)
    }

    /// Lines that scrolled off the top and are kept.
    pub fn scrollback_len(&self) -> usize {
        self.parser.screen().scrollback_len()
    }

    /// At most `count` of those lines, the lowest `skip` left out, from the top.
    pub fn scrollback(&mut self, skip: usize, count: usize) -> Result<Vec<String>, EmulatorFault> {
        let (len, columns, page) = (self.scrollback_len(), self.size.columns, usize::from(self.size.rows).max(1));
        let end = len.saturating_sub(skip);
        let mut next = end.saturating_sub(count);
        let screen = self.parser.screen_mut();
        let read = || {
            let mut lines = Vec::with_capacity(end - next);
            while next < end {
                screen.set_scrollback(len - next);
                lines.extend(screen.rows(0, columns).take(page.min(end - next)).map(without_blanks));
                next += page;
            }
            screen.set_scrollback(0);
            lines
        };
        catch_unwind(AssertUnwindSafe(read)).map_err(|_| EmulatorFault)
    }

    /// The cursor.
    pub fn cursor(&self) -> Cursor {
        let screen = self.parser.screen();
        let (row, column) = screen.cursor_position();
        Cursor { row, column, visible: !screen.hide_cursor() }
    }

    /// The window title; empty without one.
    pub fn title(&self) -> &str {
        &self.parser.callbacks().0
    }

    /// The alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// Whether a private mode (`CSI ? N h`) is set; `None` for one that is not known here.
    pub fn mode(&self, number: u16) -> Option<bool> {
        let screen = self.parser.screen();
        let (mouse, encoding) = (screen.mouse_protocol_mode(), screen.mouse_protocol_encoding());
        Some(match number {
            1 => screen.application_cursor(),
            9 => mouse == MouseProtocolMode::Press,
            25 => !screen.hide_cursor(),
            47 | 1047 | 1049 => screen.alternate_screen(),
            66 => screen.application_keypad(),
            1000 => mouse == MouseProtocolMode::PressRelease,
            1002 => mouse == MouseProtocolMode::ButtonMotion,
            1003 => mouse == MouseProtocolMode::AnyMotion,
            1005 => encoding == MouseProtocolEncoding::Utf8,
            1006 => encoding == MouseProtocolEncoding::Sgr,
            2004 => screen.bracketed_paste(),
            _ => return None,
        })
    }
}

impl std::fmt::Debug for Emulator {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Emulator").field("size", &self.size).finish_non_exhaustive()
    }
}

fn without_blanks(mut row: String) -> String {
    row.truncate(row.trim_end_matches(' ').len());
    row
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crannog_core::process::TerminalSize;
    use proptest::prelude::*;

    use super::Emulator;

    fn emulator(rows: u16, columns: u16, output: &str) -> Emulator {
        let mut emulator = Emulator::new(TerminalSize { rows, columns });
        emulator.feed(output.as_bytes()).unwrap();
        emulator
    }

    #[test]
    fn titles_may_hold_semicolons_and_wide_characters_two_columns() {
        let emulator = emulator(2, 10, "\x1b]2;a;b\x07\u{4e2d}x  ");
        assert_eq!(emulator.title(), "a;b");
        assert_eq!(emulator.rows().unwrap(), ["\u{4e2d}x", ""]);
        assert_eq!((emulator.cursor().row, emulator.cursor().column), (0, 5));
    }

    #[test]
    fn lines_that_scrolled_off_are_counted_from_the_screen_upwards() {
        let output = (0..20).fold(String::new(), |output, number| output + &format!("line {number}\r\n"));
        let mut emulator = emulator(4, 20, &output);
        assert_eq!(emulator.scrollback_len(), 17);
        assert_eq!(emulator.scrollback(0, 2).unwrap(), ["line 15", "line 16"]);
        assert_eq!(emulator.scrollback(10, 100).unwrap().len(), 7);
        assert_eq!(emulator.scrollback(2, 9).unwrap()[0], "line 6");
        assert_eq!(emulator.scrollback(99, 9).unwrap(), Vec::<String>::new());
        assert_eq!(emulator.rows().unwrap(), ["line 17", "line 18", "line 19", ""]);
    }

    #[test]
    fn modes_are_known() {
        let emulator = emulator(3, 9, "\x1b[?1049h\x1b[?25l\x1b[?1006h");
        let modes = [1049, 25, 1006, 2004, 2026].map(|number| emulator.mode(number));
        assert_eq!(modes, [Some(true), Some(false), Some(true), Some(false), None]);
        assert!(emulator.is_alternate());
    }

    proptest! {
        #[test]
        fn whatever_comes_is_survived(rows in 1_u16..6, columns in 1_u16..6, pieces in prop::collection::vec(prop::collection::vec(
            prop_oneof![prop::sample::select(b"\x1b[]?;0123456789hlHJKLMPSTXABCDEFGr@b\r\n\x07\x08\t".to_vec()), any::<u8>()], 0..30), 0..10))
        {
            let mut emulator = Emulator::new(TerminalSize { rows, columns });
            for piece in &pieces {
                // A fault is an answer; a panic or an abort would be none.
                if emulator.feed(piece).is_err() {
                    return Ok(());
                }
            }
            prop_assert_eq!(emulator.rows().map_or(usize::from(rows), |shown| shown.len()), usize::from(rows));
        }
    }
}
