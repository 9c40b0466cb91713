//! Membership without a cgroup.

use std::sync::{Mutex, PoisonError};

use crannog_sys::pidfd::Identity;
use crannog_sys::process_tree::{self, Process};

/// What is remembered of a tree between two looks at the process table.
#[derive(Debug)]
pub(super) struct Lineage {
    /// The environment entry that every member was started with, unless it cleared its environment.
    tag: Vec<u8>,
    /// Sessions of the members at the last look: a member whose parent has gone since is found by its own. Replaced at each look, so
    /// that a number which has left the tree is not taken for it later.
    sessions: Mutex<Vec<u32>>,
}

impl Lineage {
    pub(super) fn new(tag: Vec<u8>) -> Self {
        Self { tag, sessions: Mutex::default() }
    }

    /// The living members. Nobody is one as long as no leader was started.
    pub(super) fn members(&self, leader: Option<Identity>) -> Vec<Process> {
        let Some(leader) = leader else { return Vec::new() };
        let table = match process_tree::snapshot() {
            Ok(table) => table,
            Err(error) => {
                tracing::warn!(%error, "the process table can't be read; members of a tree are not found");
                return Vec::new();
            }
        };
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let members = process_tree::members(&table, leader, &self.tag, &sessions);
        let members: Vec<Process> = members.iter().filter_map(|member| table.get(member.pid)).copied().collect();
        *sessions = members.iter().map(|member| member.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        members
    }
}
