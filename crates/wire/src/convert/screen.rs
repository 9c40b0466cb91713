//! A terminal's screen and its recording.

use crannog_core::limits;
use crannog_core::screen::{Cursor, RecordingPart, RecordingState, Screen, ScreenRequest, ScreenRow};

use super::process::end;
use super::{ConvertError, at_most, required};
use crate::proto;

fn side(field: &'static str, cells: u32) -> Result<u16, ConvertError> {
    u16::try_from(cells)
        .ok()
        .filter(|cells| *cells <= limits::TERMINAL_SIDE_MAX)
        .ok_or(ConvertError::Invalid { field, rule: "0 to 4096 cells" })
}

impl TryFrom<proto::ScreenRequest> for ScreenRequest {
    type Error = ConvertError;

    fn try_from(request: proto::ScreenRequest) -> Result<Self, ConvertError> {
        if request.scrollback_lines > limits::SCREEN_SCROLLBACK_LINES_MAX {
            return Err(ConvertError::Invalid { field: "scrollback_lines", rule: "at most 1000" });
        }
        Ok(Self { since: request.since, scrollback_skip: request.scrollback_skip, scrollback_lines: request.scrollback_lines })
    }
}

impl From<Cursor> for proto::Cursor {
    fn from(cursor: Cursor) -> Self {
        Self { row: cursor.row.into(), column: cursor.column.into(), visible: cursor.visible }
    }
}

impl TryFrom<proto::Cursor> for Cursor {
    type Error = ConvertError;

    fn try_from(cursor: proto::Cursor) -> Result<Self, ConvertError> {
        Ok(Self { row: side("row", cursor.row)?, column: side("column", cursor.column)?, visible: cursor.visible })
    }
}

impl From<ScreenRow> for proto::ScreenRow {
    fn from(row: ScreenRow) -> Self {
        Self { row: row.row.into(), text: row.text }
    }
}

impl TryFrom<proto::ScreenRow> for ScreenRow {
    type Error = ConvertError;

    fn try_from(row: proto::ScreenRow) -> Result<Self, ConvertError> {
        Ok(Self { row: side("row", row.row)?, text: row.text })
    }
}

impl From<Screen> for proto::ScreenReply {
    fn from(screen: Screen) -> Self {
        Self {
            size: Some(screen.size.into()),
            rows: screen.rows.into_iter().map(proto::ScreenRow::from).collect(),
            cursor: Some(screen.cursor.into()),
            title: screen.title,
            alternate: screen.alternate,
            version: screen.version,
            offset: screen.offset,
            rendered_from: screen.rendered_from,
            scrollback: screen.scrollback,
            scrollback_total: screen.scrollback_total,
            end: screen.end.map(proto::End::from),
        }
    }
}

impl TryFrom<proto::ScreenReply> for Screen {
    type Error = ConvertError;

    fn try_from(screen: proto::ScreenReply) -> Result<Self, ConvertError> {
        at_most("rows", screen.rows.len(), limits::TERMINAL_SIDE_MAX.into())?;
        Ok(Self {
            size: required("size", screen.size)?.try_into()?,
            rows: screen.rows.into_iter().map(ScreenRow::try_from).collect::<Result<_, _>>()?,
            cursor: required("cursor", screen.cursor)?.try_into()?,
            title: screen.title,
            alternate: screen.alternate,
            version: screen.version,
            offset: screen.offset,
            rendered_from: screen.rendered_from,
            scrollback: screen.scrollback,
            scrollback_total: screen.scrollback_total,
            end: end(screen.end)?,
        })
    }
}

impl From<RecordingState> for proto::RecordingState {
    fn from(state: RecordingState) -> Self {
        match state {
            RecordingState::Running => Self::Running,
            RecordingState::Complete => Self::Complete,
            RecordingState::Cut => Self::Cut,
            RecordingState::Failed => Self::Failed,
        }
    }
}

impl From<RecordingPart> for proto::RecordingReply {
    fn from(part: RecordingPart) -> Self {
        Self { data: part.bytes, total: part.total, state: proto::RecordingState::from(part.state).into() }
    }
}

impl TryFrom<proto::RecordingReply> for RecordingPart {
    type Error = ConvertError;

    fn try_from(part: proto::RecordingReply) -> Result<Self, ConvertError> {
        let state = match part.state() {
            proto::RecordingState::Unspecified => return Err(ConvertError::Missing { field: "state" }),
            proto::RecordingState::Running => RecordingState::Running,
            proto::RecordingState::Complete => RecordingState::Complete,
            proto::RecordingState::Cut => RecordingState::Cut,
            proto::RecordingState::Failed => RecordingState::Failed,
        };
        Ok(Self { bytes: part.data, total: part.total, state })
    }
}
