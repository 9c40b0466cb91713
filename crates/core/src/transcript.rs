//! Pieces of a transcript and what is said at its end: the words of raw reads, follows and one-shot runs.

use crate::end::End;
use crate::process::Stream;

/// Bytes that one stream printed, at their place in the merged transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Absolute offset of the first byte.
    pub offset: u64,
    /// Where it was printed.
    pub stream: Stream,
    /// The bytes, never empty.
    pub bytes: Vec<u8>,
}

/// The answer to a raw read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptPart {
    /// What is kept of the range, in arrival order.
    pub parts: Vec<Part>,
    /// Where to read from next.
    pub next: u64,
    /// Bytes between the asked offset and the first part that are not kept any more.
    pub lost_bytes: u64,
    /// Bytes printed so far.
    pub total: u64,
    /// How the process ended, once everything that it printed before is in the transcript.
    pub end: Option<End>,
}

/// What a process and the children it waited for have used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Processor time in user mode, microseconds.
    pub user_us: u64,
    /// Processor time in the kernel, microseconds.
    pub system_us: u64,
    /// Largest resident size, bytes.
    pub memory_peak_bytes: u64,
}

/// The last word on a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// From start to end, milliseconds.
    pub duration_ms: u64,
    /// Processes that it started are still running.
    pub descendants_alive: bool,
    /// Bytes of stdout that this run did not hand over.
    pub stdout_omitted_bytes: u64,
    /// Bytes of stderr that this run did not hand over.
    pub stderr_omitted_bytes: u64,
    /// What it used.
    pub usage: Usage,
}

/// One event of a follow or a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowEvent {
    /// The first event: which process this is.
    Started(crate::id::ProcessId),
    /// Output.
    Output(Part),
    /// This many bytes were dropped before the follower got to them.
    Lost(u64),
    /// The last event.
    Ended(Ended),
}

/// What a kill did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Killed {
    /// How the process ended; the earlier end when it had ended before.
    pub end: End,
    /// Processes of the tree that were running when the kill began, the process itself included.
    pub reached: u32,
    /// Nothing of the tree is left.
    pub complete: bool,
}

/// A finished run's output, each stream on its own; what was left out of a long one's middle is counted in [`Ended`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gathered {
    /// The process.
    pub process: crate::id::ProcessId,
    /// Standard output: all of it, or its head and tail.
    pub stdout: Vec<u8>,
    /// Standard error: all of it, or its head and tail.
    pub stderr: Vec<u8>,
    /// The end.
    pub ended: Ended,
}
