//! The words of a terminal: those of a VT220 with colours, in xterm's form (xterm's control sequences; DEC STD 070).

use crannog_core::process::TerminalSize;

use super::scanner::Query;
use crate::screen::emulator::Emulator;

/// A VT220 (62) with ANSI colours (22).
const PRIMARY: &str = "\x1b[?62;22c";
/// A VT220 (1) of a version so low that programs expect no extensions of it.
const SECONDARY: &str = "\x1b[>1;10;0c";
/// Light text on black. Nobody sees the colours; programs choose theirs by the background being dark or not.
const TEXT: &str = "cccc/cccc/cccc";
const BACKGROUND: &str = "0000/0000/0000";
/// The mode of wrapping at the end of a line, which is always on.
const WRAPPING: u16 = 7;

/// Whether answering takes knowing what the screen shows.
pub(super) fn needs_screen(query: Query) -> bool {
    matches!(query, Query::CursorPosition { .. } | Query::Mode { .. })
}

/// Appends the answer. `screen` is there if one of the questions needs it.
pub(super) fn write(query: Query, size: TerminalSize, screen: Option<&Emulator>, out: &mut String) {
    let answer = match query {
        Query::Status => "\x1b[0n".to_owned(),
        Query::CursorPosition { extended } => {
            let cursor = screen.map(Emulator::cursor).unwrap_or_default();
            // Behind the last column is the last column, for who counts from 1.
            let (row, column) = (cursor.row + 1, (cursor.column + 1).min(size.columns));
            format!("\x1b[{}{row};{column}R", if extended { "?" } else { "" })
        }
        Query::PrimaryAttributes => PRIMARY.to_owned(),
        Query::SecondaryAttributes => SECONDARY.to_owned(),
        Query::Colour { which, bell } => {
            let colour = if which == 11 { BACKGROUND } else { TEXT };
            format!("\x1b]{which};rgb:{colour}{}", if bell { "\x07" } else { "\x1b\\" })
        }
        Query::Mode { number, private } => {
            // 0 is not known, 1 set, 2 reset, 3 always set.
            let state = match screen.filter(|_| private).and_then(|screen| screen.mode(number)) {
                Some(true) => 1,
                Some(false) => 2,
                None if private && number == WRAPPING => 3,
                None => 0,
            };
            format!("\x1b[{}{number};{state}$y", if private { "?" } else { "" })
        }
        Query::TextArea => format!("\x1b[8;{};{}t", size.rows, size.columns),
    };
    out.push_str(&answer);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crannog_core::process::TerminalSize;

    use super::{Query, write};
    use crate::screen::emulator::Emulator;

    #[test]
    fn answers_have_the_form_that_programs_expect() {
        let size = TerminalSize { rows: 5, columns: 9 };
        let mut screen = Emulator::new(size);
        screen.feed(b"\x1b[?2004h\x1b[3;1H123456789").unwrap();
        let cases = [
            (Query::Status, "\x1b[0n"),
            (Query::CursorPosition { extended: false }, "\x1b[3;9R"),
            (Query::CursorPosition { extended: true }, "\x1b[?3;9R"),
            (Query::Colour { which: 11, bell: true }, "\x1b]11;rgb:0000/0000/0000\x07"),
            (Query::Colour { which: 10, bell: false }, "\x1b]10;rgb:cccc/cccc/cccc\x1b\\"),
            (Query::Mode { number: 2004, private: true }, "\x1b[?2004;1$y"),
            (Query::Mode { number: 25, private: true }, "\x1b[?25;1$y"),
            (Query::Mode { number: 7, private: true }, "\x1b[?7;3$y"),
            (Query::Mode { number: 2026, private: true }, "\x1b[?2026;0$y"),
            (Query::Mode { number: 4, private: false }, "\x1b[4;0$y"),
            (Query::TextArea, "\x1b[8;5;9t"),
        ];
        for (query, answer) in cases {
            let mut out = String::new();
            write(query, size, Some(&screen), &mut out);
            assert_eq!(out, answer);
        }
    }
}
