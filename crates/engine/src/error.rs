//! What can fail in the engine. A variant is an operation that did not work; its source is kept, and the message says what to do.

use std::io;

use crannog_core::collect::CollectError;
use crannog_core::end::End;
use crannog_core::error::ErrorCode;
use crannog_core::id::ProcessId;
use crannog_core::limits;

/// A failed operation of the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// No process has this id, or it has been forgotten.
    #[error("no process {process} in this sandbox: list the processes to see which are known")]
    ProcessNotFound {
        /// The id asked for.
        process: ProcessId,
    },
    /// The process has ended, so it takes no input, signal or size.
    #[error("process {process} has ended: collect it to see its output and its end")]
    ProcessEnded {
        /// The process.
        process: ProcessId,
        /// How, if that is known already.
        end: Option<End>,
    },
    /// The process has no open input.
    #[error("process {process} takes no input: start it with a terminal or with piped input")]
    StdinClosed {
        /// The process.
        process: ProcessId,
    },
    /// The process has pipes.
    #[error("process {process} has no terminal: start it with one")]
    NotATerminal {
        /// The process.
        process: ProcessId,
    },
    /// As many processes live as may.
    #[error("{live} processes are running, which is the limit of {limit}: end one, then start again")]
    LimitReached {
        /// Live processes.
        live: u32,
        /// The limit.
        limit: u32,
    },
    /// The sandbox is being closed.
    #[error("the sandbox is being closed: nothing starts in it any more")]
    Closed,
    /// The program is not there.
    #[error("program {program} was not found: check its name and the PATH of the command")]
    ProgramNotFound {
        /// The program as it was asked for.
        program: String,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The program is there and can't be executed.
    #[error("program {program} may not be executed: check that it is a file with execute permission")]
    ProgramNotExecutable {
        /// The program as it was asked for.
        program: String,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The working directory can't be entered.
    #[error("working directory {directory} can't be entered: check that it exists and is a directory")]
    WorkingDirectory {
        /// The directory.
        directory: String,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The user does not exist, or commands may not be run as that user here.
    #[error("commands can't run as user {user} here: check that the user exists and that the sandbox may switch users")]
    UserUnavailable {
        /// The user as asked for.
        user: String,
        /// What failed.
        #[source]
        source: io::Error,
    },
    /// More arguments and environment than the kernel takes.
    #[error("arguments and environment of {bytes} bytes are too large: pass the data in a file or on standard input")]
    ArgumentsTooLarge {
        /// Their size.
        bytes: usize,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// A step of starting a process failed.
    #[error("the process could not be started: {step} failed")]
    Spawn {
        /// The step.
        step: String,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// An argument is outside what is allowed.
    #[error("{name} is refused: {problem}")]
    InvalidArgument {
        /// The argument.
        name: &'static str,
        /// What is wrong with it and what would be right.
        problem: String,
    },
    /// A collect asks for what can't be waited for.
    #[error("the conditions of the collect are refused")]
    Conditions(#[source] CollectError),
    /// An offset beyond what was printed.
    #[error("offset {offset} is beyond the {total} bytes that process {process} has printed: use a cursor from an earlier answer")]
    OffsetBeyondEnd {
        /// The process.
        process: ProcessId,
        /// The offset.
        offset: u64,
        /// Bytes printed so far.
        total: u64,
    },
    /// Too many writes wait for one process.
    #[error("{} writes wait for process {process} already: wait for one of them first", limits::WRITES_WAITING_MAX)]
    WritesWaiting {
        /// The process.
        process: ProcessId,
    },
    /// The kernel refused bytes for another reason than that nobody reads them.
    #[error("writing to process {process} failed: see whether it still runs")]
    Write {
        /// The process.
        process: ProcessId,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The kernel refused a size.
    #[error("the terminal of process {process} could not be resized: see whether it still runs")]
    Resize {
        /// The process.
        process: ProcessId,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The kernel refused a signal.
    #[error("process {process} could not be signalled: see whether it runs as a user that the sandbox may signal")]
    Signal {
        /// The process.
        process: ProcessId,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The process was started without a recording.
    #[error("process {process} was not recorded: start it with a terminal and ask for a recording")]
    NotRecorded {
        /// The process.
        process: ProcessId,
    },
    /// The kept recording can't be read back.
    #[error("the recording of process {process} can't be read: see the disk that the sandbox keeps its files on")]
    ReadRecording {
        /// The process.
        process: ProcessId,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The terminal has more cells than are rendered.
    #[error("a terminal of {rows} rows and {columns} columns is not rendered: resize it to {} cells or fewer", limits::SCREEN_CELLS_MAX)]
    ScreenTooLarge {
        /// The process.
        process: ProcessId,
        /// Its rows.
        rows: u16,
        /// Its columns.
        columns: u16,
    },
    /// The output can't be made into a picture, or takes too long to.
    #[error("the screen of process {process} can't be rendered: read its output instead")]
    ScreenFailed {
        /// The process.
        process: ProcessId,
    },
    /// The engine could not be set up.
    #[error("the engine could not be set up: {step} failed")]
    Setup {
        /// The step.
        step: &'static str,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

impl EngineError {
    /// The stable code that programs may branch on.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::ProcessNotFound { .. } => ErrorCode::PtySessionNotFound,
            Self::ProcessEnded { .. } => ErrorCode::ProcessEnded,
            Self::StdinClosed { .. } => ErrorCode::StdinClosed,
            Self::NotATerminal { .. } => ErrorCode::NotATerminal,
            Self::LimitReached { .. } => ErrorCode::ProcessLimitReached,
            Self::Closed => ErrorCode::SandboxLost,
            Self::ProgramNotFound { .. } => ErrorCode::ProgramNotFound,
            Self::ProgramNotExecutable { .. } => ErrorCode::ProgramNotExecutable,
            Self::WorkingDirectory { .. } => ErrorCode::WorkingDirectoryNotFound,
            Self::UserUnavailable { .. } => ErrorCode::UserUnavailable,
            Self::ArgumentsTooLarge { .. } => ErrorCode::ArgumentsTooLarge,
            Self::Spawn { .. } => ErrorCode::SpawnFailed,
            Self::InvalidArgument { .. } | Self::Conditions(_) | Self::OffsetBeyondEnd { .. } | Self::WritesWaiting { .. } => {
                ErrorCode::InvalidArgument
            }
            Self::NotRecorded { .. } => ErrorCode::NotRecorded,
            Self::ScreenTooLarge { .. } => ErrorCode::Unsupported,
            Self::Write { .. }
            | Self::Resize { .. }
            | Self::Signal { .. }
            | Self::ReadRecording { .. }
            | Self::ScreenFailed { .. }
            | Self::Setup { .. } => ErrorCode::Internal,
        }
    }

    /// What a program may want to know beside the code, by name.
    pub fn context(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::ProcessNotFound { process }
            | Self::StdinClosed { process }
            | Self::NotATerminal { process }
            | Self::WritesWaiting { process }
            | Self::Write { process, .. }
            | Self::Resize { process, .. }
            | Self::Signal { process, .. }
            | Self::NotRecorded { process }
            | Self::ReadRecording { process, .. }
            | Self::ScreenFailed { process } => vec![("process", process.to_string())],
            Self::ScreenTooLarge { process, rows, columns } => {
                vec![("process", process.to_string()), ("rows", rows.to_string()), ("columns", columns.to_string())]
            }
            Self::ProcessEnded { process, end } => {
                let mut context = vec![("process", process.to_string())];
                context.extend(end.as_ref().map(|end| ("end", end.kind().to_owned())));
                context.extend(end.as_ref().and_then(End::exit_code).map(|code| ("exit_code", code.to_string())));
                context
            }
            Self::LimitReached { live, limit } => vec![("live", live.to_string()), ("limit", limit.to_string())],
            Self::ProgramNotFound { program, .. } | Self::ProgramNotExecutable { program, .. } => vec![("program", program.clone())],
            Self::WorkingDirectory { directory, .. } => vec![("directory", directory.clone())],
            Self::UserUnavailable { user, .. } => vec![("user", user.clone())],
            Self::ArgumentsTooLarge { bytes, .. } => vec![("bytes", bytes.to_string())],
            Self::Spawn { step, .. } => vec![("step", step.clone())],
            Self::Setup { step, .. } => vec![("step", (*step).to_owned())],
            Self::Closed => Vec::new(),
            Self::Conditions(_) => vec![("argument", "until".to_owned())],
            Self::InvalidArgument { name, .. } => vec![("argument", (*name).to_owned())],
            Self::OffsetBeyondEnd { process, offset, total } => {
                vec![("process", process.to_string()), ("offset", offset.to_string()), ("total", total.to_string())]
            }
        }
    }
}
