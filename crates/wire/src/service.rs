//! What a guest must be able to do to be served.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crannog_core::collect::Collect;
use crannog_core::id::ProcessId;
use crannog_core::process::{ProcessInfo, StartSpec, Stream, TerminalSize, Update, WriteSpec};
use crannog_core::screen::{RecordingPart, Screen, ScreenRequest};
use crannog_core::signal::{Signal, Target};
use crannog_core::transcript::{FollowEvent, Killed, TranscriptPart};

use crate::error::Failure;
use crate::message::{Hello, RunSpec};

/// Events of a run or a follow. It is asked for the next one only when the caller has room, and dropped when the caller goes away.
pub type EventStream = Pin<Box<dyn futures_util::Stream<Item = Result<FollowEvent, Failure>> + Send>>;

/// The answer to a call, still being worked on.
pub trait Answer<Value>: Future<Output = Result<Value, Failure>> + Send {}

impl<Value, Work: Future<Output = Result<Value, Failure>> + Send> Answer<Value> for Work {}

/// A guest, as the server sees it: one method for each call of the protocol, in the words of `crannog-core`.
///
/// What arrives has passed [`crate::convert`]: it is within the limits. A future is dropped when its caller goes away, so each must be
/// cancel-safe: what must be done to its end is done elsewhere. A panic is answered as `internal` and hurts no other call.
pub trait GuestService: Send + Sync + 'static {
    /// Who is there.
    fn hello(&self) -> Hello;

    /// Confirms or extends the lease. Answers the generation that holds.
    fn renew(&self, generation: u64, ttl: Option<Duration>) -> Result<u64, Failure>;

    /// Ends every process and answers how many; the guest ends once this is answered.
    fn shutdown(&self, generation: u64, grace: Duration) -> impl Answer<u32>;

    /// Starts a process and collects its first window. Without `collect`: answers at once, with an empty window at offset 0.
    fn start(&self, spec: StartSpec, collect: Option<Collect>) -> impl Answer<Update>;

    /// Starts a process and streams or gathers its output.
    fn run(&self, run: RunSpec) -> impl Answer<EventStream>;

    /// Waits for output, the end, or a condition.
    fn collect(&self, process: ProcessId, collect: Collect) -> impl Answer<Update>;

    /// Writes, pauses, then collects. Without `collect`: answers when the bytes are accepted, with an empty window at the offset that the
    /// transcript had before the write.
    fn write(&self, process: ProcessId, write: WriteSpec, pause: Duration, collect: Option<Collect>) -> impl Answer<Update>;

    /// Closes a process's input.
    fn close_stdin(&self, process: ProcessId) -> Result<(), Failure>;

    /// Resizes a terminal.
    fn resize(&self, process: ProcessId, size: TerminalSize) -> Result<(), Failure>;

    /// Sends a signal.
    fn signal(&self, process: ProcessId, target: Target, signal: Signal) -> Result<(), Failure>;

    /// Ends a process with its whole tree.
    fn kill(&self, process: ProcessId, grace: Duration) -> impl Answer<Killed>;

    /// All processes that are still known.
    fn list(&self) -> Vec<ProcessInfo>;

    /// Waits until one of several processes has ended; none when the time passed.
    fn wait_any(&self, processes: Vec<ProcessId>, timeout: Duration) -> impl Answer<Vec<ProcessInfo>>;

    /// Raw bytes of a transcript, at most `bytes_max`.
    fn read(&self, process: ProcessId, from: u64, bytes_max: usize, stream: Option<Stream>) -> impl Answer<TranscriptPart>;

    /// Raw bytes of a transcript as they come. `owns_terminal`: the caller's terminal answers what programs ask of theirs.
    fn follow(&self, process: ProcessId, from: u64, hold: bool, owns_terminal: bool) -> Result<EventStream, Failure>;

    /// What a terminal shows.
    fn screen(&self, process: ProcessId, request: ScreenRequest) -> impl Answer<Screen>;

    /// A piece of a recording, at most `bytes_max`.
    fn recording(&self, process: ProcessId, from: u64, bytes_max: usize) -> Result<RecordingPart, Failure>;
}
