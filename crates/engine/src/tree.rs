//! A process with everything it started: who belongs to it, and reaching them all.
//!
//! Where the kernel lets us, each tree is born into a cgroup of its own, which nobody leaves by forking, changing session or losing its
//! parent. Elsewhere membership is worked out from the process table by descent, session, group and the tag in the environment. Either
//! way nobody is signalled by a bare number: a process is pinned first and then looked at again.

mod activity;
mod lineage;

use std::fs;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crannog_core::id::ProcessId;
use crannog_core::signal::Signal;
use crannog_sys::cgroup::Cgroup;
use crannog_sys::pidfd::Identity;
use crannog_sys::process_group;

use crate::environment::TAG_PROCESS;
use crate::host::Host;
use lineage::Lineage;

/// A tree, from before its leader is started until nothing of it is left.
#[derive(Debug)]
pub(crate) struct Tree {
    /// `None` once it was found empty for good.
    kind: Mutex<Option<Kind>>,
    leader: OnceLock<Identity>,
    /// The leader was reaped: its number, and that of its group, may be somebody else's.
    is_leader_reaped: AtomicBool,
}

#[derive(Debug)]
enum Kind {
    Cgroup(Cgroup),
    Lineage(Lineage),
}

impl Tree {
    /// Prepares a tree for the process `id` that will be marked with `tag`.
    pub(crate) fn new(host: &Host, id: ProcessId, tag: &str) -> Self {
        let kind = match host.make_cgroup(id) {
            Some(cgroup) => Kind::Cgroup(cgroup),
            None => Kind::Lineage(Lineage::new(format!("{TAG_PROCESS}={tag}").into_bytes())),
        };
        Self { kind: Mutex::new(Some(kind)), leader: OnceLock::new(), is_leader_reaped: AtomicBool::new(false) }
    }

    fn kind(&self) -> MutexGuard<'_, Option<Kind>> {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a child is born so that it belongs; `None` where it needs not.
    pub(crate) fn entrance(&self) -> std::io::Result<Option<OwnedFd>> {
        match &*self.kind() {
            Some(Kind::Cgroup(cgroup)) => cgroup.directory().map(Some),
            Some(Kind::Lineage(_)) | None => Ok(None),
        }
    }

    /// Names the leader, which has just been started and not been reaped.
    pub(crate) fn set_leader(&self, pid: u32) {
        if let Ok(leader) = Identity::of(pid) {
            // It is set once, by the start.
            let _ = self.leader.set(leader);
        }
    }

    /// The leader has just been reaped.
    pub(crate) fn note_leader_reaped(&self) {
        self.is_leader_reaped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_leader_reaped(&self) -> bool {
        self.is_leader_reaped.load(Ordering::Relaxed)
    }

    /// Living members. The leader is one until it ends.
    pub(crate) fn members(&self) -> Vec<u32> {
        match &*self.kind() {
            Some(Kind::Cgroup(cgroup)) => cgroup.processes().unwrap_or_default(),
            Some(Kind::Lineage(lineage)) => lineage.members(self.leader.get().copied()).into_iter().map(|member| member.pid).collect(),
            None => Vec::new(),
        }
    }

    /// Living members, by number.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.members().len()).unwrap_or(u32::MAX)
    }

    /// Whether some member lives.
    pub(crate) fn is_alive(&self) -> bool {
        match &*self.kind() {
            // An unreadable group is gone.
            Some(Kind::Cgroup(cgroup)) => cgroup.populated().unwrap_or(false),
            Some(Kind::Lineage(lineage)) => !lineage.members(self.leader.get().copied()).is_empty(),
            None => false,
        }
    }

    /// Whether some thread of a member is running, about to, or in the middle of disk work: it may print at any moment.
    pub(crate) fn is_runnable(&self) -> bool {
        self.members().into_iter().any(activity::is_at_work)
    }

    /// Sends a signal to every member, and lets stopped ones go on so that they can act on it. One that is born meanwhile may be missed.
    /// Answers how many were reached.
    pub(crate) fn signal(&self, signal: Signal) -> usize {
        let reached = self.send(signal);
        if signal != Signal::KILL && signal != Signal::CONT && self.members().into_iter().any(activity::is_stopped) {
            self.send(Signal::CONT);
        }
        reached
    }

    /// Sends a signal to every member and nothing else.
    pub(crate) fn send(&self, signal: Signal) -> usize {
        match &*self.kind() {
            Some(Kind::Cgroup(cgroup)) => cgroup.signal(signal.number()).unwrap_or(0),
            Some(Kind::Lineage(lineage)) => self.send_by_lineage(lineage, signal),
            None => 0,
        }
    }

    /// The leader's group gets it from the kernel in one step, so that a tree that forks all the time can't slip through; everybody else
    /// one by one.
    fn send_by_lineage(&self, lineage: &Lineage, signal: Signal) -> usize {
        let leader = self.leader.get().copied();
        let group = leader.map(|leader| leader.pid).filter(|_| !self.is_leader_reaped());
        let group = group.filter(|group| process_group::signal(*group, signal.number()).is_ok());
        let (in_group, others): (Vec<_>, Vec<_>) = lineage.members(leader).into_iter().partition(|member| Some(member.group) == group);
        // Those of the group may be gone by the time they are looked at.
        in_group.len().max(usize::from(group.is_some()))
            + others.iter().filter(|member| member.identity().signal(signal.number()).unwrap_or(false)).count()
    }

    /// Kills every member; whoever was born meanwhile needs another call.
    pub(crate) fn kill(&self) {
        if let Some(Kind::Cgroup(cgroup)) = &*self.kind() {
            if let Err(error) = cgroup.kill() {
                tracing::debug!(%error, "a cgroup could not be killed; it is tried again");
            }
            return;
        }
        self.send(Signal::KILL);
    }

    /// Whether the kernel says that it ended a member, by signal 9, because memory ran out.
    pub(crate) fn ran_out_of_memory(&self, signal: i32) -> bool {
        let kind = self.kind();
        let Some(Kind::Cgroup(cgroup)) = &*kind else { return false };
        // The file is there only where the memory controller was given to us.
        let events = if signal == Signal::KILL.number() { fs::read_to_string(cgroup.path().join("memory.events")) } else { return false };
        events.is_ok_and(|events| events.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count != "0")))
    }

    /// Whether membership is the kernel's own word.
    pub(crate) fn has_cgroup(&self) -> bool {
        matches!(*self.kind(), Some(Kind::Cgroup(_)))
    }

    pub(crate) fn is_released(&self) -> bool {
        self.kind().is_none()
    }

    /// Gives the cgroup back. Nothing is left in the tree, and nothing will be again.
    pub(crate) fn release(&self) {
        let Some(Kind::Cgroup(cgroup)) = self.kind().take() else { return };
        if let Err(error) = cgroup.remove() {
            tracing::debug!(%error, path = %cgroup.path().display(), "an empty cgroup could not be removed; closing the sandbox does it");
        }
    }
}
