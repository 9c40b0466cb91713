//! Stable error codes and operation names, shared by every face.
//!
//! A code is what a program may branch on; a message is for people and may change. The first 33 codes and the first 14 operations
//! are those of the openai-agents sandbox layer, spelled as there, so that its clients see what they know. The rest are ours.

use std::fmt;

macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The stable spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value with this spelling.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}

named! {
    /// What went wrong, as a stable word.
    ErrorCode {
        /// A manifest or file path is refused.
        InvalidManifestPath = "invalid_manifest_path",
        /// An archive is neither tar nor zip.
        InvalidCompressionScheme = "invalid_compression_scheme",
        /// A port cannot be reached from outside.
        ExposedPortUnavailable = "exposed_port_unavailable",
        /// A helper command ended with another code than 0.
        ExecNonzero = "exec_nonzero",
        /// A command outlived its timeout.
        ExecTimeout = "exec_timeout",
        /// A command could not be run at all.
        ExecTransportError = "exec_transport_error",
        /// No process with this id.
        PtySessionNotFound = "pty_session_not_found",
        /// A patch names a path that is refused.
        ApplyPatchInvalidPath = "apply_patch_invalid_path",
        /// A patch does not apply.
        ApplyPatchInvalidDiff = "apply_patch_invalid_diff",
        /// A patched file is missing.
        ApplyPatchFileNotFound = "apply_patch_file_not_found",
        /// A patched file is not UTF-8.
        ApplyPatchDecodeError = "apply_patch_decode_error",
        /// The configuration is refused.
        SandboxConfigInvalid = "sandbox_config_invalid",
        /// A file to read is missing.
        WorkspaceReadNotFound = "workspace_read_not_found",
        /// A file could not be read.
        WorkspaceArchiveReadError = "workspace_archive_read_error",
        /// A file could not be written.
        WorkspaceArchiveWriteError = "workspace_archive_write_error",
        /// Text where bytes are due.
        WorkspaceWriteTypeError = "workspace_write_type_error",
        /// The workspace could not be saved while stopping.
        WorkspaceStopError = "workspace_stop_error",
        /// The workspace could not be made ready.
        WorkspaceStartError = "workspace_start_error",
        /// The workspace directory is gone.
        WorkspaceRootNotFound = "workspace_root_not_found",
        /// A local file of a manifest cannot be read.
        LocalFileReadError = "local_file_read_error",
        /// A local directory of a manifest cannot be read.
        LocalDirReadError = "local_dir_read_error",
        /// A local file changed while it was copied.
        LocalChecksumError = "local_checksum_error",
        /// The sandbox has no git.
        GitMissingInImage = "git_missing_in_image",
        /// A repository could not be cloned.
        GitCloneError = "git_clone_error",
        /// A path inside a repository is refused.
        GitSubpathError = "git_subpath_error",
        /// A cloned repository could not be put in place.
        GitCopyError = "git_copy_error",
        /// A mount needs a program that is not there.
        MountMissingTool = "mount_missing_tool",
        /// A mount failed.
        MountFailed = "mount_failed",
        /// A mount is described wrongly.
        MountConfigInvalid = "mount_config_invalid",
        /// Skills are described wrongly.
        SkillsConfigInvalid = "skills_config_invalid",
        /// A snapshot could not be stored.
        SnapshotPersistError = "snapshot_persist_error",
        /// A snapshot could not be restored.
        SnapshotRestoreError = "snapshot_restore_error",
        /// A snapshot cannot be restored by design.
        SnapshotNotRestorable = "snapshot_not_restorable",

        /// No sandbox with this id or name.
        SandboxNotFound = "sandbox_not_found",
        /// Another live sandbox has this name.
        SandboxNameTaken = "sandbox_name_taken",
        /// The sandbox's guest has gone; what it left ends when the sandbox is destroyed.
        SandboxLost = "sandbox_lost",
        /// The sandbox could not be started.
        SandboxStartFailed = "sandbox_start_failed",
        /// The caller's lease generation is older than the current one.
        LeaseFenced = "lease_fenced",
        /// The program to run does not exist.
        ProgramNotFound = "program_not_found",
        /// The program to run may not be executed.
        ProgramNotExecutable = "program_not_executable",
        /// The working directory does not exist or is not a directory.
        WorkingDirectoryNotFound = "working_directory_not_found",
        /// The user to run as does not exist, or may not be used here.
        UserUnavailable = "user_unavailable",
        /// Arguments and environment are larger than the kernel takes.
        ArgumentsTooLarge = "arguments_too_large",
        /// A process could not be started for another reason.
        SpawnFailed = "spawn_failed",
        /// The sandbox runs as many processes as it may.
        ProcessLimitReached = "process_limit_reached",
        /// The process has ended.
        ProcessEnded = "process_ended",
        /// The process has no open input.
        StdinClosed = "stdin_closed",
        /// The process has no terminal.
        NotATerminal = "not_a_terminal",
        /// The process was started without a recording.
        NotRecorded = "not_recorded",
        /// An argument is outside what is allowed.
        InvalidArgument = "invalid_argument",
        /// The guest speaks another protocol generation.
        ProtocolMismatch = "protocol_mismatch",
        /// The guest did not answer.
        GuestUnreachable = "guest_unreachable",
        /// The guest program is not installed.
        GuestMissing = "guest_missing",
        /// The record of sandboxes could not be read or written.
        StoreFailed = "store_failed",
        /// This backend or host cannot do what was asked.
        Unsupported = "unsupported",
        /// A fault of crannog itself.
        Internal = "internal",
    }
}

named! {
    /// What was being done.
    Operation {
        /// Starting a session.
        Start = "start",
        /// Stopping a session.
        Stop = "stop",
        /// Running a command.
        Exec = "exec",
        /// Persisting a workspace.
        PersistWorkspace = "persist_workspace",
        /// Filling a workspace from an archive.
        HydrateWorkspace = "hydrate_workspace",
        /// Reading a file.
        Read = "read",
        /// Writing a file.
        Write = "write",
        /// Asking whether a session runs.
        Running = "running",
        /// Ending a session.
        Shutdown = "shutdown",
        /// Finding a port's address outside.
        ResolveExposedPort = "resolve_exposed_port",
        /// Applying a manifest.
        Materialize = "materialize",
        /// Storing a snapshot.
        SnapshotPersist = "snapshot_persist",
        /// Restoring a snapshot.
        SnapshotRestore = "snapshot_restore",
        /// Applying a patch.
        ApplyPatch = "apply_patch",

        /// Creating a sandbox.
        Create = "create",
        /// Finding a sandbox again.
        Open = "open",
        /// Listing sandboxes.
        List = "list",
        /// Destroying a sandbox.
        Destroy = "destroy",
        /// Renewing a lease.
        Renew = "renew",
        /// Starting a process.
        StartProcess = "start_process",
        /// Collecting output.
        Collect = "collect",
        /// Writing to a process.
        WriteProcess = "write_process",
        /// Closing a process's input.
        CloseStdin = "close_stdin",
        /// Resizing a terminal.
        Resize = "resize",
        /// Sending a signal.
        Signal = "signal",
        /// Ending a process.
        Kill = "kill",
        /// Reading a transcript.
        ReadTranscript = "read_transcript",
        /// Looking at a terminal's screen.
        Screen = "screen",
        /// Reading a recording.
        ReadRecording = "read_recording",
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorCode, Operation};

    #[test]
    fn spellings_are_unique_and_parse_back() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(*code));
        }
        for operation in Operation::ALL {
            assert_eq!(Operation::parse(operation.as_str()), Some(*operation));
        }
        assert_eq!(ErrorCode::parse("no_such_code"), None);
    }
}
