//! The timeout of a process: a timer that ends its whole tree.

use std::sync::Arc;
use std::time::Duration;

use crannog_core::limits;

use crate::engine::Engine;
use crate::kill;
use crate::process::{Cause, Process};

/// Arms the timer. It is stopped when the leader has ended.
pub(crate) fn arm(engine: &Engine, process: &Arc<Process>, timeout: Duration) {
    let timeout = timeout.min(limits::TIMEOUT_MAX);
    let task = tokio::spawn(expire(engine.clone(), process.clone(), timeout));
    process.state().timer = Some(task.abort_handle());
}

async fn expire(engine: Engine, process: Arc<Process>, timeout: Duration) {
    tokio::time::sleep(timeout).await;
    engine.reap();
    if !process.state().is_leader_running() {
        // It was faster. What it left in the background has no timeout.
        return;
    }
    let after_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    // On its own task: the end of the leader stops this one, and the rest of the tree is to go all the same.
    tokio::spawn(async move { kill::end_tree(&engine, &process, Cause::TimedOut { after_ms }, limits::KILL_GRACE).await });
}
