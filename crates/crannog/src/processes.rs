//! Everything that is done to a sandbox's processes by their ids.

use std::time::Duration;

use crannog_core::collect::Collect;
use crannog_core::error::Operation;
use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::process::{ProcessInfo, StartSpec, Stream, TerminalSize, Update, WriteSpec, Written};
use crannog_core::signal::{Signal, Target};
use crannog_core::transcript::{Killed, TranscriptPart};

use crate::error::{Error, Kind};
use crate::sandbox::Sandbox;

/// Input for a process, with how long the process may take to accept it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Input {
    bytes: Vec<u8>,
    write_id: Option<String>,
    patience: Duration,
}

/// How long a process may take to accept input unless told.
pub const WRITE_PATIENCE_DEFAULT: Duration = Duration::from_secs(10);

impl Input {
    /// These bytes, at most [`limits::WRITE_BYTES_MAX`], with [`WRITE_PATIENCE_DEFAULT`].
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), write_id: None, patience: WRITE_PATIENCE_DEFAULT }
    }

    /// Gives up on what the process has not accepted after this long. At most [`limits::WINDOW_MS_MAX`].
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Names this write, so that a caller who does not know whether its last try arrived can try again. The library makes a name up when
    /// none is given, which covers its own retries. At most 128 bytes.
    pub fn write_id(mut self, id: impl Into<String>) -> Self {
        self.write_id = Some(id.into());
        self
    }

    fn into_spec(self) -> WriteSpec {
        WriteSpec { bytes: self.bytes, write_id: self.write_id, patience: self.patience }
    }
}

impl From<&[u8]> for Input {
    fn from(bytes: &[u8]) -> Self {
        Self::new(bytes)
    }
}

impl<const LEN: usize> From<&[u8; LEN]> for Input {
    fn from(bytes: &[u8; LEN]) -> Self {
        Self::new(bytes.as_slice())
    }
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl Sandbox {
    /// Starts a process and answers at once.
    ///
    /// The process outlives this call, this handle and this program; [`collect`](Self::collect) finds its output at any time.
    pub async fn start(&self, spec: impl Into<StartSpec>) -> Result<Update, Error> {
        self.start_with(spec.into(), None).await
    }

    /// Starts a process and collects its first window, in one round trip.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use crannog::{Command, End, Host, Sandbox, SandboxOptions, Wait};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// # let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
    /// let wait = Wait::at_most(Duration::from_secs(10)).budget(500);
    /// let update = sandbox.start_and_collect(Command::shell("echo hello"), wait).await?;
    /// assert_eq!(update.text, "hello\n");
    /// assert_eq!(update.end, Some(End::Exited { code: 0 }));
    /// # sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn start_and_collect(&self, spec: impl Into<StartSpec>, collect: impl Into<Collect>) -> Result<Update, Error> {
        self.start_with(spec.into(), Some(collect.into())).await
    }

    async fn start_with(&self, spec: StartSpec, collect: Option<Collect>) -> Result<Update, Error> {
        let answer = self.guest().start(spec, collect).await;
        self.settle(Operation::StartProcess, answer).await
    }

    /// Waits for output, the end of the process, or a condition, and shows what came since the cursor.
    ///
    /// Reading never consumes: a lost answer is asked for again with the same cursor. Cancel-safe.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use crannog::{Command, Host, Sandbox, SandboxOptions, Until, Wait};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// # let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
    /// let server = sandbox.start(Command::shell("sleep 0.1; echo listening on 8080; exec sleep 100")).await?;
    /// let ready = Wait::at_most(Duration::from_secs(10)).until(Until::Regex("listening on ([0-9]+)".to_owned()));
    /// let update = sandbox.collect(server.process, ready).await?;
    /// assert_eq!(update.text, "listening on 8080\n");
    /// let rest = sandbox.collect(server.process, Wait::at_most(Duration::ZERO).from_cursor(update.cursor)).await?;
    /// assert_eq!(rest.text, "");
    /// # sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn collect(&self, process: ProcessId, collect: impl Into<Collect>) -> Result<Update, Error> {
        let answer = self.guest().collect(process, collect.into()).await;
        self.settle(Operation::Collect, answer).await
    }

    /// Writes to a process. Writes to one process are never mixed; what the process does not accept in time is not written, and
    /// [`Written::accepted`] says how much was.
    ///
    /// A write that has begun runs to its end even if the future is dropped.
    pub async fn write(&self, process: ProcessId, input: impl Into<Input>) -> Result<Written, Error> {
        let answer = self.guest().write(process, input.into().into_spec(), Duration::ZERO, None).await;
        let update = self.settle(Operation::WriteProcess, answer).await?;
        update.written.ok_or_else(|| Error::new(Operation::WriteProcess, Kind::Unsaid { what: "what became of the bytes" }))
    }

    /// Writes to a process and collects what it answers. [`Update::written`] says what became of the bytes.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use crannog::{Command, Host, Sandbox, SandboxOptions, TerminalSize, Until, Wait};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// # let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
    /// let reading = Wait::at_most(Duration::from_secs(10)).until(Until::Input);
    /// let cat = sandbox.start_and_collect(Command::argv(["cat"]).terminal(TerminalSize::default()), reading).await?;
    /// let update = sandbox.write_and_collect(cat.process, "hi\n", Wait::at_most(Duration::from_secs(10)).until(Until::Bytes(8))).await?;
    /// assert_eq!(update.text, "hi\r\nhi\r\n", "the terminal's echo, then cat's copy");
    /// # sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_and_collect(
        &self,
        process: ProcessId,
        input: impl Into<Input>,
        collect: impl Into<Collect>,
    ) -> Result<Update, Error> {
        let answer = self.guest().write(process, input.into().into_spec(), Duration::ZERO, Some(collect.into())).await;
        self.settle(Operation::WriteProcess, answer).await
    }

    /// Closes a process's piped input. Doing it twice is fine.
    pub async fn close_stdin(&self, process: ProcessId) -> Result<(), Error> {
        let answer = self.guest().close_stdin(process).await;
        self.settle(Operation::CloseStdin, answer).await
    }

    /// Resizes a process's terminal; the foreground group is told with SIGWINCH.
    pub async fn resize(&self, process: ProcessId, size: TerminalSize) -> Result<(), Error> {
        let answer = self.guest().resize(process, size).await;
        self.settle(Operation::Resize, answer).await
    }

    /// Sends a signal.
    pub async fn signal(&self, process: ProcessId, signal: Signal, target: Target) -> Result<(), Error> {
        let answer = self.guest().signal(process, target, signal).await;
        self.settle(Operation::Signal, answer).await
    }

    /// Ends a process and everything that it started: TERM, the grace ([`limits::KILL_GRACE`] unless told), KILL. A process that has ended
    /// answers with its earlier end, after what it left behind was ended.
    ///
    /// A kill that has begun runs to its end even if the future is dropped.
    ///
    /// ```
    /// # use crannog::{Command, End, Host, Sandbox, SandboxOptions, Signal};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// # let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
    /// let server = sandbox.start(Command::shell("sleep 100 & sleep 100")).await?;
    /// let killed = sandbox.kill(server.process, None).await?;
    /// assert_eq!(killed.end, End::Cancelled { signal: Signal::TERM });
    /// assert!(killed.complete);
    /// # sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn kill(&self, process: ProcessId, grace: Option<Duration>) -> Result<Killed, Error> {
        let answer = self.guest().kill(process, grace.unwrap_or(limits::KILL_GRACE)).await;
        self.settle(Operation::Kill, answer).await
    }

    /// All processes that are still known, by their age, the oldest first: those that run and the latest
    /// [`limits::PROCESSES_ENDED_KEPT`] that ended.
    pub async fn processes(&self) -> Result<Vec<ProcessInfo>, Error> {
        let answer = self.guest().list().await;
        let mut processes = self.settle(Operation::List, answer).await?;
        processes.sort_by_key(|info| std::cmp::Reverse(info.age_ms));
        Ok(processes)
    }

    /// How one process stands.
    pub async fn process(&self, process: ProcessId) -> Result<ProcessInfo, Error> {
        let known = self.processes().await?;
        let found = known.into_iter().find(|info| info.process == process);
        found.ok_or_else(|| Error::process_not_found(Operation::List, process))
    }

    /// Waits until at least one of these processes has ended, and answers with all of them that have: none if the time passed before.
    /// Cancel-safe.
    pub async fn wait_any(&self, processes: &[ProcessId], timeout: Duration) -> Result<Vec<ProcessInfo>, Error> {
        let answer = self.guest().wait_any(processes, timeout).await;
        self.settle(Operation::Collect, answer).await
    }

    /// Raw bytes of a transcript from an absolute offset, at most `bytes_max` and [`limits::READ_REPLY_BYTES_MAX`], of one stream or of
    /// both in arrival order. Does not wait. Reading never consumes.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use crannog::{Command, Host, Sandbox, SandboxOptions, Stream};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// # let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
    /// let process = sandbox.start(Command::shell("printf '\\377out'; echo err >&2")).await?.process;
    /// sandbox.wait_any(&[process], Duration::from_secs(10)).await?;
    /// let part = sandbox.read(process, 0, 1000, Some(Stream::Stdout)).await?;
    /// assert_eq!(part.parts[0].bytes, b"\xffout");
    /// # sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read(&self, process: ProcessId, from: u64, bytes_max: usize, stream: Option<Stream>) -> Result<TranscriptPart, Error> {
        let answer = self.guest().read(process, from, bytes_max, stream).await;
        self.settle(Operation::ReadTranscript, answer).await
    }
}
