//! Ending a process with its whole tree: TERM, a grace, KILL, until nothing of it is left.

use std::sync::Arc;
use std::time::Duration;

use crannog_core::end::End;
use crannog_core::limits;
use crannog_core::signal::Signal;
use crannog_core::transcript::Killed;
use tokio::time::Instant;

use crate::engine::Engine;
use crate::process::{Cause, Process};

/// Pauses between two looks at a tree that is ending; they double from the first to the last.
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(20);
/// How long the end of a killed process is waited for. Only one that the kernel can't end, stuck in a device, takes longer.
const REPORT_MAX: Duration = Duration::from_secs(5);

/// Ends a tree and answers when nothing of it is left, or when it can't be ended.
///
/// Not cancel-safe: run it on a task of its own.
pub(crate) async fn end_tree(engine: &Engine, process: &Arc<Process>, cause: Cause, grace: Duration) -> Killed {
    engine.reap();
    let grace = grace.min(limits::KILL_GRACE_MAX);
    {
        let mut state = process.state();
        if state.is_leader_running() {
            state.cause.get_or_insert(cause);
        }
    }
    let reached = process.tree.count();
    if reached > 0 && !grace.is_zero() {
        process.tree.signal(Signal::TERM);
        let deadline = Instant::now() + grace;
        let mut pause = PAUSE_MIN;
        while Instant::now() < deadline && process.tree.is_alive() {
            tokio::time::sleep(pause.min(deadline.saturating_duration_since(Instant::now()))).await;
            engine.reap();
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
    let complete = sweep(engine, process).await;
    let end = match tokio::time::timeout(REPORT_MAX, process.until_ended()).await {
        Ok(ending) => ending.end,
        Err(_) => End::Lost { reason: "the kernel has not ended it in spite of SIGKILL".to_owned() },
    };
    engine.release_if_gone(&process.tree);
    Killed { end, reached, complete }
}

/// Kills until nothing is left. A tree that forks faster than it dies is given up on after a bounded number of sweeps.
async fn sweep(engine: &Engine, process: &Process) -> bool {
    let mut pause = PAUSE_MIN;
    for _ in 0..limits::KILL_SWEEPS_MAX {
        if engine.is_gone(&process.tree) {
            return true;
        }
        process.tree.kill();
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
    engine.is_gone(&process.tree)
}
