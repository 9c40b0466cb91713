//! What can go wrong when a sandbox is placed, reached or destroyed.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use crannog_core::error::ErrorCode;
use crannog_core::id::SandboxId;
use crannog_sys::spawn::SpawnError;
use crannog_wire::WireError;

/// A failed operation of a backend.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// No guest program was found.
    #[error("the guest program is missing; looked at {}", searched.join(", "))]
    GuestMissing {
        /// Where it was looked for.
        searched: Vec<String>,
    },
    /// The guest program that travels inside this one could not be put on disk.
    #[error("the guest program could not be written to {}", path.display())]
    GuestUnpack {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A directory or file of the sandbox could not be made.
    #[error("{} could not be made", path.display())]
    Make {
        /// The directory or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The sandbox's socket could not be made.
    #[error("the socket {} could not be made", path.display())]
    Listen {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The guest program could not be started.
    #[error("the guest program {} could not be started", path.display())]
    Spawn {
        /// The program.
        path: PathBuf,
        /// The step that failed, and why.
        source: SpawnError,
    },
    /// The guest was started and did not answer.
    #[error("the guest was started and did not answer{}", said(log))]
    Silent {
        /// The end of what it wrote to its log.
        log: String,
        /// What came of asking.
        source: WireError,
    },
    /// The guest can't be reached.
    #[error(transparent)]
    Reach(WireError),
    /// Somebody else answers on the sandbox's socket.
    #[error("the guest of {found} answers in the place of {sandbox}")]
    Stranger {
        /// The sandbox that was asked for.
        sandbox: SandboxId,
        /// Who answered.
        found: String,
    },
    /// Processes of the sandbox could not be ended.
    #[error("processes of {sandbox} are still there: {}", pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", "))]
    Remains {
        /// The sandbox.
        sandbox: SandboxId,
        /// Their kernel numbers.
        pids: Vec<u32>,
    },
    /// The processes of this machine could not be listed.
    #[error("the processes of this machine could not be listed")]
    Processes {
        /// Why.
        source: io::Error,
    },
    /// A directory of the sandbox could not be removed.
    #[error("{} could not be removed", path.display())]
    Remove {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A thread that did the work was cut off: the runtime is shutting down.
    #[error("work on a thread of its own was cut off")]
    Interrupted {
        /// How.
        source: tokio::task::JoinError,
    },
}

impl BackendError {
    /// The stable word for what went wrong.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::GuestMissing { .. } => ErrorCode::GuestMissing,
            Self::GuestUnpack { .. } | Self::Make { .. } | Self::Listen { .. } | Self::Spawn { .. } | Self::Silent { .. } => {
                ErrorCode::SandboxStartFailed
            }
            Self::Reach(error) => error.code(),
            Self::Stranger { .. } => ErrorCode::SandboxLost,
            Self::Remains { .. } | Self::Processes { .. } | Self::Remove { .. } | Self::Interrupted { .. } => ErrorCode::Internal,
        }
    }

    /// Whether trying again may help. `None` where that is not known.
    pub fn retryable(&self) -> Option<bool> {
        match self {
            Self::GuestMissing { .. } | Self::Stranger { .. } => Some(false),
            Self::Reach(error) => Some(error.retryable()),
            Self::Remains { .. } | Self::Processes { .. } | Self::Remove { .. } => Some(true),
            _ => None,
        }
    }

    /// What it was about, by name.
    pub fn context(&self) -> BTreeMap<String, String> {
        let pair = match self {
            Self::GuestMissing { searched } => ("searched", searched.join(", ")),
            Self::GuestUnpack { path, .. }
            | Self::Make { path, .. }
            | Self::Listen { path, .. }
            | Self::Spawn { path, .. }
            | Self::Remove { path, .. } => ("path", path.display().to_string()),
            Self::Silent { log, .. } => ("log", log.clone()),
            Self::Reach(error) => return error.context(),
            Self::Stranger { sandbox, .. } | Self::Remains { sandbox, .. } => ("sandbox", sandbox.to_string()),
            Self::Processes { .. } | Self::Interrupted { .. } => return BTreeMap::new(),
        };
        BTreeMap::from([(pair.0.to_owned(), pair.1)])
    }
}

/// The log's last line, where there is one.
fn said(log: &str) -> String {
    log.lines().rfind(|line| !line.trim().is_empty()).map(|line| format!("; its last word was: {line}")).unwrap_or_default()
}
