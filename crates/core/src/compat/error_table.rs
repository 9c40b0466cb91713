//! The error classes that clients of the compatible surface catch: their names, their ancestors and what each always carries.
//!
//! A [`Record`] is one error of such a class with its message and context, ready for a face to encode. The words are those that
//! clients match on, so they do not follow our own style.

mod configuration;
mod record;
mod runtime;

pub use configuration::{PatchPathReason, PathReason};
pub use record::{Context, Record, Value};

use crate::error::{ErrorCode, Operation};

/// What every error of a class that is raised has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Its code.
    pub code: ErrorCode,
    /// What was being done.
    pub operation: Operation,
    /// Whether trying again can help; `None` is unknown, and a single error may know better.
    pub retryable: Option<bool>,
    /// The context keys it may have, apart from what its raiser adds.
    pub context_keys: &'static [&'static str],
}

/// A row of the table: the parent, and the facts of a class that is raised itself.
#[derive(Clone, Copy)]
struct Row {
    parent: Option<ErrorClass>,
    facts: Option<Facts>,
}

const ROOT: Row = Row { parent: None, facts: None };
const NO: Option<bool> = Some(false);
const UNKNOWN: Option<bool> = None;

const fn below(parent: ErrorClass) -> Row {
    Row { parent: Some(parent), facts: None }
}

impl Row {
    const fn raised(self, code: ErrorCode, operation: Operation, retryable: Option<bool>, context_keys: &'static [&'static str]) -> Self {
        Self { facts: Some(Facts { code, operation, retryable, context_keys }), ..self }
    }
}

macro_rules! classes {
    ($($class:ident = $name:literal, $row:expr;)+) => {
        /// A class of the compatible surface, either a family or one that is raised.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ErrorClass { $(#[doc = concat!("`", $name, "`.")] $class,)+ }

        impl ErrorClass {
            /// Every class, families first.
            pub const ALL: &[Self] = &[$(Self::$class,)+];

            /// The name clients know.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$class => $name,)+ }
            }

            const fn row(self) -> Row {
                match self { $(Self::$class => $row,)+ }
            }
        }
    };
}

classes! {
    Sandbox = "SandboxError", ROOT;
    Configuration = "ConfigurationError", below(Self::Sandbox);
    ApplyPatch = "ApplyPatchError", below(Self::Configuration);
    SandboxRuntime = "SandboxRuntimeError", below(Self::Sandbox);
    ExecFailure = "ExecFailureError", below(Self::SandboxRuntime);
    WorkspaceIo = "WorkspaceIOError", below(Self::SandboxRuntime);
    Artifact = "ArtifactError", below(Self::Sandbox);
    LocalArtifact = "LocalArtifactError", below(Self::Artifact);
    GitArtifact = "GitArtifactError", below(Self::Artifact);
    MountArtifact = "MountArtifactError", below(Self::Artifact);
    Snapshot = "SnapshotError", below(Self::Sandbox);
    InvalidManifestPath = "InvalidManifestPathError", below(Self::Configuration).raised(ErrorCode::InvalidManifestPath, Operation::Materialize, NO, &["rel", "reason"]);
    InvalidCompressionScheme = "InvalidCompressionSchemeError", below(Self::Configuration).raised(ErrorCode::InvalidCompressionScheme, Operation::Write, NO, &["path", "scheme"]);
    ApplyPatchPath = "ApplyPatchPathError", below(Self::ApplyPatch).raised(ErrorCode::ApplyPatchInvalidPath, Operation::ApplyPatch, NO, &["path", "reason"]);
    ApplyPatchDiff = "ApplyPatchDiffError", below(Self::ApplyPatch).raised(ErrorCode::ApplyPatchInvalidDiff, Operation::ApplyPatch, NO, &["path"]);
    SkillsConfig = "SkillsConfigError", below(Self::Configuration).raised(ErrorCode::SkillsConfigInvalid, Operation::Materialize, NO, &[]);
    ExposedPortUnavailable = "ExposedPortUnavailableError", below(Self::SandboxRuntime).raised(ErrorCode::ExposedPortUnavailable, Operation::ResolveExposedPort, UNKNOWN, &["port", "exposed_ports", "reason"]);
    ExecNonZero = "ExecNonZeroError", below(Self::ExecFailure).raised(ErrorCode::ExecNonzero, Operation::Exec, NO, &["command", "command_str", "exit_code", "stdout", "stderr"]);
    ExecTimeout = "ExecTimeoutError", below(Self::ExecFailure).raised(ErrorCode::ExecTimeout, Operation::Exec, NO, &["command", "command_str", "timeout_s"]);
    ExecTransport = "ExecTransportError", below(Self::ExecFailure).raised(ErrorCode::ExecTransportError, Operation::Exec, UNKNOWN, &["command", "command_str", "retry_safe"]);
    PtySessionNotFound = "PtySessionNotFoundError", below(Self::SandboxRuntime).raised(ErrorCode::PtySessionNotFound, Operation::Exec, NO, &["session_id"]);
    ApplyPatchFileNotFound = "ApplyPatchFileNotFoundError", below(Self::WorkspaceIo).raised(ErrorCode::ApplyPatchFileNotFound, Operation::ApplyPatch, NO, &["path"]);
    ApplyPatchDecode = "ApplyPatchDecodeError", below(Self::WorkspaceIo).raised(ErrorCode::ApplyPatchDecodeError, Operation::ApplyPatch, NO, &["path"]);
    WorkspaceReadNotFound = "WorkspaceReadNotFoundError", below(Self::WorkspaceIo).raised(ErrorCode::WorkspaceReadNotFound, Operation::Read, NO, &["path"]);
    WorkspaceArchiveRead = "WorkspaceArchiveReadError", below(Self::WorkspaceIo).raised(ErrorCode::WorkspaceArchiveReadError, Operation::Read, UNKNOWN, &["path"]);
    WorkspaceArchiveWrite = "WorkspaceArchiveWriteError", below(Self::WorkspaceIo).raised(ErrorCode::WorkspaceArchiveWriteError, Operation::Write, UNKNOWN, &["path"]);
    WorkspaceWriteType = "WorkspaceWriteTypeError", below(Self::WorkspaceIo).raised(ErrorCode::WorkspaceWriteTypeError, Operation::Write, NO, &["path", "actual_type"]);
    WorkspaceStop = "WorkspaceStopError", below(Self::SandboxRuntime).raised(ErrorCode::WorkspaceStopError, Operation::Stop, UNKNOWN, &["path"]);
    WorkspaceStart = "WorkspaceStartError", below(Self::SandboxRuntime).raised(ErrorCode::WorkspaceStartError, Operation::Start, UNKNOWN, &["path"]);
    WorkspaceRootNotFound = "WorkspaceRootNotFoundError", below(Self::SandboxRuntime).raised(ErrorCode::WorkspaceRootNotFound, Operation::Exec, NO, &["path"]);
    LocalFileRead = "LocalFileReadError", below(Self::LocalArtifact).raised(ErrorCode::LocalFileReadError, Operation::Materialize, NO, &["src"]);
    LocalDirRead = "LocalDirReadError", below(Self::LocalArtifact).raised(ErrorCode::LocalDirReadError, Operation::Materialize, NO, &["src"]);
    LocalChecksum = "LocalChecksumError", below(Self::LocalArtifact).raised(ErrorCode::LocalChecksumError, Operation::Materialize, NO, &["src"]);
    GitMissingInImage = "GitMissingInImageError", below(Self::GitArtifact).raised(ErrorCode::GitMissingInImage, Operation::Materialize, NO, &[]);
    GitClone = "GitCloneError", below(Self::GitArtifact).raised(ErrorCode::GitCloneError, Operation::Materialize, UNKNOWN, &["url", "ref", "stderr"]);
    GitSubpath = "GitSubpathError", below(Self::GitArtifact).raised(ErrorCode::GitSubpathError, Operation::Materialize, NO, &["repo", "subpath", "reason"]);
    GitCopy = "GitCopyError", below(Self::GitArtifact).raised(ErrorCode::GitCopyError, Operation::Materialize, UNKNOWN, &["src_root", "dest", "stderr"]);
    MountToolMissing = "MountToolMissingError", below(Self::MountArtifact).raised(ErrorCode::MountMissingTool, Operation::Materialize, NO, &["tool"]);
    MountConfig = "MountConfigError", below(Self::MountArtifact).raised(ErrorCode::MountConfigInvalid, Operation::Materialize, NO, &[]);
    MountCommand = "MountCommandError", below(Self::MountArtifact).raised(ErrorCode::MountFailed, Operation::Materialize, NO, &["command", "stderr"]);
    SnapshotPersist = "SnapshotPersistError", below(Self::Snapshot).raised(ErrorCode::SnapshotPersistError, Operation::SnapshotPersist, UNKNOWN, &["snapshot_id", "path"]);
    SnapshotRestore = "SnapshotRestoreError", below(Self::Snapshot).raised(ErrorCode::SnapshotRestoreError, Operation::SnapshotRestore, UNKNOWN, &["snapshot_id", "path"]);
    SnapshotNotRestorable = "SnapshotNotRestorableError", below(Self::Snapshot).raised(ErrorCode::SnapshotNotRestorable, Operation::SnapshotRestore, NO, &["snapshot_id", "path"]);
}

impl ErrorClass {
    /// The class with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|class| class.name() == name)
    }

    /// The class that errors with `code` are raised as. `None` for codes of our own.
    pub fn of_code(code: ErrorCode) -> Option<Self> {
        Self::ALL.iter().copied().find(|class| class.facts().is_some_and(|facts| facts.code == code))
    }

    /// The family it belongs to directly. `None` for the root.
    pub const fn parent(self) -> Option<Self> {
        self.row().parent
    }

    /// Its families, nearest first, up to and with the root.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), |class| class.parent())
    }

    /// What its errors have. `None` for a family, which is never raised itself.
    pub const fn facts(self) -> Option<Facts> {
        self.row().facts
    }
}
