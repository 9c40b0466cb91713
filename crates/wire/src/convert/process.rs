//! How a process stands, what was written to it, how it ended.

use std::time::Duration;

use crannog_core::collect::Reason;
use crannog_core::end::End;
use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::process::{ProcessInfo, Update, WriteSpec, Written};
use crannog_core::signal::{Signal, Target};
use crannog_core::transcript::Killed;

use super::{ConvertError, at_most, duration_ms, required, retry_id};
use crate::proto::{self, end::Kind};

pub(crate) fn signal_number(signal: Signal) -> u32 {
    signal.number().unsigned_abs()
}

pub(crate) fn signal(number: u32) -> Result<Signal, ConvertError> {
    i32::try_from(number)
        .ok()
        .and_then(Signal::from_number)
        .ok_or(ConvertError::Invalid { field: "signal", rule: "a signal number, 1 to 31" })
}

impl From<Target> for proto::Target {
    fn from(target: Target) -> Self {
        match target {
            Target::Foreground => Self::Foreground,
            Target::Group => Self::Group,
            Target::Tree => Self::Tree,
        }
    }
}

impl From<proto::Target> for Target {
    fn from(target: proto::Target) -> Self {
        match target {
            proto::Target::Foreground => Self::Foreground,
            proto::Target::Group => Self::Group,
            proto::Target::Tree => Self::Tree,
        }
    }
}

impl From<End> for proto::End {
    fn from(end: End) -> Self {
        let kind = match end {
            End::Exited { code } => Kind::Exited(code.into()),
            End::Signalled { signal, core_dumped } => Kind::Signalled(proto::Signalled { signal: signal_number(signal), core_dumped }),
            End::TimedOut { after_ms } => Kind::TimedOutMs(after_ms),
            End::OutOfMemory => Kind::OutOfMemory(proto::Empty {}),
            End::Cancelled { signal } => Kind::CancelledSignal(signal_number(signal)),
            End::Lost { reason } => Kind::Lost(reason),
        };
        Self { kind: Some(kind) }
    }
}

impl TryFrom<proto::End> for End {
    type Error = ConvertError;

    fn try_from(end: proto::End) -> Result<Self, ConvertError> {
        Ok(match required("end", end.kind)? {
            Kind::Exited(code) => {
                let code = u8::try_from(code).map_err(|_| ConvertError::Invalid { field: "exited", rule: "an exit code, 0 to 255" })?;
                Self::Exited { code }
            }
            Kind::Signalled(by) => Self::Signalled { signal: signal(by.signal)?, core_dumped: by.core_dumped },
            Kind::TimedOutMs(after_ms) => Self::TimedOut { after_ms },
            Kind::OutOfMemory(proto::Empty {}) => Self::OutOfMemory,
            Kind::CancelledSignal(number) => Self::Cancelled { signal: signal(number)? },
            Kind::Lost(reason) => Self::Lost { reason },
        })
    }
}

pub(crate) fn end(end: Option<proto::End>) -> Result<Option<End>, ConvertError> {
    end.map(End::try_from).transpose()
}

impl From<Written> for proto::Written {
    fn from(written: Written) -> Self {
        Self { accepted: written.accepted, line_too_long: written.line_too_long, repeated: written.repeated }
    }
}

impl From<proto::Written> for Written {
    fn from(written: proto::Written) -> Self {
        Self { accepted: written.accepted, line_too_long: written.line_too_long, repeated: written.repeated }
    }
}

/// The bytes of a write request; what follows the write is said beside them.
pub(crate) fn write_spec(data: Vec<u8>, write_id: Option<String>, patience_ms: u64) -> Result<WriteSpec, ConvertError> {
    at_most("data", data.len(), limits::WRITE_BYTES_MAX)?;
    Ok(WriteSpec { bytes: data, write_id: retry_id("write_id", write_id)?, patience: Duration::from_millis(patience_ms) })
}

/// A write request.
pub(crate) fn write_request(process: ProcessId, write: WriteSpec, pause: Duration) -> proto::WriteRequest {
    proto::WriteRequest {
        process: process.0,
        data: write.bytes,
        write_id: write.write_id,
        patience_ms: duration_ms(write.patience),
        pause_ms: duration_ms(pause),
        collect: None,
    }
}

impl From<Update> for proto::Update {
    fn from(update: Update) -> Self {
        Self {
            process: update.process.0,
            raw: (update.raw != update.text.as_bytes()).then_some(update.raw),
            text: update.text,
            start: update.start,
            cursor: update.cursor,
            omitted_bytes: update.omitted_bytes,
            lost_bytes: update.lost_bytes,
            original_token_count: update.original_token_count,
            end: update.end.map(proto::End::from),
            waiting_for_input: update.waiting_for_input,
            echo: update.echo,
            descendants_alive: update.descendants_alive,
            reason: proto::Reason::from(update.reason).into(),
            written: update.written.map(proto::Written::from),
        }
    }
}

impl TryFrom<proto::Update> for Update {
    type Error = ConvertError;

    fn try_from(update: proto::Update) -> Result<Self, ConvertError> {
        let reason = Reason::try_from(update.reason())?;
        Ok(Self {
            process: ProcessId(update.process),
            raw: update.raw.unwrap_or_else(|| update.text.clone().into_bytes()),
            text: update.text,
            start: update.start,
            cursor: update.cursor,
            omitted_bytes: update.omitted_bytes,
            lost_bytes: update.lost_bytes,
            original_token_count: update.original_token_count,
            end: end(update.end)?,
            waiting_for_input: update.waiting_for_input,
            echo: update.echo,
            descendants_alive: update.descendants_alive,
            reason,
            written: update.written.map(Written::from),
        })
    }
}

impl From<ProcessInfo> for proto::ProcessInfo {
    fn from(info: ProcessInfo) -> Self {
        Self {
            process: info.process.0,
            command: info.command,
            pid: info.pid,
            terminal: info.terminal.map(proto::TerminalSize::from),
            stdin_open: info.stdin_open,
            age_ms: info.age_ms,
            duration_ms: info.duration_ms,
            end: info.end.map(proto::End::from),
            output_bytes: info.output_bytes,
            lost_bytes: info.lost_bytes,
            descendants_alive: info.descendants_alive,
        }
    }
}

impl TryFrom<proto::ProcessInfo> for ProcessInfo {
    type Error = ConvertError;

    fn try_from(info: proto::ProcessInfo) -> Result<Self, ConvertError> {
        Ok(Self {
            process: ProcessId(info.process),
            command: info.command,
            pid: info.pid,
            terminal: info.terminal.map(TryInto::try_into).transpose()?,
            stdin_open: info.stdin_open,
            age_ms: info.age_ms,
            duration_ms: info.duration_ms,
            end: end(info.end)?,
            output_bytes: info.output_bytes,
            lost_bytes: info.lost_bytes,
            descendants_alive: info.descendants_alive,
        })
    }
}

impl From<Killed> for proto::KillReply {
    fn from(killed: Killed) -> Self {
        Self { end: Some(killed.end.into()), reached: killed.reached, complete: killed.complete }
    }
}

impl TryFrom<proto::KillReply> for Killed {
    type Error = ConvertError;

    fn try_from(killed: proto::KillReply) -> Result<Self, ConvertError> {
        Ok(Self { end: required("end", killed.end)?.try_into()?, reached: killed.reached, complete: killed.complete })
    }
}
