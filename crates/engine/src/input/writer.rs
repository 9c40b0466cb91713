//! The task that writes what is queued for one process, and ends with the queue.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crannog_core::process::{Stream, Written};
use crannog_sys::async_fd::AsyncFile;
use tokio::time::Instant;

use super::{Failure, Job, Sink};
use crate::process::Process;
use crate::reader::Output;

/// How long a blocked write trusts that the kernel tells of room. A terminal does not in every case in which it makes some.
const ROOM_RETRY_MAX: Duration = Duration::from_millis(20);
/// The first pause when the kernel told of room and there was none, as for ever on a terminal that was hung up; doubles up to
/// [`ROOM_RETRY_MAX`].
const ROOM_RETRY_MIN: Duration = Duration::from_millis(1);
/// `EPIPE`: the process has closed its end.
const EPIPE: i32 = 32;
/// `EIO`: no process has the terminal open.
const EIO: i32 = 5;

pub(super) async fn run(process: Arc<Process>) {
    while let Some(job) = next(&process) {
        let outcome = write(&process, &job).await;
        if outcome.is_err() {
            // Nothing happened, so a retry with the same id is a first try.
            process.input.queue().remembered.retain(|(_, ticket)| !Arc::ptr_eq(ticket, &job.ticket));
        }
        job.ticket.decide(outcome);
    }
}

/// The next write. At the end of the queue the task gives itself up, in one step with looking.
fn next(process: &Process) -> Option<Job> {
    let mut queue = process.input.queue();
    let job = queue.waiting.pop_front();
    if job.is_none() {
        queue.is_writing = false;
        if queue.is_closing {
            queue.sink = Sink::Closed;
        }
    }
    job
}

/// What bytes are written to.
enum Target {
    Terminal(Arc<Output>),
    Pipe(Arc<AsyncFile>),
}

impl Target {
    fn of(process: &Process) -> Result<Self, Failure> {
        if !process.state().is_leader_running() {
            return Err(Failure::Ended);
        }
        let sink = process.input.queue().sink.clone();
        match sink {
            Sink::Terminal => process.outputs.get(Stream::Stdout).map(Self::Terminal).ok_or(Failure::Ended),
            Sink::Pipe(pipe) => Ok(Self::Pipe(pipe)),
            Sink::None | Sink::Closed => Err(Failure::Closed),
        }
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.try_write(bytes),
            Self::Terminal(output) => match output.terminal() {
                Some(terminal) => terminal.try_write(bytes),
                None => Err(io::Error::from_raw_os_error(EPIPE)),
            },
        }
    }

    async fn writable(&self) {
        // An error shows at the next write, which says more.
        let _ = match self {
            Self::Pipe(pipe) => pipe.writable().await,
            Self::Terminal(output) => match output.terminal() {
                Some(terminal) => terminal.writable().await,
                None => Ok(()),
            },
        };
    }

    /// Whether the terminal shows what is typed.
    fn echoes(&self) -> bool {
        match self {
            Self::Pipe(_) => false,
            Self::Terminal(output) => output.terminal().and_then(|terminal| terminal.modes().ok()).is_some_and(|modes| modes.echo),
        }
    }

    /// Whether input is collected into lines now.
    fn is_in_line_mode(&self) -> bool {
        match self {
            Self::Pipe(_) => false,
            Self::Terminal(output) => output.terminal().and_then(|terminal| terminal.modes().ok()).is_some_and(|modes| modes.canonical),
        }
    }
}

async fn write(process: &Process, job: &Job) -> Result<Written, Failure> {
    let mut accepted = 0;
    let mut line_too_long = false;
    let mut blocked_in_a_row = 0;
    let failure = loop {
        let rest = &job.bytes[accepted..];
        if rest.is_empty() {
            break None;
        }
        let target = match Target::of(process) {
            Ok(target) => target,
            Err(failure) => break Some(failure),
        };
        let (is_in_line_mode, echoed) = (target.is_in_line_mode(), target.echoes());
        match target.try_write(rest) {
            Ok(count) if count > 0 => {
                line_too_long |= gauge(process, is_in_line_mode, &rest[..count]);
                accepted += count;
                blocked_in_a_row = 0;
                note(process, &rest[..count], echoed && target.echoes());
                // The reader gets its turn: what a terminal echoes has to leave before more fits.
                tokio::task::yield_now().await;
            }
            Err(error) if error.raw_os_error() == Some(EPIPE) => {
                process.input.shut();
                break Some(Failure::Closed);
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock && error.raw_os_error() != Some(EIO) => {
                break Some(Failure::Refused { errno: error.raw_os_error().unwrap_or(EIO) });
            }
            // No room, or no process that has the terminal open.
            Ok(_) | Err(_) => {
                if Instant::now() >= job.deadline {
                    break None;
                }
                until_room(process, &target, blocked_in_a_row, job.deadline).await;
                blocked_in_a_row += 1;
            }
        }
    };
    match failure {
        Some(failure) if accepted == 0 => Err(failure),
        Some(_) | None => Ok(Written { accepted: accepted as u64, line_too_long, repeated: false }),
    }
}

/// Bytes were taken. Typing is recorded if the terminal echoed before and after it came: then it was no password.
fn note(process: &Process, bytes: &[u8], is_echoed: bool) {
    let (mut state, now) = (process.state(), Instant::now());
    state.sightings.note_write(now);
    if let Some(recording) = state.recording.as_mut().filter(|_| is_echoed) {
        recording.input(bytes, now);
    }
}

fn gauge(process: &Process, is_in_line_mode: bool, bytes: &[u8]) -> bool {
    let line = &mut process.input.queue().line;
    if is_in_line_mode {
        line.push(bytes)
    } else {
        line.reset();
        false
    }
}

/// Waits until there may be room, the input is closed, or the deadline has come.
async fn until_room(process: &Process, target: &Target, blocked_in_a_row: u32, deadline: Instant) {
    // The kernel's word is taken once, and again when it has turned out true.
    let trusts = blocked_in_a_row == 0;
    let pause = if trusts { ROOM_RETRY_MAX } else { ROOM_RETRY_MAX.min(ROOM_RETRY_MIN * 2_u32.pow(blocked_in_a_row.min(8))) };
    tokio::select! {
        () = target.writable(), if trusts => {}
        () = process.input.closed.notified() => {}
        () = tokio::time::sleep_until(deadline.min(Instant::now() + pause)) => {}
    }
}
