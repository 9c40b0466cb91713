//! The sessions that a client holds ids of, and which of them has to go when there are too many.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use crannog_core::eviction::{Candidate, id_to_evict};
use crannog_core::id::ProcessId;
use tokio::sync::Mutex;

/// Registered sessions at which one is evicted before the next is registered.
pub(super) const SESSIONS_MAX: usize = 64;
/// Registered sessions from which a warning is logged.
pub(super) const SESSIONS_WARNING: usize = 60;
/// Evicted ids that are remembered, to tell a client what became of them.
const EVICTED_REMEMBERED_MAX: usize = 256;

/// How far a session was read. Whoever collects holds the lock meanwhile, so concurrent polls take turns.
#[derive(Debug, Default)]
pub(super) struct Position {
    pub(super) cursor: u64,
    /// The exit code, once it was reported.
    pub(super) exit_code: Option<i32>,
}

/// A session as calls on it hold it.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) process: ProcessId,
    pub(super) has_terminal: bool,
    pub(super) position: Arc<Mutex<Position>>,
}

#[derive(Debug)]
struct Entry {
    session: Session,
    last_used: Instant,
    /// Calls that are waiting on it.
    busy: u32,
}

/// Sessions in the order of their registration.
#[derive(Debug, Default)]
pub(super) struct Registry {
    entries: Vec<Entry>,
    evicted: VecDeque<ProcessId>,
}

impl Registry {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn ids(&self) -> Vec<ProcessId> {
        self.entries.iter().map(|entry| entry.session.process).collect()
    }

    pub(super) fn insert(&mut self, process: ProcessId, has_terminal: bool, now: Instant) {
        let session = Session { process, has_terminal, position: Arc::default() };
        self.entries.push(Entry { session, last_used: now, busy: 0 });
    }

    pub(super) fn session(&self, process: ProcessId) -> Option<Session> {
        self.entries.iter().map(|entry| &entry.session).find(|session| session.process == process).cloned()
    }

    /// The session is waited on, until [`Registry::leave`].
    pub(super) fn enter(&mut self, process: ProcessId) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.session.process == process) {
            entry.busy += 1;
        }
    }

    /// A call on the session has ended.
    pub(super) fn leave(&mut self, process: ProcessId, now: Instant) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.session.process == process) {
            entry.busy = entry.busy.saturating_sub(1);
            entry.last_used = now;
        }
    }

    pub(super) fn remove(&mut self, process: ProcessId) {
        self.entries.retain(|entry| entry.session.process != process);
    }

    /// Takes out all.
    pub(super) fn clear(&mut self) -> Vec<ProcessId> {
        std::mem::take(&mut self.entries).into_iter().map(|entry| entry.session.process).collect()
    }

    /// Takes out the one that has to go, if the table is full: see [`id_to_evict`]. One that is waited on counts as used just now and is
    /// never taken.
    pub(super) fn evict(&mut self, ended: &HashSet<ProcessId>, now: Instant) -> Option<ProcessId> {
        if self.entries.len() < SESSIONS_MAX {
            return None;
        }
        let candidate = |entry: &Entry| Candidate {
            id: entry.session.process,
            last_used: if entry.busy > 0 { now } else { entry.last_used },
            ended: entry.busy == 0 && ended.contains(&entry.session.process),
        };
        let candidates: Vec<_> = self.entries.iter().map(candidate).collect();
        let is_free = |id: &ProcessId| self.entries.iter().any(|entry| entry.session.process == *id && entry.busy == 0);
        let chosen = id_to_evict(&candidates).filter(is_free)?;
        self.remove(chosen);
        self.evicted.push_back(chosen);
        if self.evicted.len() > EVICTED_REMEMBERED_MAX {
            self.evicted.pop_front();
        }
        Some(chosen)
    }

    pub(super) fn was_evicted(&self, process: ProcessId) -> bool {
        self.evicted.contains(&process)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::HashSet;
    use std::time::{Duration, Instant};

    use super::{ProcessId, Registry, SESSIONS_MAX};

    fn full(start: Instant) -> Registry {
        let mut registry = Registry::default();
        for number in 0..SESSIONS_MAX {
            let number = u32::try_from(number).unwrap();
            registry.insert(ProcessId(1000 + number), true, start + Duration::from_secs(number.into()));
        }
        registry
    }

    #[test]
    fn the_least_recently_used_goes_an_ended_one_first_and_none_that_is_waited_on() {
        let start = Instant::now();
        let later = start + Duration::from_secs(1000);
        assert_eq!(full(start).evict(&HashSet::new(), later), Some(ProcessId(1000)));
        assert_eq!(full(start).evict(&HashSet::from([ProcessId(1030)]), later), Some(ProcessId(1030)));
        let mut registry = full(start);
        registry.enter(ProcessId(1000));
        assert_eq!(registry.evict(&HashSet::new(), later), Some(ProcessId(1001)));
        assert!(registry.was_evicted(ProcessId(1001)) && !registry.was_evicted(ProcessId(1000)));
        assert_eq!(registry.evict(&HashSet::new(), later), None, "there is room again");
    }

    #[test]
    fn nobody_is_evicted_when_all_are_waited_on() {
        let start = Instant::now();
        let mut registry = full(start);
        for id in registry.ids() {
            registry.enter(id);
        }
        assert_eq!(registry.evict(&HashSet::new(), start), None);
        registry.leave(ProcessId(1005), start);
        // It was used last, but all others are being used.
        assert_eq!(registry.evict(&HashSet::new(), start + Duration::from_secs(1)), Some(ProcessId(1005)));
    }
}
