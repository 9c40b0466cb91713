//! Native failures as the classes that clients of the compatible surface catch.

use crannog_core::compat::error_table::{Context, Record, Value};
use crannog_core::error::ErrorCode;

use crate::error::Error;

/// A failed call of a compatible session. Its `Display` is the text that clients see.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompatError {
    /// An error of one of the known classes.
    #[error("{}", record.message)]
    Sandbox {
        /// Class, message, context.
        record: Box<Record>,
        /// The native failure behind it.
        source: Option<Box<Error>>,
    },
    /// Input for a process that has no terminal. Clients know it by this text alone.
    #[error("stdin is not available for this process")]
    StdinUnavailable,
}

impl CompatError {
    /// The known class's record, if it has one.
    pub fn record(&self) -> Option<&Record> {
        match self {
            Self::Sandbox { record, .. } => Some(record),
            Self::StdinUnavailable => None,
        }
    }

    /// No session with this id. `was_evicted` tells what became of it.
    pub(super) fn not_found(session_id: i64, was_evicted: bool) -> Self {
        let record = Record::pty_session_not_found(session_id);
        let evicted = Context::from([("evicted".into(), Value::Bool(true))]);
        let record = if was_evicted { record.with_context(evicted) } else { record };
        Self::Sandbox { record: Box::new(record), source: None }
    }

    /// A command outlived its timeout.
    pub(super) fn timed_out(command: &[String], timeout_s: Option<f64>) -> Self {
        Self::Sandbox { record: Box::new(Record::exec_timeout(command, timeout_s)), source: None }
    }

    /// A command whose end nobody saw.
    pub(super) fn unknown_end(command: &[String]) -> Self {
        let reason = Context::from([("reason".into(), Value::from("missing_exit_code"))]);
        Self::Sandbox { record: Box::new(Record::exec_transport(command, false).with_context(reason)), source: None }
    }

    /// A command that could not be run, or whose session can't be reached.
    pub(super) fn of(error: Error, command: &[String], workspace: &str) -> Self {
        let record = match error.code() {
            ErrorCode::WorkingDirectoryNotFound => Record::workspace_root_not_found(workspace),
            _ => Record::exec_transport(command, false).with_retryable(error.retryable()),
        };
        let detail = Context::from([
            ("reason".into(), Value::from(error.code().as_str())),
            ("detail".into(), Value::from(error.to_string().as_str())),
        ]);
        Self::Sandbox { record: Box::new(record.with_context(detail)), source: Some(Box::new(error)) }
    }
}
