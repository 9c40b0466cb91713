//! What becomes of one write, for everyone who asks: the caller, and retries with the same id.

use std::io;
use std::sync::OnceLock;

use crannog_core::process::Written;
use tokio::sync::Notify;

use crate::error::EngineError;
use crate::process::Process;

/// Why nothing of a write was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The input is closed, by us or by the process.
    Closed,
    /// The process has ended.
    Ended,
    /// The kernel refused.
    Refused { errno: i32 },
}

impl Failure {
    pub(super) fn into_error(self, process: &Process) -> EngineError {
        match self {
            Self::Closed => EngineError::StdinClosed { process: process.id },
            Self::Ended => EngineError::ProcessEnded { process: process.id, end: process.end() },
            Self::Refused { errno } => EngineError::Write { process: process.id, source: io::Error::from_raw_os_error(errno) },
        }
    }
}

/// The outcome of a write, now or later.
#[derive(Debug, Default)]
pub(super) struct Ticket {
    outcome: OnceLock<Result<Written, Failure>>,
    decided: Notify,
}

impl Ticket {
    pub(super) fn decide(&self, outcome: Result<Written, Failure>) {
        // Only the writer decides, once; a second word would change nothing.
        let _ = self.outcome.set(outcome);
        self.decided.notify_waiters();
    }

    /// Resolves when the write is done. Cancel-safe.
    pub(super) async fn outcome(&self) -> Result<Written, Failure> {
        loop {
            let decided = self.decided.notified();
            let mut decided = std::pin::pin!(decided);
            decided.as_mut().enable();
            if let Some(outcome) = self.outcome.get() {
                return *outcome;
            }
            decided.await;
        }
    }
}
