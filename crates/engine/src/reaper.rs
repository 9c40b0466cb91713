//! Reaping: every child of this operating system process, be it one we started or an orphan that was handed to us.
//!
//! A start puts the process into the table before anyone can reap, because both happen on the engine's thread without an await in between.

use std::fs;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use crannog_sys::reaper;

use crate::drain::{self, Exit};
use crate::engine::Engine;
use crate::process::Leader;
use crate::tree::Tree;

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
        if self.reap_children() {
            self.release_empty_trees();
        }
    }

    /// Whether nothing of a tree is left.
    ///
    /// A look at the process table takes time, and a tree that forks on and on can slip through it: the parents are gone when they are
    /// looked at, the children were not there yet. Orphans are handed to us, so such a look is told by one that was reaped meanwhile.
    pub(crate) fn is_gone(&self, tree: &Tree) -> bool {
        self.reap_children();
        if !tree.has_cgroup() && tree.is_leader_reaped() && !self.has_orphans() {
            return true;
        }
        let orphans_before = self.0.orphans();
        if tree.is_alive() {
            return false;
        }
        if tree.has_cgroup() {
            return true;
        }
        self.reap_children();
        self.0.orphans() == orphans_before
    }

    /// Whether some child of ours is not a leader. Without one, no leader that was reaped has left anything: its descendants are
    /// children of ours, or descend from one. This saves most looks at the process table.
    ///
    /// The list is reliable for us, who alone take children off it (`proc_tid_children(5)`). Where it can't be read there may be some.
    fn has_orphans(&self) -> bool {
        let Ok(threads) = fs::read_dir("/proc/self/task") else { return true };
        let table = self.0.table();
        threads.flatten().any(|thread| {
            let children = fs::read_to_string(thread.path().join("children"));
            children
                .map_or(true, |children| children.split_ascii_whitespace().any(|pid| pid.parse().map_or(true, |pid| !table.is_leader(pid))))
        })
    }

    /// Gives back what an empty tree holds. To be called when its leader has been reaped.
    pub(crate) fn release_if_gone(&self, tree: &Tree) {
        if self.is_gone(tree) {
            tree.release();
        }
    }

    /// After orphans were reaped: some tree may have become empty.
    fn release_empty_trees(&self) {
        let all = self.0.table().all();
        for process in all.iter().filter(|process| process.state().end.is_some() && !process.tree.is_released()) {
            self.release_if_gone(&process.tree);
        }
    }

    /// Whether orphans were among the reaped.
    fn reap_children(&self) -> bool {
        let orphans_before = self.0.orphans();
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
                self.0.note_orphan();
                continue;
            };
            {
                let mut state = process.state();
                state.leader = Leader::Reaped;
                process.tree.note_leader_reaped();
                if let Some(timer) = state.timer.take() {
                    timer.abort();
                }
            }
            let exit = Exit { status, usage, at: Instant::now() };
            tokio::spawn(drain::finish(self.clone(), process, exit));
        }
        self.0.orphans() != orphans_before
    }
}
