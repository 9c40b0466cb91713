//! Input of a process: writes in the order they came, each whole, and the end of input behind them.
//!
//! A write is a ticket in a queue. A task writes them one after the other while there are any, so an idle process has none; it goes on when
//! the caller who waits for a ticket goes away. Reading is somebody else's task, so a program that echoes while it is fed can't block us.

mod line;
mod ticket;
mod writer;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crannog_core::limits;
use crannog_core::process::{WriteSpec, Written};
use crannog_core::signal::{Signal, Target};
use crannog_sys::async_fd::AsyncFile;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::error::EngineError;
use crate::process::Process;
use crate::signalling;
use line::LineGauge;
use ticket::{Failure, Ticket};

/// Longest patience of one write; a longer wish is cut to it, because other writes wait behind it.
const PATIENCE_MAX: Duration = Duration::from_mins(1);

/// Patience of what the terminal itself says: its asker sleeps in a read.
const POST_PATIENCE: Duration = Duration::from_secs(1);

/// Where input goes.
#[derive(Debug, Clone)]
pub(crate) enum Sink {
    /// To the terminal, which is also the source of output.
    Terminal,
    /// To a pipe.
    Pipe(Arc<AsyncFile>),
    /// Nowhere: the process was started without input.
    None,
    /// Nowhere any more.
    Closed,
}

/// The input side of a process.
#[derive(Debug)]
pub(crate) struct Input {
    queue: Mutex<Queue>,
    /// The sink was closed.
    closed: Notify,
}

#[derive(Debug)]
struct Queue {
    sink: Sink,
    waiting: VecDeque<Job>,
    is_writing: bool,
    /// The sink is closed when the writes before it are done.
    is_closing: bool,
    line: LineGauge,
    /// Tickets with ids, the oldest first.
    remembered: VecDeque<(String, Arc<Ticket>)>,
}

/// A write that waits for its turn.
#[derive(Debug)]
struct Job {
    bytes: Vec<u8>,
    deadline: Instant,
    ticket: Arc<Ticket>,
}

impl Input {
    pub(crate) fn new(sink: Sink) -> Self {
        let queue = Queue {
            sink,
            waiting: VecDeque::new(),
            is_writing: false,
            is_closing: false,
            line: LineGauge::default(),
            remembered: VecDeque::new(),
        };
        Self { queue: Mutex::new(queue), closed: Notify::new() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a write could reach the process.
    pub(crate) fn is_open(&self) -> bool {
        let queue = self.queue();
        !queue.is_closing && matches!(queue.sink, Sink::Terminal | Sink::Pipe(_))
    }

    pub(crate) fn has_no_sink(&self) -> bool {
        matches!(self.queue().sink, Sink::None)
    }

    /// Whether a write with this id was made before.
    pub(crate) fn remembers(&self, id: Option<&str>) -> bool {
        id.is_some_and(|id| self.queue().find(id).is_some())
    }

    /// The pipe that the process reads, while we hold its other end.
    pub(crate) fn pipe(&self) -> Option<Arc<AsyncFile>> {
        match &self.queue().sink {
            Sink::Pipe(pipe) => Some(pipe.clone()),
            Sink::Terminal | Sink::None | Sink::Closed => None,
        }
    }

    /// Whether writes are under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.queue().is_writing
    }

    /// Ends the input behind the writes that wait.
    pub(crate) fn close(&self) {
        let mut queue = self.queue();
        queue.is_closing = true;
        if !queue.is_writing {
            queue.sink = Sink::Closed;
        }
    }

    /// Ends the input now: what waits is not written.
    pub(crate) fn shut(&self) {
        {
            let mut queue = self.queue();
            queue.is_closing = true;
            queue.sink = Sink::Closed;
        }
        self.closed.notify_waiters();
    }
}

impl Queue {
    fn find(&self, id: &str) -> Option<&Arc<Ticket>> {
        self.remembered.iter().find(|(known, _)| known == id).map(|(_, ticket)| ticket)
    }

    fn remember(&mut self, id: Option<String>, ticket: &Arc<Ticket>) {
        let Some(id) = id else { return };
        // Those that are in flight are the newest, and at most as many as may wait.
        if self.remembered.len() >= limits::WRITE_IDS_KEPT + limits::WRITES_WAITING_MAX {
            self.remembered.pop_front();
        }
        self.remembered.push_back((id, ticket.clone()));
    }
}

/// Refuses a write that no process could take.
pub(crate) fn check(spec: &WriteSpec) -> Result<(), EngineError> {
    if spec.bytes.len() > limits::WRITE_BYTES_MAX {
        let problem = format!("{} bytes are more than {} in one write: send them in several", spec.bytes.len(), limits::WRITE_BYTES_MAX);
        return Err(EngineError::InvalidArgument { name: "bytes", problem });
    }
    check_id("write_id", spec.write_id.as_deref())
}

/// Refuses an id that is too long to be kept.
pub(crate) fn check_id(name: &'static str, id: Option<&str>) -> Result<(), EngineError> {
    match id {
        Some(id) if id.is_empty() || id.len() > limits::RETRY_ID_BYTES_MAX => {
            let problem = format!("{} bytes long; it has to have 1 to {}", id.len(), limits::RETRY_ID_BYTES_MAX);
            Err(EngineError::InvalidArgument { name, problem })
        }
        Some(_) | None => Ok(()),
    }
}

/// Interrupts a process that has neither a terminal nor piped input, which is what a Ctrl-C written to it means.
pub(crate) fn interrupt(process: &Process, write_id: Option<String>) -> Result<Written, EngineError> {
    let written = Written { accepted: 1, line_too_long: false, repeated: false };
    if process.input.remembers(write_id.as_deref()) {
        return Ok(Written { repeated: true, ..written });
    }
    signalling::signal(process, Target::Group, Signal::INT)?;
    let ticket = Arc::new(Ticket::default());
    ticket.decide(Ok(written));
    process.input.queue().remember(write_id, &ticket);
    Ok(written)
}

/// Writes to a process and waits until it has taken the bytes or the patience is over.
///
/// Dropping the future does not stop the write.
pub(crate) async fn write(process: &Arc<Process>, spec: WriteSpec) -> Result<Written, EngineError> {
    let (ticket, is_repeated) = enqueue(process, spec)?;
    match ticket.outcome().await {
        Ok(written) => Ok(Written { repeated: is_repeated, ..written }),
        Err(failure) => Err(failure.into_error(process)),
    }
}

/// Writes what the terminal itself says, behind the writes that wait. What nobody takes soon is dropped.
pub(crate) fn post(process: &Arc<Process>, bytes: Vec<u8>) {
    // A process that takes nothing any more needs no answer.
    let _ = enqueue(process, WriteSpec { bytes, write_id: None, patience: POST_PATIENCE });
}

/// The ticket of a write, and whether an earlier write with its id has made it.
fn enqueue(process: &Arc<Process>, spec: WriteSpec) -> Result<(Arc<Ticket>, bool), EngineError> {
    let mut queue = process.input.queue();
    if let Some(ticket) = spec.write_id.as_deref().and_then(|id| queue.find(id)) {
        return Ok((ticket.clone(), true));
    }
    let ticket = Arc::new(Ticket::default());
    if queue.is_closing || !matches!(queue.sink, Sink::Terminal | Sink::Pipe(_)) {
        return Err(EngineError::StdinClosed { process: process.id });
    }
    if queue.waiting.len() >= limits::WRITES_WAITING_MAX {
        return Err(EngineError::WritesWaiting { process: process.id });
    }
    queue.remember(spec.write_id, &ticket);
    let deadline = Instant::now() + spec.patience.min(PATIENCE_MAX);
    queue.waiting.push_back(Job { bytes: spec.bytes, deadline, ticket: ticket.clone() });
    if !queue.is_writing {
        queue.is_writing = true;
        tokio::spawn(writer::run(process.clone()));
    }
    Ok((ticket, false))
}
