//! What can be asked of a process and what is answered: the words every face decodes into and encodes from.

use std::time::Duration;

use crate::collect::Collect;
use crate::end::End;
use crate::id::ProcessId;
use crate::limits;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// An argument vector, passed byte for byte. The first is the program, looked up in the `PATH` of the command's own environment
    /// unless it has a slash.
    Argv(Vec<Vec<u8>>),
    /// Text for a shell: `sh -c TEXT`.
    Shell(Vec<u8>),
}

/// Where input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stdin {
    /// End of input at once (`/dev/null`).
    #[default]
    Closed,
    /// A pipe that `write` fills.
    Piped,
}

/// A terminal's size in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Rows, 1 to [`limits::TERMINAL_SIDE_MAX`].
    pub rows: u16,
    /// Columns, 1 to [`limits::TERMINAL_SIDE_MAX`].
    pub columns: u16,
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { rows: limits::TERMINAL_ROWS_DEFAULT, columns: limits::TERMINAL_COLUMNS_DEFAULT }
    }
}

/// How input and output are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// One terminal for all three.
    Terminal(TerminalSize),
    /// Separate pipes for stdout and stderr.
    Pipes(Stdin),
}

/// Resource limits of one process (setrlimit(2)); `None` leaves the sandbox's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResourceLimits {
    /// Address space, bytes.
    pub memory_bytes: Option<u64>,
    /// Processor time, seconds.
    pub cpu_seconds: Option<u64>,
    /// Open files.
    pub open_files: Option<u64>,
    /// Size of a written file, bytes.
    pub file_bytes: Option<u64>,
    /// Processes of the user.
    pub processes: Option<u64>,
}

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartSpec {
    /// What to run.
    pub program: Program,
    /// Terminal or pipes.
    pub connection: Connection,
    /// Environment on top of the sandbox's. A later entry wins over an earlier one.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// Working directory; relative to the workspace. `None` is the workspace.
    pub cwd: Option<Vec<u8>>,
    /// User name or number. `None` is the sandbox's user.
    pub user: Option<String>,
    /// Resource limits.
    pub limits: ResourceLimits,
    /// After this time the whole tree is ended. `None`: never.
    pub timeout: Option<Duration>,
    /// Slow the process down rather than drop output while a follower lags. For one-shot runs that stream to a slow reader.
    pub hold_for_follower: bool,
    /// A retry with the same id answers for the first start instead of starting again. At most 128 bytes.
    pub request_id: Option<String>,
    /// Record what the terminal shows (asciicast v3). Only with a terminal.
    pub record: bool,
}

impl StartSpec {
    /// A process with pipes, no input, the sandbox's environment and directory, and no timeout.
    pub fn new(program: Program) -> Self {
        Self {
            program,
            connection: Connection::Pipes(Stdin::Closed),
            environment: Vec::new(),
            cwd: None,
            user: None,
            limits: ResourceLimits::default(),
            timeout: None,
            hold_for_follower: false,
            request_id: None,
            record: false,
        }
    }
}

/// Input for a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteSpec {
    /// The bytes, at most [`limits::WRITE_BYTES_MAX`].
    pub bytes: Vec<u8>,
    /// A retry with the same id answers for the first write instead of writing again. At most 128 bytes.
    pub write_id: Option<String>,
    /// How long the process may take to accept the bytes. What it has not accepted by then is not written.
    pub patience: Duration,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Bytes the kernel took for the process. Fewer than given means that it does not read.
    pub accepted: u64,
    /// The terminal is in line mode and a line was longer than it keeps ([`limits::TERMINAL_LINE_BYTES_MAX`]): the kernel dropped the rest of that line.
    pub line_too_long: bool,
    /// This answers for an earlier write with the same id.
    pub repeated: bool,
}

/// One of a process's output streams. A terminal has only the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The answer to a start, a write or a collect: what the process printed since the cursor, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// The process.
    pub process: ProcessId,
    /// The window's output as text within the budget: decoded, cut in the middle if need be.
    pub text: String,
    /// The same as bytes: the raw bytes when nothing was cut, the bytes of `text` otherwise.
    pub raw: Vec<u8>,
    /// Absolute offset at which this window began.
    pub start: u64,
    /// Absolute offset to collect from next. An unfinished character stays in front of it.
    pub cursor: u64,
    /// Raw bytes of the window that `text` does not show: cut by the budget or lost to retention.
    pub omitted_bytes: u64,
    /// Of those, bytes that cannot be fetched any more.
    pub lost_bytes: u64,
    /// Tokens of the whole window, when the budget cut it.
    pub original_token_count: Option<u64>,
    /// How it ended, once everything that it printed before is in the log.
    pub end: Option<End>,
    /// The foreground process is blocked reading its input. Evidence of the kernel, not a guess from the text.
    pub waiting_for_input: bool,
    /// Whether the terminal echoes; `None` without one. Off usually means a password prompt.
    pub echo: Option<bool>,
    /// Processes that it started are still running.
    pub descendants_alive: bool,
    /// What ended the wait.
    pub reason: crate::collect::Reason,
    /// What became of the bytes, in the answer to a write.
    pub written: Option<Written>,
}

/// A process in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its id.
    pub process: ProcessId,
    /// Its argument vector, lossily decoded for display, at most 4 KiB.
    pub command: String,
    /// The kernel's number while it lives.
    pub pid: Option<u32>,
    /// It has a terminal of this size.
    pub terminal: Option<TerminalSize>,
    /// It takes input.
    pub stdin_open: bool,
    /// Age in milliseconds.
    pub age_ms: u64,
    /// Time from start to end in milliseconds, once it has ended.
    pub duration_ms: Option<u64>,
    /// How it ended.
    pub end: Option<End>,
    /// Bytes printed so far.
    pub output_bytes: u64,
    /// Bytes of them that are no longer kept.
    pub lost_bytes: u64,
    /// Processes that it started are still running.
    pub descendants_alive: bool,
}

/// A start with its first collect, so that a short command costs one round trip.
#[derive(Debug, Clone, PartialEq)]
pub struct StartAndCollect {
    /// What to start.
    pub spec: StartSpec,
    /// How to wait.
    pub collect: Collect,
}
