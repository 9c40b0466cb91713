//! The end of a process: first everything it printed, then the word that it ended.
//!
//! What a process wrote before its exit is in the kernel's buffers when the exit is seen, so reading until there is nothing gets all of it.
//! Output may still be on its way through others (a `tee`, a pager), which are then at work. While any of the tree is running, reading goes
//! on for a short while; a background process that sleeps is not waited for. Readers stay on for what comes later.

use std::sync::Arc;
use std::time::Duration;

use crannog_core::end::End;
use crannog_core::limits;
use crannog_core::process::Stream;
use crannog_core::transcript::Usage;
use crannog_sys::reaper::WaitStatus;
use tokio::time::Instant;

use crate::engine::Engine;
use crate::process::{Cause, Ending, Process};
use crate::reader::{self, Pumped, ReadBuffer};

/// First pause between two looks at a tree that is at work; doubles up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(5);
/// Reads between two pauses for others.
const READS_PER_TURN: usize = 4;

/// How a leader ended, as the kernel told it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exit {
    pub(crate) status: WaitStatus,
    pub(crate) usage: crannog_sys::reaper::Usage,
    pub(crate) at: Instant,
}

/// Takes in what is left of the output and publishes the end. Run as a task once the leader was reaped.
pub(crate) async fn finish(engine: Engine, process: Arc<Process>, exit: Exit) {
    drain(&process, &engine.0.buffer).await;
    let ending = ending(&process, exit);
    {
        let mut state = process.state();
        let last_at = state.output_at.unwrap_or(exit.at).max(exit.at);
        if let Some(recording) = &mut state.recording {
            recording.finish(&ending.end, last_at);
        }
        state.end = Some(ending);
        state.log.close();
    }
    process.input.shut();
    engine.release_if_gone(&process.tree);
    process.ended.notify_waiters();
    engine.0.note_end();
}

async fn drain(process: &Process, buffer: &ReadBuffer) {
    let deadline = Instant::now() + limits::DRAIN_RUNNING;
    let mut pause = PAUSE_MIN;
    loop {
        empty_all(process, buffer).await;
        if process.outputs.are_closed() || Instant::now() >= deadline {
            return;
        }
        if !process.tree.is_runnable() {
            // What was written between the read and the look is there now.
            return empty_all(process, buffer).await;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

async fn empty_all(process: &Process, buffer: &ReadBuffer) {
    for stream in [Stream::Stdout, Stream::Stderr] {
        empty(process, stream, buffer).await;
    }
}

/// Reads a stream until the kernel holds nothing of it, or as much as it can have held.
async fn empty(process: &Process, stream: Stream, buffer: &ReadBuffer) {
    let Some(output) = process.outputs.get(stream) else { return };
    let bytes_max = output.kernel_bytes_max(!process.state().holds.is_empty());
    let mut bytes = 0;
    for reads in 1.. {
        match output.pump(process, stream, buffer) {
            Pumped::Bytes(count) => bytes += count,
            Pumped::Nothing => return,
            Pumped::HungUp | Pumped::Closed => return reader::close(process, stream),
        }
        // A background process can print faster than it is read.
        if bytes >= bytes_max {
            return;
        }
        if reads % READS_PER_TURN == 0 {
            tokio::task::yield_now().await;
        }
    }
}

fn ending(process: &Process, exit: Exit) -> Ending {
    let cause = process.state().cause;
    let end = match (exit.status, cause) {
        (_, Some(Cause::TimedOut { after_ms })) => End::TimedOut { after_ms },
        (WaitStatus::Exited(code), Some(Cause::Killed) | None) => End::Exited { code },
        (WaitStatus::Signalled { signal, .. }, None) if process.tree.ran_out_of_memory(signal) => End::OutOfMemory,
        (WaitStatus::Signalled { signal, core }, cause) => Ending::of_signal(signal, core, cause),
    };
    let duration = exit.at.saturating_duration_since(process.started);
    Ending {
        end,
        duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        usage: Usage {
            user_us: exit.usage.user_us,
            system_us: exit.usage.system_us,
            memory_peak_bytes: exit.usage.max_rss_kib.saturating_mul(1024),
        },
    }
}
