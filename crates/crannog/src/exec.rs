//! One-shot commands: start, wait for the end, hand everything over.

use std::time::Duration;

use crannog_core::end::End;
use crannog_core::error::Operation;
use crannog_core::id::ProcessId;
use crannog_core::limits::EXEC_OUTPUT_BYTES_DEFAULT;
use crannog_core::process::StartSpec;
use crannog_core::transcript::{Gathered, Usage};

use crate::error::Error;
use crate::sandbox::Sandbox;

/// What a finished command printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecOutput {
    /// The process; its transcript can still be read.
    pub process: ProcessId,
    /// Standard output; its middle is left out when it was longer than asked for.
    pub stdout: Vec<u8>,
    /// Standard error, likewise.
    pub stderr: Vec<u8>,
    /// Bytes left out of `stdout`.
    pub stdout_omitted_bytes: u64,
    /// Bytes left out of `stderr`.
    pub stderr_omitted_bytes: u64,
    /// How it ended. A timeout is an end, not an error: what was printed until then is here.
    pub end: End,
    /// From start to end.
    pub duration: Duration,
    /// Processes that it started in the background are still running.
    pub descendants_alive: bool,
    /// What it used.
    pub usage: Usage,
}

impl ExecOutput {
    /// It exited with code 0.
    pub fn success(&self) -> bool {
        self.end == End::Exited { code: 0 }
    }

    /// The code a shell would show: see [`End::exit_code`].
    pub fn exit_code(&self) -> Option<i32> {
        self.end.exit_code()
    }

    /// Standard output as text; what is not UTF-8 becomes U+FFFD.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text; what is not UTF-8 becomes U+FFFD.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

impl From<Gathered> for ExecOutput {
    fn from(gathered: Gathered) -> Self {
        let Gathered { process, stdout, stderr, ended } = gathered;
        Self {
            process,
            stdout,
            stderr,
            stdout_omitted_bytes: ended.stdout_omitted_bytes,
            stderr_omitted_bytes: ended.stderr_omitted_bytes,
            end: ended.end,
            duration: Duration::from_millis(ended.duration_ms),
            descendants_alive: ended.descendants_alive,
            usage: ended.usage,
        }
    }
}

impl Sandbox {
    /// Runs a command to its end and hands over its output, at most [`EXEC_OUTPUT_BYTES_DEFAULT`] of each stream.
    ///
    /// Dropping the future ends the command and everything that it started. A background process that the command left behind neither
    /// delays the answer nor is ended by it.
    ///
    /// ```
    /// # use crannog::{Command, Host, Sandbox, SandboxOptions};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// # let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
    /// let output = sandbox.exec(Command::shell("echo out; echo err >&2; exit 3")).await?;
    /// assert_eq!(output.stdout, b"out\n");
    /// assert_eq!(output.stderr, b"err\n");
    /// assert_eq!(output.exit_code(), Some(3));
    /// # sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn exec(&self, spec: impl Into<StartSpec>) -> Result<ExecOutput, Error> {
        self.exec_with(spec, EXEC_OUTPUT_BYTES_DEFAULT).await
    }

    /// As [`exec`](Self::exec), with at most `bytes_max` of each stream: its head and its tail, each half of that, and the exact number
    /// of bytes between them.
    pub async fn exec_with(&self, spec: impl Into<StartSpec>, bytes_max: u64) -> Result<ExecOutput, Error> {
        let answer = self.guest().gather(spec.into(), bytes_max, true).await;
        Ok(self.settle(Operation::Exec, answer).await?.into())
    }
}
