//! What can go wrong with the record of sandboxes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crannog_core::id::SandboxId;
use rusqlite::ErrorCode;

/// A failed operation of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory of the file can't be made.
    #[error("the directory {} can't be made", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file can't be made or opened.
    #[error("the record of sandboxes {} can't be opened", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{} is not a record of sandboxes", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged, or not a database at all.
    #[error("the record of sandboxes {} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the database found.
        source: rusqlite::Error,
    },
    /// A later version wrote the file.
    #[error("the record of sandboxes {} has layout {found}, this version knows up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The latest layout known here.
        known: i64,
    },
    /// Other processes kept the file locked for longer than [`BUSY_WAIT_MAX`](crate::BUSY_WAIT_MAX).
    #[error("the record of sandboxes {} is in use by others: {operation} gave up waiting", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// What was being done.
        operation: &'static str,
        /// What the database said.
        source: rusqlite::Error,
    },
    /// There is no room for the change.
    #[error("there is no room on the file system of {}: {operation} failed", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What was being done.
        operation: &'static str,
        /// What the database said.
        source: rusqlite::Error,
    },
    /// Another sandbox has the name.
    #[error("another sandbox is named `{name}`")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A record holds what no version of crannog writes.
    #[error("the record of {sandbox} holds a {field} that can't be read")]
    Record {
        /// The sandbox, as written.
        sandbox: String,
        /// The column.
        field: &'static str,
    },
    /// A record can't be written as it is.
    #[error("{sandbox} can't be recorded: its {field} is too large")]
    TooLarge {
        /// The sandbox.
        sandbox: SandboxId,
        /// The column.
        field: &'static str,
    },
    /// Anything else that the database refuses.
    #[error("the record of sandboxes {} could not be used: {operation} failed", path.display())]
    Query {
        /// The file.
        path: PathBuf,
        /// What was being done.
        operation: &'static str,
        /// What the database said.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Sorts what the database said.
    pub(crate) fn of(path: &Path, operation: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path, operation, source },
            Some(ErrorCode::DiskFull) => Self::Full { path, operation, source },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path, source },
            _ => Self::Query { path, operation, source },
        }
    }

    /// Whether trying again may help without anybody doing anything.
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }

    /// What it was about, by name.
    pub fn context(&self) -> BTreeMap<String, String> {
        let pairs: Vec<(&str, String)> = match self {
            Self::Directory { path, .. } | Self::File { path, .. } | Self::Foreign { path } | Self::Damaged { path, .. } => {
                vec![("path", path.display().to_string())]
            }
            Self::Newer { path, found, known } => {
                vec![("path", path.display().to_string()), ("found", found.to_string()), ("known", known.to_string())]
            }
            Self::Busy { path, operation, .. } | Self::Full { path, operation, .. } | Self::Query { path, operation, .. } => {
                vec![("path", path.display().to_string()), ("step", (*operation).to_owned())]
            }
            Self::NameTaken { name } => vec![("name", name.clone())],
            Self::Record { sandbox, field } => vec![("sandbox", sandbox.clone()), ("field", (*field).to_owned())],
            Self::TooLarge { sandbox, field } => vec![("sandbox", sandbox.to_string()), ("field", (*field).to_owned())],
        };
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Directory { path, .. } | Self::File { path, .. } => {
                format!("make {} writable for this user, or set CRANNOG_HOME to a directory of your own", path.display())
            }
            Self::Foreign { path } => format!("move {} away, or set CRANNOG_HOME to another directory", path.display()),
            Self::Damaged { path, .. } => {
                format!("move {} away to start anew; sandboxes that still run end with their lease, or with their guests", path.display())
            }
            Self::Newer { .. } => "use the version that wrote it, or a later one".to_owned(),
            Self::Busy { .. } => "try again".to_owned(),
            Self::Full { path, .. } => format!("free some room beside {}", path.display()),
            Self::NameTaken { .. } => "choose another name, or destroy the sandbox that has it".to_owned(),
            Self::TooLarge { .. } => "make the environment smaller".to_owned(),
            Self::Record { .. } | Self::Query { .. } => return None,
        })
    }
}
