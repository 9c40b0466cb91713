//! Reading output: one task for each terminal or pipe, which appends to the log the moment bytes come, whether or not anyone asks.
//!
//! Reads go through one buffer of the engine, because they never span an await. After a burst a reader gives way, so that ten floods share
//! the thread with a command that prints one line.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crannog_core::limits;
use crannog_core::process::Stream;
use crannog_sys::async_fd::{AsyncFile, AsyncTerminal};
use crannog_sys::pipe;

use crate::process::Process;
use crate::queries;
use crate::screen::KeptScreens;

/// Reads between two pauses for others: 256 KiB of a flood, some tens of microseconds.
const READS_PER_TURN: u32 = 4;
/// Full reads in a row after which a pipe counts as flooded and is made larger: fewer switches between writer and reader.
const FULL_READS_OF_FLOOD: u32 = 32;
/// Size of a flooded pipe. The kernel's default is 64 KiB; 1 MiB is what any user may ask for.
const PIPE_BYTES_FLOODED: usize = 1024 * 1024;
/// How often a terminal is looked at that no process has open while its process lives: it may be opened again through `/dev/tty`, and
/// closing our side would hang up the session.
const HUNG_UP_RETRY: Duration = Duration::from_millis(100);
/// Wake-ups for nothing in a row after which the kernel's word is no longer taken: a terminal that was hung up once and opened again counts
/// as readable for ever.
const WAKES_FOR_NOTHING_MAX: u32 = 8;
/// `EIO`, the end of a terminal's output (pty(7)).
const EIO: i32 = 5;

/// A source of output, ours to read.
#[derive(Debug)]
pub(crate) enum Output {
    Terminal(AsyncTerminal),
    Pipe {
        file: AsyncFile,
        /// It was made as large as [`PIPE_BYTES_FLOODED`].
        is_large: AtomicBool,
    },
}

/// What one read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pumped {
    /// Bytes, now in the log.
    Bytes(usize),
    /// The kernel holds none now.
    Nothing,
    /// No process has the terminal open at present.
    HungUp,
    /// No more will ever come.
    Closed,
}

/// The engine's buffer for reads.
#[derive(Debug)]
pub(crate) struct ReadBuffer(Mutex<Box<[u8]>>);

impl ReadBuffer {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(vec![0; limits::READ_CHUNK_BYTES].into_boxed_slice()))
    }
}

impl Output {
    pub(crate) fn pipe(file: AsyncFile) -> Self {
        Self::Pipe { file, is_large: AtomicBool::new(false) }
    }

    /// What the kernel can hold of it, and what may be written while that is read. A program can enlarge its pipe as well; that is left
    /// out of account only where somebody must not be overrun.
    pub(crate) fn kernel_bytes_max(&self, has_holds: bool) -> usize {
        let is_small = matches!(self, Self::Pipe { is_large, .. } if !is_large.load(Ordering::Relaxed));
        limits::READ_CHUNK_BYTES + if is_small && has_holds { limits::READ_CHUNK_BYTES } else { PIPE_BYTES_FLOODED }
    }

    /// Best effort: an unprivileged user may have used up its pages for pipes, and then the small pipe does, only slower.
    fn enlarge(&self) {
        if let Self::Pipe { file, is_large } = self {
            is_large.store(true, Ordering::Relaxed);
            let _ = pipe::set_capacity(file, PIPE_BYTES_FLOODED);
        }
    }

    pub(crate) fn terminal(&self) -> Option<&AsyncTerminal> {
        match self {
            Self::Terminal(terminal) => Some(terminal),
            Self::Pipe { .. } => None,
        }
    }

    async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Terminal(terminal) => terminal.readable().await,
            Self::Pipe { file, .. } => file.readable().await,
        }
    }

    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Terminal(terminal) => terminal.try_read(buffer),
            Self::Pipe { file, .. } => file.try_read(buffer),
        }
    }

    /// Moves what one read gets into the log. The buffer is locked over both, so two callers can't swap what they read.
    pub(crate) fn pump(&self, process: &Process, stream: Stream, buffer: &ReadBuffer) -> Pumped {
        let mut buffer = buffer.0.lock().unwrap_or_else(PoisonError::into_inner);
        match self.try_read(&mut buffer) {
            Ok(0) => Pumped::Closed,
            Ok(count) => {
                process.push(stream, &buffer[..count]);
                Pumped::Bytes(count)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Pumped::Nothing,
            Err(error) if error.raw_os_error() == Some(EIO) && self.terminal().is_some() => Pumped::HungUp,
            Err(error) => {
                tracing::warn!(process = process.id.0, %error, "reading output failed; it is taken as closed");
                Pumped::Closed
            }
        }
    }
}

/// Starts the readers of a process.
pub(crate) fn spawn(process: &Arc<Process>, buffer: &Arc<ReadBuffer>, screens: &Arc<KeptScreens>) {
    for stream in [Stream::Stdout, Stream::Stderr] {
        if let Some(output) = process.outputs.get(stream) {
            let task = tokio::spawn(run(process.clone(), output, stream, buffer.clone(), screens.clone()));
            process.outputs.set_reader(stream, task.abort_handle());
        }
    }
}

async fn run(process: Arc<Process>, output: Arc<Output>, stream: Stream, buffer: Arc<ReadBuffer>, screens: Arc<KeptScreens>) {
    let mut full_reads = 0;
    let mut wakes_for_nothing = 0;
    loop {
        process.until_not_held().await;
        let mut pumped = Pumped::Nothing;
        for _ in 0..READS_PER_TURN {
            pumped = output.pump(&process, stream, &buffer);
            let Pumped::Bytes(count) = pumped else { break };
            wakes_for_nothing = 0;
            full_reads = if count == limits::READ_CHUNK_BYTES { full_reads + 1 } else { 0 };
            if full_reads == FULL_READS_OF_FLOOD && process.state().holds.is_empty() {
                output.enlarge();
            }
            if process.is_held() {
                break;
            }
        }
        if output.terminal().is_some() {
            queries::attend(&process, &screens);
        }
        match pumped {
            Pumped::Bytes(_) => tokio::task::yield_now().await,
            Pumped::Nothing if wakes_for_nothing > WAKES_FOR_NOTHING_MAX => tokio::time::sleep(HUNG_UP_RETRY).await,
            Pumped::Nothing => {
                wakes_for_nothing += 1;
                if output.readable().await.is_err() {
                    break;
                }
            }
            Pumped::HungUp if process.state().is_leader_running() => tokio::time::sleep(HUNG_UP_RETRY).await,
            Pumped::HungUp | Pumped::Closed => break,
        }
    }
    close(&process, stream);
}

/// Closes a source at its end, and the transcript with the last one.
pub(crate) fn close(process: &Process, stream: Stream) {
    process.outputs.close(stream);
    {
        let mut state = process.state();
        if process.outputs.are_closed() && state.end.is_some() {
            state.log.close();
        }
    }
    process.output_changed.notify_waiters();
}
