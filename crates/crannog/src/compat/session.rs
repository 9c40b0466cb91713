//! A compatible session and its one-shot commands.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crannog_core::compat::command::{SessionShell, Shell, prepare};
use crannog_core::end::End;
use crannog_core::limits;
use crannog_core::process::StartSpec;

use super::error::CompatError;
use super::registry::Registry;
use crate::command::Command;
use crate::sandbox::Sandbox;

/// A session over a sandbox. Clones are handles to the same session and know the same ids.
///
/// Dropping it ends nothing: see [`CompatSession::pty_terminate_all`].
#[derive(Debug, Clone)]
pub struct CompatSession {
    sandbox: Sandbox,
    registry: Arc<Mutex<Registry>>,
}

/// What a one-shot command printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecResult {
    /// Standard output; of more than [`limits::TRANSCRIPT_SPILL_BYTES_DEFAULT`] the head and the tail.
    pub stdout: Vec<u8>,
    /// Standard error, likewise.
    pub stderr: Vec<u8>,
    /// The exit code, or `-n` when signal n ended it.
    pub exit_code: i32,
    /// Bytes left out of `stdout`.
    pub stdout_omitted_bytes: u64,
    /// Bytes left out of `stderr`.
    pub stderr_omitted_bytes: u64,
}

impl ExecResult {
    /// The exit code is 0.
    pub fn ok(&self) -> bool {
        self.exit_code == 0
    }
}

impl CompatSession {
    /// A session without processes yet.
    pub fn new(sandbox: Sandbox) -> Self {
        Self { sandbox, registry: Arc::default() }
    }

    /// The sandbox, for everything that the compatible surface does not offer.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Runs a command to its end. With a shell, one part is its text as it stands and several are quoted and joined.
    ///
    /// A code other than 0 is a result and not an error. A command that outlives `timeout` is ended with its whole tree and is an error of
    /// class `ExecTimeoutError`; one that can't be run at all is an `ExecTransportError`. Dropping the future ends the command with its
    /// whole tree.
    pub async fn exec(
        &self,
        parts: &[String],
        timeout: Option<Duration>,
        shell: &Shell,
        user: Option<&str>,
    ) -> Result<ExecResult, CompatError> {
        let (command, mut spec) = start_of(parts, shell, user);
        // Longer than any process may be given is as good as for ever.
        spec.timeout = timeout.filter(|timeout| *timeout <= limits::TIMEOUT_MAX);
        let output = self.sandbox.exec_with(spec, limits::TRANSCRIPT_SPILL_BYTES_DEFAULT).await;
        let output = output.map_err(|error| self.failed(error, &command))?;
        match exit_code(&output.end) {
            Some(exit_code) => Ok(ExecResult {
                stdout: output.stdout,
                stderr: output.stderr,
                exit_code,
                stdout_omitted_bytes: output.stdout_omitted_bytes,
                stderr_omitted_bytes: output.stderr_omitted_bytes,
            }),
            None if matches!(output.end, End::TimedOut { .. }) => {
                Err(CompatError::timed_out(&command, timeout.map(|timeout| timeout.as_secs_f64())))
            }
            None => Err(CompatError::unknown_end(&command)),
        }
    }

    pub(super) fn failed(&self, error: crate::Error, command: &[String]) -> CompatError {
        CompatError::of(error, command, &self.sandbox.workspace().to_string_lossy())
    }

    /// The table; held for a few instructions and never across a wait, so a panic can't have left it half changed.
    pub(super) fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The exit code as the compatible surface counts it. `None` where there is none.
pub(super) fn exit_code(end: &End) -> Option<i32> {
    match end {
        End::Exited { code } => Some(i32::from(*code)),
        End::Signalled { signal, .. } | End::Cancelled { signal } => Some(-signal.number()),
        End::OutOfMemory => Some(-crannog_core::signal::Signal::KILL.number()),
        End::TimedOut { .. } | End::Lost { .. } => None,
    }
}

/// The argument vector as errors tell it, and the start that stands for it.
pub(super) fn start_of(parts: &[String], shell: &Shell, user: Option<&str>) -> (Vec<String>, StartSpec) {
    let argv = prepare(parts, shell, SessionShell::Plain, None);
    let mut spec = StartSpec::from(Command::argv(&argv));
    spec.user = user.filter(|user| !user.is_empty()).map(str::to_owned);
    (argv, spec)
}
