//! What a terminal shows, as rows of text, and the recording of what it showed over time.

use crate::end::End;
use crate::process::TerminalSize;

/// Which part of a screen is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScreenRequest {
    /// Only the rows that changed after this version. `None`, or a version that was never handed out: every row.
    pub since: Option<u64>,
    /// Lines that scrolled off the top to leave out, counted upwards from the screen.
    pub scrollback_skip: u32,
    /// Lines that scrolled off the top to answer above those, at most
    /// [`SCREEN_SCROLLBACK_LINES_MAX`](crate::limits::SCREEN_SCROLLBACK_LINES_MAX).
    pub scrollback_lines: u32,
}

/// What a terminal shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// The size it was rendered for.
    pub size: TerminalSize,
    /// All rows, or those that changed since the version asked for; from the top.
    pub rows: Vec<ScreenRow>,
    /// The cursor.
    pub cursor: Cursor,
    /// The title that the program gave its window; empty without one.
    pub title: String,
    /// The alternate screen is shown, as full-screen programs do.
    pub alternate: bool,
    /// Grows whenever text, cursor, title or size are seen to have changed. Only to be compared within one process.
    pub version: u64,
    /// Offset of the transcript up to which output is shown.
    pub offset: u64,
    /// Output before this offset was not rendered: what it had set or printed and nobody printed anew is not shown.
    pub rendered_from: u64,
    /// The lines asked for, from the top.
    pub scrollback: Vec<String>,
    /// Lines that scrolled off the top and are kept. None while the alternate screen is shown.
    pub scrollback_total: u32,
    /// How the process ended, if it has.
    pub end: Option<End>,
}

/// One row of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenRow {
    /// Its place, 0 at the top.
    pub row: u16,
    /// Its text without the blanks at its end. A wide character takes two columns.
    pub text: String,
}

/// A cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor {
    /// Row, 0 at the top.
    pub row: u16,
    /// Column, 0 on the left. The number of columns when the last one was written and nothing followed.
    pub column: u16,
    /// It is shown.
    pub visible: bool,
}

/// How a recording stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingState {
    /// More may come.
    Running,
    /// The process has ended and everything is in it.
    Complete,
    /// It reached its largest size ([`RECORDING_BYTES_MAX`](crate::limits::RECORDING_BYTES_MAX)) and stopped there.
    Cut,
    /// It could not be written any further, on a full disk for one.
    Failed,
}

/// A piece of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingPart {
    /// The bytes from the offset asked for on: lines of asciicast v3.
    pub bytes: Vec<u8>,
    /// Bytes recorded so far.
    pub total: u64,
    /// How it stands.
    pub state: RecordingState,
}
