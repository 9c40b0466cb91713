//! The table of processes: by id for callers, by the kernel's number for the reaper, by request id for retries.
//!
//! Ended entries stay, so that their transcripts can be read; the least recently used of them goes when too many are kept. Only leaders
//! that were not reaped count as live.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crannog_core::eviction::{self, Candidate};
use crannog_core::id::ProcessId;
use crannog_core::{ids, limits};

use crate::error::EngineError;
use crate::process::Process;

/// Ids of forgotten processes that are not handed out again soon: a caller may still hold one.
const IDS_RETIRED_KEPT: usize = 16_384;

/// All processes that are known.
#[derive(Debug, Default)]
pub(crate) struct Table {
    processes: HashMap<ProcessId, Arc<Process>>,
    leaders: HashMap<u32, Arc<Process>>,
    requests: HashMap<String, ProcessId>,
    requests_by_age: VecDeque<String>,
    retired: HashSet<ProcessId>,
    retired_by_age: VecDeque<ProcessId>,
    /// Nothing starts any more.
    is_closed: bool,
}

impl Table {
    pub(crate) fn get(&self, process: ProcessId) -> Result<Arc<Process>, EngineError> {
        self.processes.get(&process).cloned().ok_or(EngineError::ProcessNotFound { process })
    }

    /// Every process, the oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<Process>> {
        let mut all: Vec<_> = self.processes.values().cloned().collect();
        all.sort_by_key(|process| (process.started, process.id));
        all
    }

    /// Processes whose end was not seen yet.
    pub(crate) fn live(&self) -> u32 {
        u32::try_from(self.leaders.len()).unwrap_or(u32::MAX)
    }

    /// The process that an earlier start with this request id made.
    pub(crate) fn repeated(&self, request_id: &str) -> Option<ProcessId> {
        self.requests.get(request_id).copied()
    }

    /// An id for a process about to be started. `draw` gives random bits.
    pub(crate) fn choose_id(&self, draw: impl FnMut() -> u32, live_max: u32) -> Result<ProcessId, EngineError> {
        if self.is_closed {
            return Err(EngineError::Closed);
        }
        let (live, limit) = (self.live(), live_max);
        if live == limits::PROCESSES_WARNING_DEFAULT * limit / limits::PROCESSES_LIVE_DEFAULT {
            tracing::warn!(live, limit, "the sandbox will soon run as many processes as it may");
        }
        let is_used = |id| self.processes.contains_key(&id) || self.retired.contains(&id);
        // The range is larger than all tables together, so only the limit can refuse.
        let id = if live < limit { ids::choose(draw, is_used) } else { None };
        id.ok_or(EngineError::LimitReached { live, limit })
    }

    /// Enters a process that has just been started.
    pub(crate) fn insert(&mut self, process: Arc<Process>, pid: u32, request_id: Option<String>) {
        if let Some(request_id) = request_id {
            if self.requests_by_age.len() >= limits::REQUEST_IDS_KEPT
                && let Some(oldest) = self.requests_by_age.pop_front()
            {
                self.requests.remove(&oldest);
            }
            self.requests_by_age.push_back(request_id.clone());
            self.requests.insert(request_id, process.id);
        }
        self.leaders.insert(pid, process.clone());
        self.processes.insert(process.id, process);
    }

    /// Whether a leader that was not reaped has this number.
    pub(crate) fn is_leader(&self, pid: u32) -> bool {
        self.leaders.contains_key(&pid)
    }

    /// The process whose leader has this number, which from now on may be somebody else's.
    pub(crate) fn take_leader(&mut self, pid: u32) -> Option<Arc<Process>> {
        self.leaders.remove(&pid)
    }

    /// Forgets the least recently used ended process if more are kept than may be.
    pub(crate) fn retire(&mut self) -> Option<Arc<Process>> {
        let ended: Vec<_> = self.processes.values().filter(|process| process.state().end.is_some()).collect();
        if ended.len() <= limits::PROCESSES_ENDED_KEPT {
            return None;
        }
        let candidate = |process: &&Arc<Process>| Candidate { id: process.id, last_used: process.last_used_ms(), ended: true };
        let candidates: Vec<_> = ended.iter().map(candidate).collect();
        let id = eviction::id_to_retire(&candidates)?;
        if self.retired_by_age.len() >= IDS_RETIRED_KEPT
            && let Some(oldest) = self.retired_by_age.pop_front()
        {
            self.retired.remove(&oldest);
        }
        self.retired_by_age.push_back(id);
        self.retired.insert(id);
        self.processes.remove(&id)
    }

    /// Refuses starts from now on.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }
}
