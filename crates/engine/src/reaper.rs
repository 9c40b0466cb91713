//! Reaping: every child of this operating system process, be it one we started or an orphan that was handed to us.
//!
//! A start puts the process into the table before anyone can reap, because both happen on the engine's thread without an await in between.

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use crannog_sys::reaper;

use crate::drain::{self, Exit};
use crate::engine::Engine;
use crate::process::Leader;

/// How often children are looked for if the kernel's signal can't be had.
const POLL: std::time::Duration = std::time::Duration::from_millis(20);

impl Engine {
    /// Reaps children until the runtime ends. Run it as a task: without it no process is ever seen to end.
    pub async fn serve(&self) {
        let mut children = match signal(SignalKind::child()) {
            Ok(children) => Some(children),
            Err(error) => {
                tracing::error!(%error, "SIGCHLD can't be awaited; children are polled");
                None
            }
        };
        loop {
            self.reap();
            match &mut children {
                Some(children) => {
                    children.recv().await;
                }
                None => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// Takes the statuses that are there now. Called also before a signal is sent, so that what has ended is known to have.
    pub(crate) fn reap(&self) {
        let mut met_orphans = false;
        loop {
            let (pid, status, usage) = match reaper::wait_any_nohang() {
                Ok(Some(ended)) => ended,
                Ok(None) => break,
                Err(error) => {
                    tracing::error!(%error, "children can't be reaped");
                    break;
                }
            };
            let leader = self.0.table().take_leader(pid);
            let Some(process) = leader else {
                met_orphans = true;
                continue;
            };
            {
                let mut state = process.state();
                state.leader = Leader::Reaped;
                if let Some(timer) = state.timer.take() {
                    timer.abort();
                }
            }
            let exit = Exit { status, usage, at: Instant::now() };
            tokio::spawn(drain::finish(self.0.clone(), process, exit));
        }
        if met_orphans {
            self.0.release_empty_trees();
        }
    }
}
