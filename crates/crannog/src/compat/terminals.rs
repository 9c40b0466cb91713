//! Interactive sessions: start, write, poll, end.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crannog_core::collect::Collect;
use crannog_core::compat::command::Shell;
use crannog_core::error::ErrorCode;
use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::process::{Connection, StartSpec, TerminalSize, Written};
use crannog_core::window;

use super::error::CompatError;
use super::registry::{SESSIONS_MAX, SESSIONS_WARNING, Session};
use super::session::{CompatSession, exit_code, start_of};
use crate::error::Error;
use crate::processes::Input;

/// An interactive command to start.
#[derive(Debug, Clone, PartialEq)]
pub struct PtyStart {
    /// The command: see [`CompatSession::exec`].
    pub parts: Vec<String>,
    /// How it is run.
    pub shell: Shell,
    /// The user to run as.
    pub user: Option<String>,
    /// A terminal; without one it takes no input.
    pub tty: bool,
    /// How long to wait for output, seconds: 10 unless told, from 0.25 to 30.
    pub yield_time_s: Option<f64>,
    /// Tokens of output to answer; a negative number counts as 0.
    pub max_output_tokens: Option<i64>,
}

impl PtyStart {
    /// Shell text without a terminal, with the defaults.
    pub fn shell(text: impl Into<String>) -> Self {
        let parts = vec![text.into()];
        Self { parts, shell: Shell::Session, user: None, tty: false, yield_time_s: None, max_output_tokens: None }
    }
}

/// The answer to an interactive call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtyExecUpdate {
    /// The session's id while the process runs. `None` exactly when `exit_code` is known; then the id is gone.
    pub process_id: Option<u32>,
    /// What was printed since the last answer: text in UTF-8, cut to the tokens asked for.
    pub output: Vec<u8>,
    /// The exit code, or `-n` when signal n ended it.
    pub exit_code: Option<i32>,
    /// Tokens before the cut, if there was one.
    pub original_token_count: Option<u64>,
    /// Bytes since the last answer that could not be kept.
    pub lost_bytes: u64,
    /// What became of the input.
    pub written: Option<Written>,
}

impl CompatSession {
    /// Starts a command and answers what it printed within the window; only its end closes the window early.
    ///
    /// With 64 sessions registered another one is ended first: of those that are not among the 8 used last, the least recently used that
    /// has ended, else the least recently used. If the future is dropped the session stays registered.
    pub async fn pty_exec_start(&self, start: &PtyStart) -> Result<PtyExecUpdate, CompatError> {
        let (command, mut spec) = start_of(&start.parts, &start.shell, start.user.as_deref());
        if start.tty {
            spec.connection = Connection::Terminal(TerminalSize::default());
        }
        let (session, tty) = (self.clone(), start.tty);
        // On a task of its own: a process that runs is always registered.
        let started = tokio::spawn(async move { session.register(spec, tty).await });
        let process = match started.await {
            Ok(started) => started.map_err(|error| self.failed(error, &command))?,
            Err(source) => return Err(self.failed(Error::interrupted(source), &command)),
        };
        let collect = self.collect(process, window::clamp_ms(window::start_wish_ms(start.yield_time_s)), start.max_output_tokens);
        self.entered(process, collect).await
    }

    /// Writes text to a session that has a terminal, pauses 100 ms, and answers what was printed within the window: 0.25 s unless told,
    /// from 0.25 to 30. Without text it is a poll, which waits 5 s at least.
    ///
    /// The write runs to its end even if the future is dropped. What is printed meanwhile is in the next answer.
    pub async fn pty_write_stdin(
        &self,
        session_id: i64,
        chars: &str,
        yield_time_s: Option<f64>,
        max_output_tokens: Option<i64>,
    ) -> Result<PtyExecUpdate, CompatError> {
        let process = self.process_of(session_id)?;
        let window_ms = window::write_ms(window::write_wish_ms(yield_time_s), chars.is_empty());
        let call = async {
            let written = if chars.is_empty() { None } else { self.input(process, chars, window_ms).await? };
            let update = self.collect(process, window_ms, max_output_tokens).await?;
            Ok(PtyExecUpdate { written, ..update })
        };
        self.entered(process, call).await
    }

    /// Ends all sessions with their whole trees, at once. Their ids are gone then.
    ///
    /// Runs to its end even if the future is dropped.
    pub async fn pty_terminate_all(&self) -> Result<(), CompatError> {
        let processes = self.registry().clear();
        let kills: Vec<_> = processes
            .into_iter()
            .map(|process| {
                let sandbox = self.sandbox().clone();
                tokio::spawn(async move { sandbox.kill(process, Some(Duration::ZERO)).await })
            })
            .collect();
        let mut outcome = Ok(());
        for kill in kills {
            let killed = kill.await.unwrap_or_else(|source| Err(Error::interrupted(source)));
            match killed {
                // One that was forgotten ended long ago.
                Err(error) if error.code() != ErrorCode::PtySessionNotFound => outcome = outcome.and(Err(self.failed(error, &[]))),
                _ => {}
            }
        }
        outcome
    }

    /// Starts a process and registers it; ends another one first where there is no room.
    async fn register(&self, spec: StartSpec, tty: bool) -> Result<ProcessId, Error> {
        let process = match self.sandbox().start(spec.clone()).await {
            Err(error) if error.code() == ErrorCode::ProcessLimitReached && self.registry().len() >= SESSIONS_MAX => {
                self.evict().await?;
                self.sandbox().start(spec).await?.process
            }
            started => started?.process,
        };
        // Checked again after each eviction: others may be registering at the same time.
        while self.registry().len() >= SESSIONS_MAX && self.evict().await? {}
        let live = {
            let mut registry = self.registry();
            registry.insert(process, tty, Instant::now());
            registry.len()
        };
        if live >= SESSIONS_WARNING {
            tracing::warn!(sandbox = %self.sandbox().id(), live, limit = SESSIONS_MAX, "many interactive sessions are registered");
        }
        Ok(process)
    }

    /// Ends the session that has to go. False if none may.
    async fn evict(&self) -> Result<bool, Error> {
        let known = self.sandbox().processes().await?;
        let ended: HashSet<ProcessId> = known.into_iter().filter(|info| info.end.is_some()).map(|info| info.process).collect();
        let chosen = self.registry().evict(&ended, Instant::now());
        let Some(process) = chosen else { return Ok(false) };
        match self.sandbox().kill(process, Some(Duration::ZERO)).await {
            Err(error) if error.code() != ErrorCode::PtySessionNotFound => Err(error),
            _ => Ok(true),
        }
    }

    fn process_of(&self, session_id: i64) -> Result<ProcessId, CompatError> {
        let process = u32::try_from(session_id).ok().map(ProcessId);
        let registry = self.registry();
        let known = process.filter(|process| registry.ids().contains(process));
        known.ok_or_else(|| CompatError::not_found(session_id, process.is_some_and(|process| registry.was_evicted(process))))
    }

    /// Marks the session as waited on while a call on it runs, also if that is dropped.
    async fn entered(
        &self,
        process: ProcessId,
        call: impl Future<Output = Result<PtyExecUpdate, CompatError>>,
    ) -> Result<PtyExecUpdate, CompatError> {
        struct Leave<'session>(&'session CompatSession, ProcessId);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.registry().leave(self.1, Instant::now());
            }
        }
        self.registry().enter(process);
        let _leave = Leave(self, process);
        call.await
    }

    /// Writes, in pieces that one call takes, until the process takes no more or the patience of the window is over.
    async fn input(&self, process: ProcessId, chars: &str, window_ms: u64) -> Result<Option<Written>, CompatError> {
        if !self.session(process)?.has_terminal {
            return Err(CompatError::StdinUnavailable);
        }
        let mut total = Written { accepted: 0, line_too_long: false, repeated: false };
        for piece in chars.as_bytes().chunks(limits::WRITE_BYTES_MAX) {
            let input = Input::new(piece).patience(Duration::from_millis(window_ms));
            let written = match self.sandbox().write(process, input).await {
                Ok(written) => written,
                // It has ended: what it printed before is worth more than an error, and its exit code comes with it.
                Err(error) if matches!(error.code(), ErrorCode::ProcessEnded | ErrorCode::StdinClosed) => break,
                Err(error) => return Err(self.about(process, error)),
            };
            total.accepted += written.accepted;
            total.line_too_long |= written.line_too_long;
            if written.accepted < piece.len() as u64 {
                break;
            }
        }
        tokio::time::sleep(Duration::from_millis(limits::COMPAT_WRITE_PAUSE_MS)).await;
        Ok(Some(total))
    }

    /// Collects what came since the last answer. The position moves only with the answer, so a dropped call loses nothing.
    async fn collect(&self, process: ProcessId, window_ms: u64, max_output_tokens: Option<i64>) -> Result<PtyExecUpdate, CompatError> {
        let position = self.session(process)?.position;
        let mut position = position.lock().await;
        if position.exit_code.is_some() {
            // Somebody else's poll reported the end while this one waited for its turn.
            let (output, exit_code) = (Vec::new(), position.exit_code);
            return Ok(PtyExecUpdate { process_id: None, output, exit_code, original_token_count: None, lost_bytes: 0, written: None });
        }
        let collect = Collect {
            cursor: Some(position.cursor),
            window: Duration::from_millis(window_ms),
            until: Vec::new(),
            budget: max_output_tokens.map(|tokens| tokens.max(0).unsigned_abs()),
        };
        let update = self.sandbox().collect(process, collect).await.map_err(|error| self.about(process, error))?;
        position.cursor = update.cursor;
        position.exit_code = update.end.as_ref().and_then(exit_code);
        if position.exit_code.is_some() {
            self.registry().remove(process);
        }
        Ok(PtyExecUpdate {
            process_id: position.exit_code.is_none().then_some(process.0),
            output: update.text.into_bytes(),
            exit_code: position.exit_code,
            original_token_count: update.original_token_count,
            lost_bytes: update.lost_bytes,
            written: None,
        })
    }

    fn session(&self, process: ProcessId) -> Result<Session, CompatError> {
        let registry = self.registry();
        let was_evicted = registry.was_evicted(process);
        registry.session(process).ok_or_else(|| CompatError::not_found(process.0.into(), was_evicted))
    }

    /// A failure of a call on one session.
    fn about(&self, process: ProcessId, error: Error) -> CompatError {
        if error.code() == ErrorCode::PtySessionNotFound {
            self.registry().remove(process);
            return CompatError::not_found(process.0.into(), false);
        }
        self.failed(error, &[])
    }
}
