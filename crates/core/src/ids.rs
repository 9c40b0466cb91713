//! Choosing the id of a new process.
//!
//! Ids are drawn at random so that one typed from memory of an earlier sandbox does not hit a process of this one. The draw comes
//! from outside, so a test decides it.

use crate::id::ProcessId;
use crate::limits::{PROCESS_ID_MAX_EXCLUSIVE, PROCESS_ID_MIN};

/// Random tries before the range is searched in order. A table of 64 among 99 000 ids misses the first with odds of 1 to 1 500.
pub const DRAWS_MAX: u32 = 16;

const IDS: u32 = PROCESS_ID_MAX_EXCLUSIVE - PROCESS_ID_MIN;

/// An id for which `is_used` answers false. `draw` gives uniformly distributed bits; after [`DRAWS_MAX`] tries the range is searched
/// upwards from the last one, so this always ends. `None` if every id is in use.
pub fn choose(mut draw: impl FnMut() -> u32, is_used: impl Fn(ProcessId) -> bool) -> Option<ProcessId> {
    let mut offset = 0;
    for _ in 0..DRAWS_MAX {
        offset = scale(draw());
        let id = ProcessId(PROCESS_ID_MIN + offset);
        if !is_used(id) {
            return Some(id);
        }
    }
    (1..IDS).map(|step| ProcessId(PROCESS_ID_MIN + (offset + step) % IDS)).find(|id| !is_used(*id))
}

/// Maps 32 bits to `0..IDS`; the bias is below one in 40 000 and needs no retry.
fn scale(bits: u32) -> u32 {
    let scaled = (u64::from(bits) * u64::from(IDS)) >> 32;
    u32::try_from(scaled).expect("a 32-bit number times IDS, shifted by 32, is below IDS")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::{PROCESS_ID_MAX_EXCLUSIVE, PROCESS_ID_MIN, choose};
    use crate::id::ProcessId;

    #[test]
    fn the_whole_range_can_be_drawn_and_nothing_else() {
        assert_eq!(choose(|| 0, |_| false), Some(ProcessId(PROCESS_ID_MIN)));
        assert_eq!(choose(|| u32::MAX, |_| false), Some(ProcessId(PROCESS_ID_MAX_EXCLUSIVE - 1)));
    }

    #[test]
    fn a_stuck_source_finds_the_last_free_ids_and_then_none() {
        let free = [PROCESS_ID_MIN, 50_000, PROCESS_ID_MAX_EXCLUSIVE - 1];
        let mut used: HashSet<u32> = (PROCESS_ID_MIN..PROCESS_ID_MAX_EXCLUSIVE).filter(|id| !free.contains(id)).collect();
        for _ in free {
            let id = choose(|| 1 << 31, |id| used.contains(&id.0)).unwrap();
            assert!(free.contains(&id.0) && used.insert(id.0));
        }
        assert_eq!(choose(|| 7, |id| used.contains(&id.0)), None);
    }

    proptest! {
        #[test]
        fn a_chosen_id_is_free_and_in_range(bits: u32, used: HashSet<u32>) {
            let id = choose(|| bits, |id| used.contains(&id.0)).unwrap();
            prop_assert!(!used.contains(&id.0) && (PROCESS_ID_MIN..PROCESS_ID_MAX_EXCLUSIVE).contains(&id.0));
        }
    }
}
