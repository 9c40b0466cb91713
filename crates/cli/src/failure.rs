//! What can go wrong in the command itself, and how any failure is told: a code, one line, a hint, an exit code.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use crannog::ErrorCode;
use crannog_core::keys::KeysError;
use thiserror::Error;

/// The exit code when the command line is wrong.
pub(crate) const EXIT_USAGE: u8 = 2;
/// The exit code when crannog itself failed; like 126 and 127 it is what env(1) and timeout(1) use.
pub(crate) const EXIT_FAILED: u8 = 125;
/// The exit code when the program may not be executed.
pub(crate) const EXIT_NOT_EXECUTABLE: u8 = 126;
/// The exit code when the program does not exist.
pub(crate) const EXIT_NOT_FOUND: u8 = 127;
/// The exit code when nobody reads the output any more: 128 and SIGPIPE.
pub(crate) const EXIT_OUTPUT_CLOSED: u8 = 141;

/// Why a verb did not do what it was asked.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The library refused or failed.
    #[error(transparent)]
    Library(#[from] crannog::Error),
    /// The reader of stdout has gone. Told to nobody, since nobody asks any more.
    #[error("nobody reads the output any more")]
    OutputClosed,
    /// Writing the output failed.
    #[error("cannot write the output")]
    WriteOutput(#[source] io::Error),
    /// The file for a command's input cannot be read.
    #[error("cannot read the input from {}", path.display())]
    ReadInput {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A file is no recording, or not a whole one.
    #[error("{} is no asciicast v3 recording: line {line} is not understood", path.display())]
    NotARecording { path: PathBuf, line: usize },
    /// A recording cannot be written to a file.
    #[error("cannot write the recording to {}", path.display())]
    WriteRecording {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Keys that are not known.
    #[error("cannot read the keys")]
    ReadKeys(#[source] KeysError),
    /// The stream of output ended, but not with the end of the process.
    #[error("the output broke off before the command ended")]
    EndMissing,
    /// Nobody knows how the command ended.
    #[error("how the command ended is not known: {reason}")]
    EndUnknown { reason: String },
    /// Some of several sandboxes were not destroyed.
    #[error("{failed} of {asked} sandboxes were not destroyed")]
    DownIncomplete { failed: usize, asked: usize },
    /// Part of a process's tree outlived the kill.
    #[error("process {process} has descendants that could not be ended")]
    KillIncomplete { process: u32 },
    /// There is no terminal to attach with.
    #[error("{verb} needs a terminal on stdin and stdout")]
    TerminalNeeded { verb: &'static str },
    /// The caller's terminal cannot be used.
    #[error("cannot use this terminal")]
    Terminal(#[source] io::Error),
    /// The runtime or a signal handler could not be set up.
    #[error("cannot start")]
    Setup(#[source] io::Error),
    /// The command line is wrong; the text is clap's.
    #[error("{message}")]
    Usage { message: String, hint: String },
    /// A command that does nothing did not succeed.
    #[error("`true` {end}")]
    Trial { end: String },
    /// Something on this host does not meet what crannog needs.
    #[error("{failed} of the checks failed")]
    Doctor { failed: usize },
}

impl Failure {
    /// The stable code that a program may branch on.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Library(error) => error.code(),
            Self::ReadKeys(_) | Self::Usage { .. } | Self::NotARecording { .. } => ErrorCode::InvalidArgument,
            Self::ReadInput { .. } => ErrorCode::LocalFileReadError,
            Self::TerminalNeeded { .. } => ErrorCode::NotATerminal,
            Self::Doctor { .. } => ErrorCode::Unsupported,
            _ => ErrorCode::Internal,
        }
    }

    /// The operation that failed, when it was one of the library's.
    pub(crate) fn operation(&self) -> Option<&'static str> {
        match self {
            Self::Library(error) => Some(error.operation().as_str()),
            Self::DownIncomplete { .. } => Some("destroy"),
            Self::KillIncomplete { .. } => Some("kill"),
            Self::ReadKeys(_) => Some("write_process"),
            Self::EndMissing | Self::EndUnknown { .. } => Some("exec"),
            _ => None,
        }
    }

    /// Whether the same call may succeed later. `None` where that is not known.
    pub(crate) fn retryable(&self) -> Option<bool> {
        match self {
            Self::Library(error) => error.retryable(),
            Self::DownIncomplete { .. } | Self::KillIncomplete { .. } => Some(true),
            Self::Usage { .. } | Self::ReadKeys(_) | Self::TerminalNeeded { .. } => Some(false),
            _ => None,
        }
    }

    /// What is known of the circumstances, by name.
    pub(crate) fn context(&self) -> BTreeMap<String, String> {
        let pair = match self {
            Self::Library(error) => return error.context(),
            Self::ReadInput { path, .. } | Self::NotARecording { path, .. } | Self::WriteRecording { path, .. } => {
                ("path", path.display().to_string())
            }
            Self::KillIncomplete { process } => ("process", process.to_string()),
            Self::TerminalNeeded { verb } => ("verb", (*verb).to_owned()),
            _ => return BTreeMap::new(),
        };
        BTreeMap::from([(pair.0.to_owned(), pair.1)])
    }

    /// What a person can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Library(error) => return Some(error.hint().unwrap_or_else(|| hint_for(error.code()).to_owned())),
            Self::Usage { hint, .. } => return Some(hint.clone()),
            Self::ReadInput { .. } => "give a file that you may read, or - for stdin",
            Self::NotARecording { .. } => "`crannog recording` fetches one",
            Self::WriteRecording { .. } => "give a file that you may write to, with room on its disk",
            Self::ReadKeys(_) => "for example: 'ctrl-c', or '\"ls -l\" enter'",
            Self::EndMissing | Self::EndUnknown { .. } => "`crannog ls` shows whether the sandbox is still there",
            Self::DownIncomplete { .. } => "`crannog ls` shows what is left; try again",
            Self::KillIncomplete { .. } => "try again; `crannog down` ends everything in the sandbox",
            Self::TerminalNeeded { .. } => "use `logs --follow` to read and `write` to type without a terminal",
            Self::Doctor { .. } => "each failed check says what to do",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// The failure and what caused it, in one line.
    pub(crate) fn message(&self) -> String {
        let mut message = self.to_string();
        let mut source = self.source();
        while let Some(error) = source {
            message.push_str(": ");
            message.push_str(&error.to_string());
            source = error.source();
        }
        message.replace('\n', " ")
    }

    /// The exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::OutputClosed => EXIT_OUTPUT_CLOSED,
            Self::Usage { .. } => EXIT_USAGE,
            _ => match self.code() {
                ErrorCode::ProgramNotFound => EXIT_NOT_FOUND,
                ErrorCode::ProgramNotExecutable => EXIT_NOT_EXECUTABLE,
                _ => EXIT_FAILED,
            },
        }
    }
}

/// A hint where the library has none.
fn hint_for(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidArgument => "the verb's `--help` shows what it takes",
        _ => "CRANNOG_LOG=debug shows more",
    }
}

/// Tells a reader that has gone from other failures of writing.
pub(crate) fn output_failure(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe { Failure::OutputClosed } else { Failure::WriteOutput(error) }
}
