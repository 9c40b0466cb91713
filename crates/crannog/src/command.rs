//! A process to start, said piece by piece.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use crannog_core::process::{Connection, Program, ResourceLimits, StartSpec, Stdin, TerminalSize};

/// A builder for [`StartSpec`], in the manner of [`std::process::Command`].
///
/// Text and arguments may be any bytes. Nothing is checked here: what cannot be started is refused by the guest with a typed error.
///
/// ```
/// use crannog::{Command, Connection, StartSpec, TerminalSize};
///
/// let spec: StartSpec = Command::shell("make test")
///     .env("MAKEFLAGS", "-j2")
///     .cwd("project")
///     .terminal(TerminalSize { rows: 40, columns: 120 })
///     .into();
/// assert!(matches!(spec.connection, Connection::Terminal(size) if size.rows == 40));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Command(StartSpec);

impl Command {
    /// Text for `sh -c`, run in the working directory as it stands: nothing is put around it.
    pub fn shell(text: impl AsRef<OsStr>) -> Self {
        Self(StartSpec::new(Program::Shell(bytes(text))))
    }

    /// An argument vector, passed byte for byte. The first is the program.
    pub fn argv<Item: AsRef<OsStr>>(arguments: impl IntoIterator<Item = Item>) -> Self {
        Self(StartSpec::new(Program::Argv(arguments.into_iter().map(bytes).collect())))
    }

    /// One more variable on top of the sandbox's environment. A later one wins over an earlier.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.0.environment.push((bytes(name), bytes(value)));
        self
    }

    /// The working directory, relative to the workspace.
    pub fn cwd(mut self, path: impl AsRef<OsStr>) -> Self {
        self.0.cwd = Some(bytes(path));
        self
    }

    /// The user to run as, by name or number.
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.0.user = Some(user.into());
        self
    }

    /// A terminal of this size instead of pipes.
    pub fn terminal(mut self, size: TerminalSize) -> Self {
        self.0.connection = Connection::Terminal(size);
        self
    }

    /// Records what the terminal shows and what is typed while it echoes: see [`Sandbox::recording`](crate::Sandbox::recording). Only with
    /// a terminal.
    pub fn record(mut self, record: bool) -> Self {
        self.0.record = record;
        self
    }

    /// Pipes, with an input that [`Sandbox::write`](crate::Sandbox::write) fills.
    pub fn stdin_piped(mut self) -> Self {
        self.0.connection = Connection::Pipes(Stdin::Piped);
        self
    }

    /// After this time the whole tree is ended: TERM, a grace, KILL. At most [`TIMEOUT_MAX`](crannog_core::limits::TIMEOUT_MAX).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = Some(timeout);
        self
    }

    /// Resource limits of the process.
    pub fn limits(mut self, limits: ResourceLimits) -> Self {
        self.0.limits = limits;
        self
    }

    /// A name for this start, so that a caller who does not know whether its last try arrived can try again. The library makes one up
    /// when none is given, which covers its own retries. At most 128 bytes.
    pub fn request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }
}

impl From<Command> for StartSpec {
    fn from(command: Command) -> Self {
        command.0
    }
}

fn bytes(text: impl AsRef<OsStr>) -> Vec<u8> {
    text.as_ref().as_bytes().to_vec()
}
