//! One entry of the table: what is known of a process, what it printed, and how others learn of changes.
//!
//! The state is behind a plain mutex that is never held across an await; who waits does so on one of the notifications, registered before
//! the state is looked at, so that no change is missed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crannog_core::end::End;
use crannog_core::id::ProcessId;
use crannog_core::log::OutputLog;
use crannog_core::process::{Stream, TerminalSize};
use crannog_core::signal::Signal;
use crannog_core::transcript::Usage;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::evidence::Sightings;
use crate::hold::Holds;
use crate::input::Input;
use crate::queries::Questions;
use crate::reader::Output;
use crate::recording::Recording;
use crate::screen::View;
use crate::spill::Spill;
use crate::tree::Tree;

/// A process of the table.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: ProcessId,
    /// The argument vector for display.
    pub(crate) command: String,
    pub(crate) started: Instant,
    pub(crate) tree: Tree,
    pub(crate) input: Input,
    /// Where output comes from: the terminal alone, or stdout and stderr.
    pub(crate) outputs: Outputs,
    /// Bytes came, or the last source of them closed.
    pub(crate) output_changed: Notify,
    /// The end was published.
    pub(crate) ended: Notify,
    /// A follower moved on or went away.
    pub(crate) follower_moved: Notify,
    /// What is kept of its screen, for one look at a time.
    pub(crate) screen: tokio::sync::Mutex<View>,
    /// Milliseconds of the engine's clock when a call last dealt with this process.
    last_used_ms: AtomicU64,
    state: Mutex<State>,
}

/// The parts of a process that change.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) log: OutputLog<Spill>,
    pub(crate) output_at: Option<Instant>,
    pub(crate) leader: Leader,
    pub(crate) cause: Option<Cause>,
    pub(crate) end: Option<Ending>,
    /// Where the next collect without a cursor begins.
    pub(crate) position: u64,
    pub(crate) terminal: Option<TerminalSize>,
    pub(crate) holds: Holds,
    pub(crate) sightings: Sightings,
    /// The timer of its timeout.
    pub(crate) timer: Option<AbortHandle>,
    /// With a terminal: what programs ask of it.
    pub(crate) questions: Option<Box<Questions>>,
    pub(crate) recording: Option<Box<Recording>>,
}

/// The process that was started, as opposed to what it started itself.
#[derive(Debug)]
pub(crate) enum Leader {
    /// Not reaped yet, so its number is its own.
    Running { pid: u32 },
    /// Reaped. Its number may belong to somebody else.
    Reaped,
}

/// Why the engine ended a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    TimedOut { after_ms: u64 },
    Killed,
}

/// The end as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) end: End,
    pub(crate) duration_ms: u64,
    pub(crate) usage: Usage,
}

/// The sources of output that are still open.
#[derive(Debug)]
pub(crate) struct Outputs {
    sources: [Mutex<Option<Source>>; 2],
}

/// One source and the task that reads it.
#[derive(Debug)]
struct Source {
    output: std::sync::Arc<Output>,
    reader: Option<AbortHandle>,
}

impl Process {
    pub(crate) fn new(id: ProcessId, command: String, parts: Parts, state: State) -> Self {
        Self {
            id,
            command,
            started: parts.started,
            tree: parts.tree,
            input: parts.input,
            outputs: parts.outputs,
            output_changed: Notify::new(),
            ended: Notify::new(),
            follower_moved: Notify::new(),
            screen: tokio::sync::Mutex::default(),
            last_used_ms: AtomicU64::new(0),
            state: Mutex::new(state),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held would leave a transcript that is still well-formed: every change is one call on it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn touch(&self, now_ms: u64) {
        self.last_used_ms.fetch_max(now_ms, Ordering::Relaxed);
    }

    pub(crate) fn last_used_ms(&self) -> u64 {
        self.last_used_ms.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) -> Option<End> {
        self.state().end.as_ref().map(|ending| ending.end.clone())
    }

    /// Resolves when the end has been published. Cancel-safe.
    pub(crate) async fn until_ended(&self) -> Ending {
        loop {
            let notified = self.ended.notified();
            let mut notified = std::pin::pin!(notified);
            notified.as_mut().enable();
            if let Some(ending) = self.state().end.clone() {
                return ending;
            }
            notified.await;
        }
    }

    /// Adds output. Wakes who waits for it.
    pub(crate) fn push(&self, stream: Stream, bytes: &[u8]) {
        {
            let (mut state, now) = (self.state(), Instant::now());
            state.log.push(stream, bytes);
            state.holds.note_read();
            state.output_at = Some(now);
            if let Some(questions) = &mut state.questions {
                questions.feed(bytes);
            }
            if let Some(recording) = &mut state.recording {
                recording.output(bytes, now);
            }
        }
        self.output_changed.notify_waiters();
    }
}

/// What a process is made of when it is entered.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) started: Instant,
    pub(crate) tree: Tree,
    pub(crate) input: Input,
    pub(crate) outputs: Outputs,
}

impl State {
    pub(crate) fn new(log: OutputLog<Spill>, leader: Leader, terminal: Option<TerminalSize>) -> Self {
        Self {
            log,
            output_at: None,
            leader,
            cause: None,
            end: None,
            position: 0,
            terminal,
            holds: Holds::default(),
            sightings: Sightings::default(),
            timer: None,
            questions: terminal.map(|_| Box::default()),
            recording: None,
        }
    }

    pub(crate) fn is_leader_running(&self) -> bool {
        matches!(self.leader, Leader::Running { .. })
    }
}

impl Ending {
    /// The signal that says what became of a killed process, when one did.
    pub(crate) fn of_signal(signal: i32, core_dumped: bool, cause: Option<Cause>) -> End {
        match (Signal::from_number(signal), cause) {
            (_, Some(Cause::TimedOut { after_ms })) => End::TimedOut { after_ms },
            (Some(signal), Some(Cause::Killed)) => End::Cancelled { signal },
            (Some(signal), None) => End::Signalled { signal, core_dumped },
            (None, _) => End::Lost { reason: format!("it was ended by signal {signal}, which has no name here") },
        }
    }
}

impl Outputs {
    /// The terminal, or stdout and stderr.
    pub(crate) fn new(first: Output, second: Option<Output>) -> Self {
        let source = |output| Mutex::new(Some(Source { output: std::sync::Arc::new(output), reader: None }));
        Self { sources: [source(first), second.map_or_else(|| Mutex::new(None), source)] }
    }

    fn slot(&self, stream: Stream) -> MutexGuard<'_, Option<Source>> {
        let index = match stream {
            Stream::Stdout => 0,
            Stream::Stderr => 1,
        };
        self.sources[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The source of a stream while it is open.
    pub(crate) fn get(&self, stream: Stream) -> Option<std::sync::Arc<Output>> {
        self.slot(stream).as_ref().map(|source| source.output.clone())
    }

    pub(crate) fn set_reader(&self, stream: Stream, reader: AbortHandle) {
        if let Some(source) = self.slot(stream).as_mut() {
            source.reader = Some(reader);
        }
    }

    /// Closes a source. Its reader, if it is another task, is stopped.
    pub(crate) fn close(&self, stream: Stream) {
        let source = self.slot(stream).take();
        if let Some(reader) = source.and_then(|source| source.reader) {
            reader.abort();
        }
    }

    pub(crate) fn are_closed(&self) -> bool {
        self.get(Stream::Stdout).is_none() && self.get(Stream::Stderr).is_none()
    }
}
