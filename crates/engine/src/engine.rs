//! The handle: every operation that callers have, and what all processes share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crannog_core::collect::Collect;
use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::process::{ProcessInfo, StartSpec, Stream, TerminalSize, Update, WriteSpec, Written};
use crannog_core::screen::{RecordingPart, Screen, ScreenRequest};
use crannog_core::signal::{Signal, Target};
use crannog_core::transcript::{Gathered, Killed, TranscriptPart};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::config::{EngineConfig, Tracking};
use crate::error::EngineError;
use crate::follow::Follower;
use crate::host::Host;
use crate::process::{Cause, Leader, Process};
use crate::random::Random;
use crate::reader::ReadBuffer;
use crate::screen::{self, KeptScreens};
use crate::table::Table;
use crate::{collecting, input, kill, launch, shutdown, signalling, transcript};

/// The processes of one sandbox. Clones are handles to the same engine.
///
/// All methods are to be called on the runtime that [`Engine::serve`] runs on.
#[derive(Debug, Clone)]
pub struct Engine(pub(crate) Arc<Shared>);

/// What all processes of an engine share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: EngineConfig,
    pub(crate) host: Host,
    pub(crate) buffer: Arc<ReadBuffer>,
    pub(crate) random: Random,
    pub(crate) screens: Arc<KeptScreens>,
    /// Some process ended.
    pub(crate) any_ended: Notify,
    orphans: AtomicU64,
    origin: Instant,
    table: Mutex<Table>,
}

impl Shared {
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the engine was made.
    pub(crate) fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    /// A moment on the engine's clock.
    pub(crate) fn since_origin(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.origin)
    }

    /// A moment of the engine's clock.
    pub(crate) fn instant(&self, at: Duration) -> Instant {
        self.origin + at
    }

    /// A process for a call, which counts as a use of it.
    pub(crate) fn process(&self, process: ProcessId) -> Result<Arc<Process>, EngineError> {
        let process = self.table().get(process)?;
        process.touch(u64::try_from(self.now().as_millis()).unwrap_or(u64::MAX));
        Ok(process)
    }

    /// After an end: tells who waits for any, and forgets the oldest if too many are kept.
    pub(crate) fn note_end(&self) {
        self.any_ended.notify_waiters();
        loop {
            let Some(retired) = self.table().retire() else { return };
            for stream in [Stream::Stdout, Stream::Stderr] {
                retired.outputs.close(stream);
            }
        }
    }

    /// Orphans reaped so far.
    pub(crate) fn orphans(&self) -> u64 {
        self.orphans.load(Ordering::Relaxed)
    }

    pub(crate) fn note_orphan(&self) {
        self.orphans.fetch_add(1, Ordering::Relaxed);
    }
}

impl Engine {
    /// Makes an engine, which becomes the reaper of all orphans below this operating system process (`PR_SET_CHILD_SUBREAPER`).
    pub fn new(config: EngineConfig) -> Result<Self, EngineError> {
        if !(1..=limits::PROCESSES_LIVE_MAX).contains(&config.processes_live_max) {
            let problem = format!("{} is outside of 1 to {}", config.processes_live_max, limits::PROCESSES_LIVE_MAX);
            return Err(EngineError::InvalidArgument { name: "processes_live_max", problem });
        }
        let host = Host::new(&config)?;
        Ok(Self(Arc::new(Shared {
            host,
            buffer: Arc::new(ReadBuffer::new()),
            random: Random::new(config.seed),
            screens: Arc::default(),
            any_ended: Notify::new(),
            orphans: AtomicU64::new(0),
            origin: Instant::now(),
            table: Mutex::default(),
            config,
        })))
    }

    /// Starts a process. Spawning and entering it into the table are one step. A request id that was seen before answers for the first
    /// start, also when that process has ended since.
    pub fn start(&self, spec: StartSpec) -> Result<ProcessId, EngineError> {
        self.reap();
        launch::start(self, spec)
    }

    /// Waits for output, the end, or a condition, and shows what came since the cursor. Cancel-safe: nothing is consumed, and the
    /// remembered position moves only with an answer.
    pub async fn collect(&self, process: ProcessId, collect: Collect) -> Result<Update, EngineError> {
        let process = self.0.process(process)?;
        collecting::collect(&self.0, &process, collect).await
    }

    /// Writes to a process. Writes to one process are made in the order they came, each whole, and go on when the caller goes away.
    ///
    /// A lone Ctrl-C (byte 3) to a process without a terminal and without piped input interrupts its group. Nothing to write is taken by
    /// any process.
    pub async fn write(&self, process: ProcessId, write: WriteSpec) -> Result<Written, EngineError> {
        self.reap();
        let process = self.0.process(process)?;
        input::check(&write)?;
        if write.bytes.is_empty() {
            return Ok(Written { accepted: 0, line_too_long: false, repeated: false });
        }
        if !process.state().is_leader_running() && !process.input.remembers(write.write_id.as_deref()) {
            return Err(EngineError::ProcessEnded { process: process.id, end: process.end() });
        }
        if process.input.has_no_sink() && write.bytes == [0x03] {
            return input::interrupt(&process, write.write_id);
        }
        input::write(&process, write).await
    }

    /// Ends the input of a process behind the writes that wait. Closing it again, or where there never was any, does nothing.
    ///
    /// # Errors
    ///
    /// A terminal's input can't be closed: [`EngineError::InvalidArgument`] says what to do.
    pub fn close_stdin(&self, process: ProcessId) -> Result<(), EngineError> {
        let process = self.0.process(process)?;
        if process.state().terminal.is_some() {
            let problem = "a terminal's input can't be closed: write ctrl-d at the start of a line".to_owned();
            return Err(EngineError::InvalidArgument { name: "process", problem });
        }
        process.input.close();
        Ok(())
    }

    /// Resizes a terminal; the foreground group gets `SIGWINCH` if the size changed.
    pub fn resize(&self, process: ProcessId, size: TerminalSize) -> Result<(), EngineError> {
        self.reap();
        let process = self.0.process(process)?;
        launch::check_size(size)?;
        if process.state().terminal.is_none() {
            return Err(EngineError::NotATerminal { process: process.id });
        }
        let output = process.outputs.get(Stream::Stdout).filter(|_| process.state().is_leader_running());
        let Some(terminal) = output.as_ref().and_then(|output| output.terminal()) else {
            return Err(EngineError::ProcessEnded { process: process.id, end: process.end() });
        };
        let resized = terminal.resize(size.rows, size.columns);
        resized.map_err(|source| EngineError::Resize { process: process.id, source })?;
        let mut state = process.state();
        state.terminal = Some(size);
        if let Some(recording) = &mut state.recording {
            recording.resize(size, Instant::now());
        }
        Ok(())
    }

    /// Sends a signal. An end by it is reported as `Signalled`.
    pub fn signal(&self, process: ProcessId, target: Target, signal: Signal) -> Result<(), EngineError> {
        self.reap();
        let process = self.0.process(process)?;
        signalling::signal(&process, target, signal)
    }

    /// Ends a process with its whole tree: TERM, then KILL after `grace` (at most [`limits::KILL_GRACE_MAX`]; zero: KILL at once). For
    /// an ended process: what it left running.
    ///
    /// Dropping the future does not stop the kill.
    pub async fn kill(&self, process: ProcessId, grace: Duration) -> Result<Killed, EngineError> {
        let process = self.0.process(process)?;
        let engine = self.clone();
        let task = tokio::spawn(async move { kill::end_tree(&engine, &process, Cause::Killed, grace).await });
        match task.await {
            Ok(killed) => Ok(killed),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    /// Every process that is known, the oldest first.
    pub fn list(&self) -> Vec<ProcessInfo> {
        let all = self.0.table().all();
        all.iter().map(|process| describe(process)).collect()
    }

    /// One process.
    pub fn info(&self, process: ProcessId) -> Result<ProcessInfo, EngineError> {
        self.0.process(process).map(|process| describe(&process))
    }

    /// Waits until one of several processes has ended and answers with those that have; with none when the time has passed. Cancel-safe.
    pub async fn wait_any(&self, processes: &[ProcessId], timeout: Duration) -> Result<Vec<ProcessInfo>, EngineError> {
        if processes.is_empty() || processes.len() > limits::WAIT_ANY_MAX {
            let problem = format!("{} processes given; 1 to {} can be waited for", processes.len(), limits::WAIT_ANY_MAX);
            return Err(EngineError::InvalidArgument { name: "processes", problem });
        }
        let processes: Vec<_> = processes.iter().map(|id| self.0.process(*id)).collect::<Result<_, _>>()?;
        let timeout = tokio::time::sleep(timeout.min(limits::TIMEOUT_MAX));
        let mut timeout = std::pin::pin!(timeout);
        loop {
            let notified = self.0.any_ended.notified();
            let mut notified = std::pin::pin!(notified);
            notified.as_mut().enable();
            let ended = |process: &&Arc<Process>| process.state().end.is_some();
            let ended: Vec<_> = processes.iter().filter(ended).map(|process| describe(process)).collect();
            if !ended.is_empty() {
                return Ok(ended);
            }
            tokio::select! {
                () = notified => {}
                () = &mut timeout => return Ok(Vec::new()),
            }
        }
    }

    /// Raw bytes of a transcript from `from` on, at most `bytes_max` and [`limits::READ_REPLY_BYTES_MAX`], of one stream or both. Cancel-safe.
    pub async fn read(
        &self,
        process: ProcessId,
        from: u64,
        bytes_max: usize,
        stream: Option<Stream>,
    ) -> Result<TranscriptPart, EngineError> {
        let process = self.0.process(process)?;
        transcript::read(&process, from, bytes_max, stream).await
    }

    /// Follows a transcript from `from` on as it grows. With `hold` the process is slowed rather than that the follower loses bytes.
    pub fn follow(&self, process: ProcessId, from: u64, hold: bool) -> Result<Follower, EngineError> {
        Follower::new(self.0.process(process)?, from, hold)
    }

    /// Waits for the end and hands back both streams, of each the whole or the head and tail of at most `bytes_max_per_stream` together,
    /// with exact counts of what is left out. Cancel-safe.
    pub async fn gather(&self, process: ProcessId, bytes_max_per_stream: u64) -> Result<Gathered, EngineError> {
        let process = self.0.process(process)?;
        Ok(transcript::gather(&process, bytes_max_per_stream).await)
    }

    /// What a process's terminal shows. It is rendered from the transcript and kept for [`limits::SCREEN_KEPT`], so that another look costs
    /// only what was printed since. Goes on after the end. Cancel-safe.
    pub async fn screen(&self, process: ProcessId, request: ScreenRequest) -> Result<Screen, EngineError> {
        let process = self.0.process(process)?;
        screen::look(&self.0.screens, &process, request).await
    }

    /// A piece of the recording of a process's terminal, at most `bytes_max` and [`limits::READ_REPLY_BYTES_MAX`] bytes. None behind its end.
    pub fn recording(&self, process: ProcessId, from: u64, bytes_max: usize) -> Result<RecordingPart, EngineError> {
        let process = self.0.process(process)?;
        let state = process.state();
        let recording = state.recording.as_ref().ok_or(EngineError::NotRecorded { process: process.id })?;
        let part = recording.read(from, bytes_max.min(limits::READ_REPLY_BYTES_MAX));
        part.map_err(|source| EngineError::ReadRecording { process: process.id, source })
    }

    /// Processes that run now.
    pub fn processes_live(&self) -> u32 {
        self.0.table().live()
    }

    /// How trees are tracked here.
    pub fn tracking(&self) -> Tracking {
        self.0.host.tracking()
    }

    /// Ends every process and everything they started, and refuses starts from now on: terminals are hung up, then TERM, then KILL after
    /// `grace`. Answers how many trees were running.
    ///
    /// Not cancel-safe: a dropped shutdown leaves off where it is.
    pub async fn shutdown(&self, grace: Duration) -> u32 {
        shutdown::run(self, grace).await
    }
}

fn describe(process: &Process) -> ProcessInfo {
    let is_ended = process.state().end.is_some();
    let descendants_alive = is_ended && process.tree.is_alive();
    let stdin_open = process.input.is_open();
    let state = process.state();
    let pid = match &state.leader {
        Leader::Running { pid } => Some(*pid),
        Leader::Reaped => None,
    };
    ProcessInfo {
        process: process.id,
        command: process.command.clone(),
        pid,
        terminal: state.terminal,
        stdin_open: stdin_open && pid.is_some(),
        age_ms: u64::try_from(process.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        duration_ms: state.end.as_ref().map(|ending| ending.duration_ms),
        end: state.end.as_ref().map(|ending| ending.end.clone()),
        output_bytes: state.log.total(),
        lost_bytes: state.log.lost(None).bytes,
        descendants_alive,
    }
}
