//! Whether a process waits for input: the word of the kernel about what its threads sleep in, not a guess from what it printed.
//!
//! One doubt is left to clear up. Right after a write the reader may not have run yet and still look as it did before, so it has to be seen
//! to have moved.

use std::time::Duration;

use tokio::time::Instant;

/// After this time a reader that was given something has run, on any machine that is not stuck.
const SETTLED: Duration = Duration::from_millis(50);

/// A thread that sleeps in a read of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sleeper {
    pub(crate) thread: u32,
    /// How often it gave up the processor, which grows whenever it runs.
    pub(crate) switches: u64,
}

/// What was seen of a process's readers, and when it was last given something to read.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    last: Option<Sleeper>,
    written_at: Option<Instant>,
}

impl Sightings {
    /// Bytes were written to the process.
    pub(crate) fn note_write(&mut self, now: Instant) {
        self.written_at = Some(now);
    }

    /// Whether a sleeper is evidence that everything written so far was read, and more is waited for.
    pub(crate) fn judge(&mut self, seen: Option<Sleeper>, output_at: Option<Instant>, now: Instant) -> bool {
        let Some(sleeper) = seen else {
            self.last = None;
            return false;
        };
        let has_moved = self.written_at.is_none_or(|written_at| {
            let ran = self.last.is_some_and(|last| last.thread == sleeper.thread && last.switches < sleeper.switches);
            // A terminal echoes from where it also wakes its reader.
            let answered = output_at.is_some_and(|output_at| output_at > written_at);
            ran || answered || now.saturating_duration_since(written_at) >= SETTLED
        });
        if has_moved {
            self.written_at = None;
            self.last = Some(sleeper);
        } else {
            self.last.get_or_insert(sleeper);
        }
        has_moved
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{SETTLED, Sightings, Sleeper};

    const MS: Duration = Duration::from_millis(1);

    fn sleeper(switches: u64) -> Option<Sleeper> {
        Some(Sleeper { thread: 7, switches })
    }

    #[test]
    fn a_reader_counts_only_after_it_has_moved() {
        let (mut sightings, start) = (Sightings::default(), Instant::now());
        assert!(!sightings.judge(None, None, start));
        assert!(sightings.judge(sleeper(3), None, start));
        sightings.note_write(start + MS);
        assert!(!sightings.judge(sleeper(3), None, start + 2 * MS), "it has not run since the write");
        assert!(sightings.judge(sleeper(4), None, start + 3 * MS), "it has run and sleeps again");
        assert!(sightings.judge(sleeper(4), None, start + 4 * MS));
    }

    #[test]
    fn output_or_time_settle_it_too() {
        let (mut sightings, start) = (Sightings::default(), Instant::now());
        sightings.note_write(start);
        assert!(!sightings.judge(sleeper(3), Some(start), start + MS), "that output came before the write");
        assert!(sightings.judge(sleeper(3), Some(start + MS), start + 2 * MS));
        sightings.note_write(start + 3 * MS);
        assert!(!sightings.judge(sleeper(3), None, start + 4 * MS));
        assert!(sightings.judge(sleeper(3), None, start + 3 * MS + SETTLED));
    }

    #[test]
    fn another_thread_in_its_place_is_no_evidence_that_the_first_one_ran() {
        let (mut sightings, start) = (Sightings::default(), Instant::now());
        assert!(sightings.judge(sleeper(3), None, start));
        sightings.note_write(start);
        assert!(!sightings.judge(Some(Sleeper { thread: 8, switches: 9 }), None, start + MS));
    }
}
