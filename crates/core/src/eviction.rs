//! Which process leaves a full table.
//!
//! The most recently used ones are never taken: a caller who just looked at a process expects to find it again.

use crate::limits::PROCESSES_PROTECTED_RECENT;

/// What the choice looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<I, T> {
    /// The process.
    pub id: I,
    /// When a call on it last ended, or when it was made.
    pub last_used: T,
    /// Whether it has ended.
    pub ended: bool,
}

/// The id to evict under the compatible rule: the least recently used ended one, else the least recently used one, never one of the
/// [`PROCESSES_PROTECTED_RECENT`] most recently used. Equal times keep the order of `candidates`, which should be that of insertion.
/// `None` if all are protected.
pub fn id_to_evict<I: Copy + PartialEq, T: Ord>(candidates: &[Candidate<I, T>]) -> Option<I> {
    let unprotected = unprotected_oldest_first(candidates);
    unprotected.iter().find(|candidate| candidate.ended).or(unprotected.first()).map(|candidate| candidate.id)
}

/// The id to retire under the native rule: as [`id_to_evict`], but a process that still runs is never taken. `None` means that a
/// new one has to be refused.
pub fn id_to_retire<I: Copy + PartialEq, T: Ord>(candidates: &[Candidate<I, T>]) -> Option<I> {
    unprotected_oldest_first(candidates).iter().find(|candidate| candidate.ended).map(|candidate| candidate.id)
}

fn unprotected_oldest_first<I: Copy + PartialEq, T: Ord>(candidates: &[Candidate<I, T>]) -> Vec<&Candidate<I, T>> {
    let mut newest_first: Vec<_> = candidates.iter().collect();
    newest_first.sort_by(|left, right| right.last_used.cmp(&left.last_used));
    let protected: Vec<I> = newest_first.iter().take(PROCESSES_PROTECTED_RECENT).map(|candidate| candidate.id).collect();
    let mut rest: Vec<_> = candidates.iter().filter(|candidate| !protected.contains(&candidate.id)).collect();
    rest.sort_by(|left, right| left.last_used.cmp(&right.last_used));
    rest
}

#[cfg(test)]
mod tests {
    use super::{Candidate, id_to_evict, id_to_retire};

    #[test]
    fn retiring_never_takes_a_running_process() {
        let mut candidates: Vec<_> = (0..20).map(|number| Candidate { id: number, last_used: number, ended: false }).collect();
        assert_eq!(id_to_evict(&candidates), Some(0));
        assert_eq!(id_to_retire(&candidates), None);
        candidates[7].ended = true;
        candidates[11].ended = true;
        candidates[12].ended = true;
        assert_eq!(id_to_retire(&candidates), Some(7));
        candidates[7].ended = false;
        candidates[11].ended = false;
        assert_eq!(id_to_retire(&candidates), None, "12 is among the eight most recent");
    }
}
