//! What can go wrong, as something a program may branch on and a person can act on.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crannog_backends::{BackendError, WireError};
use crannog_core::error::{ErrorCode, Operation};
use crannog_core::id::{ProcessId, SandboxId};
use crannog_store::StoreError;

use crate::hint;

/// A failed operation.
///
/// `Display` says what failed in one line, without its causes; those are found through [`std::error::Error::source`]. Neither ever
/// holds the value of an environment variable.
///
/// ```
/// # use crannog::{ErrorCode, Host, Sandbox};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// # let host = Host::at(home.path())?;
/// let error = Sandbox::open(&host, "nowhere").await.expect_err("nothing was made here");
/// assert_eq!(error.code(), ErrorCode::SandboxNotFound);
/// assert_eq!(error.to_string(), "there is no sandbox `nowhere`");
/// assert!(error.hint().is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Error {
    operation: Operation,
    kind: Box<Kind>,
}

/// The failures, each with what is known of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error("there is no sandbox `{reference}`")]
    SandboxNotFound { reference: String },
    #[error("`{reference}` fits {count} sandboxes")]
    SandboxAmbiguous { reference: String, count: usize },
    #[error("another sandbox is named `{name}`")]
    NameTaken { name: String },
    #[error("sandbox {sandbox} is still being made")]
    SandboxCreating { sandbox: SandboxId },
    #[error("sandbox {sandbox} is lost: its guest is gone; destroying it ends what it left")]
    SandboxLost { sandbox: SandboxId },
    #[error("there is no process {process}")]
    ProcessNotFound { process: ProcessId },
    #[error("{argument} can't be `{value}`: {rule}")]
    InvalidArgument { argument: &'static str, value: String, rule: String },
    #[error("the workspace {} can't be used", path.display())]
    Workspace { path: PathBuf, source: std::io::Error },
    #[error("there is no home directory to keep sandboxes in")]
    HomeMissing,
    #[error("the directory {} can't be made or used", path.display())]
    Directory { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Store(StoreError),
    #[error(transparent)]
    Backend(BackendError),
    #[error(transparent)]
    Guest(WireError),
    #[error("the guest did not say {what}")]
    Unsaid { what: &'static str },
    #[error("the system gave no random bits")]
    Randomness { source: getrandom::Error },
    #[error("work on a thread of its own was cut off")]
    Interrupted { source: tokio::task::JoinError },
}

impl Error {
    /// The stable word for what went wrong.
    pub fn code(&self) -> ErrorCode {
        match &*self.kind {
            Kind::SandboxNotFound { .. } => ErrorCode::SandboxNotFound,
            Kind::SandboxAmbiguous { .. } | Kind::InvalidArgument { .. } | Kind::HomeMissing => ErrorCode::InvalidArgument,
            Kind::NameTaken { .. } => ErrorCode::SandboxNameTaken,
            Kind::SandboxCreating { .. } => ErrorCode::GuestUnreachable,
            Kind::SandboxLost { .. } => ErrorCode::SandboxLost,
            Kind::ProcessNotFound { .. } => ErrorCode::PtySessionNotFound,
            Kind::Workspace { .. } => ErrorCode::WorkspaceRootNotFound,
            Kind::Store(_) | Kind::Directory { .. } => ErrorCode::StoreFailed,
            Kind::Backend(error) => error.code(),
            Kind::Guest(error) => error.code(),
            Kind::Unsaid { .. } => ErrorCode::ProtocolMismatch,
            Kind::Randomness { .. } | Kind::Interrupted { .. } => ErrorCode::Internal,
        }
    }

    /// What was being done.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Whether trying the same again may help. `None` where that is not known.
    pub fn retryable(&self) -> Option<bool> {
        match &*self.kind {
            Kind::SandboxCreating { .. } => Some(true),
            Kind::Store(error) => Some(error.retryable()),
            Kind::Backend(error) => error.retryable(),
            Kind::Guest(error) => Some(error.retryable()),
            Kind::Randomness { .. } | Kind::Interrupted { .. } | Kind::Directory { .. } => None,
            _ => Some(false),
        }
    }

    /// What is known of the circumstances, by name: ids, paths, arguments.
    pub fn context(&self) -> BTreeMap<String, String> {
        let pairs: Vec<(&str, String)> = match &*self.kind {
            Kind::SandboxNotFound { reference } => vec![("sandbox", reference.clone())],
            Kind::SandboxAmbiguous { reference, count } => vec![("sandbox", reference.clone()), ("count", count.to_string())],
            Kind::NameTaken { name } => vec![("name", name.clone())],
            Kind::SandboxCreating { sandbox } | Kind::SandboxLost { sandbox } => vec![("sandbox", sandbox.to_string())],
            Kind::ProcessNotFound { process } => vec![("process", process.to_string())],
            Kind::InvalidArgument { argument, value, rule } => {
                vec![("argument", (*argument).to_owned()), ("value", value.clone()), ("rule", rule.clone())]
            }
            Kind::Workspace { path, .. } | Kind::Directory { path, .. } => vec![("path", path.display().to_string())],
            Kind::Backend(error) => return error.context(),
            Kind::Guest(error) => return error.context(),
            Kind::Store(error) => return error.context(),
            Kind::HomeMissing | Kind::Unsaid { .. } | Kind::Randomness { .. } | Kind::Interrupted { .. } => Vec::new(),
        };
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match &*self.kind {
            Kind::SandboxAmbiguous { .. } => Some("give more of the id, or the name".to_owned()),
            Kind::HomeMissing => Some("set CRANNOG_HOME to a directory of your own".to_owned()),
            Kind::SandboxCreating { .. } => Some("try again in a moment".to_owned()),
            Kind::Directory { path, .. } => {
                Some(format!("make {} writable for this user, or set CRANNOG_HOME to a directory of your own", path.display()))
            }
            Kind::Workspace { .. } => Some("name an existing directory that you may write to".to_owned()),
            Kind::Store(error) => error.hint(),
            Kind::InvalidArgument { rule, .. } => Some(rule.clone()),
            _ => hint::of(self.code()).map(str::to_owned),
        }
    }

    pub(crate) fn new(operation: Operation, kind: Kind) -> Self {
        Self { operation, kind: Box::new(kind) }
    }

    pub(crate) fn invalid(argument: &'static str, value: impl fmt::Display, rule: impl fmt::Display) -> Self {
        let kind = Kind::InvalidArgument { argument, value: value.to_string(), rule: rule.to_string() };
        Self::new(Operation::Create, kind)
    }

    pub(crate) fn process_not_found(operation: Operation, process: ProcessId) -> Self {
        Self::new(operation, Kind::ProcessNotFound { process })
    }

    pub(crate) fn interrupted(source: tokio::task::JoinError) -> Self {
        Self::new(Operation::Exec, Kind::Interrupted { source })
    }

    pub(crate) fn randomness(operation: Operation, source: getrandom::Error) -> Self {
        Self::new(operation, Kind::Randomness { source })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(formatter)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}
