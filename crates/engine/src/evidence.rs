//! Whether a process waits for input: the word of the kernel about what its threads sleep in, not a guess from what it printed.
//!
//! One doubt is left to clear up. Right after a write the reader may not have run yet and still look as it did before, so it has to be seen
//! to have moved.

use std::time::Duration;

use crannog_core::process::Stream;
use crannog_sys::evidence::{self, InputObject, Sleeper};
use crannog_sys::{pipe, process_group};
use tokio::time::Instant;

use crate::process::Process;
use crate::signalling;

/// After this time a reader that was given something has run, on any machine that is not stuck.
const SETTLED: Duration = Duration::from_millis(50);

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
            let ran = self.last.is_some_and(|last| last.tid == sleeper.tid && last.switches < sleeper.switches);
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

/// Whether a process waits for input now. Costs a few looks into `/proc`.
pub(crate) fn waits_for_input(process: &Process) -> bool {
    if !process.state().is_leader_running() || process.input.is_busy() {
        return false;
    }
    let seen = candidates(process).and_then(|(candidates, object)| evidence::waiting_for_input(&candidates, object).blocked);
    let mut state = process.state();
    let output_at = state.output_at;
    state.sightings.judge(seen, output_at, Instant::now())
}

/// Who may read the input, and what it comes through: for a terminal its foreground group, for a pipe the tree.
fn candidates(process: &Process) -> Option<(Vec<u32>, InputObject)> {
    if let Some(pipe) = process.input.pipe() {
        return Some((process.tree.members(), pipe::identity(&*pipe).ok()?));
    }
    let output = process.outputs.get(Stream::Stdout)?;
    let rdev = output.terminal()?.device().ok()?;
    let foreground = signalling::foreground(process)?;
    Some((process_group::members(foreground).ok()?, InputObject::Terminal { rdev }))
}

/// Whether the terminal shows what is typed; `None` without one.
pub(crate) fn echo(process: &Process) -> Option<bool> {
    let output = process.outputs.get(Stream::Stdout)?;
    output.terminal()?.modes().ok().map(|modes| modes.echo)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{SETTLED, Sightings, Sleeper};

    const MS: Duration = Duration::from_millis(1);

    fn sleeper(switches: u64) -> Sleeper {
        Sleeper { pid: 7, tid: 7, switches, timed: false }
    }

    #[test]
    fn a_reader_counts_only_after_it_has_moved() {
        let (mut sightings, start) = (Sightings::default(), Instant::now());
        assert!(!sightings.judge(None, None, start));
        assert!(sightings.judge(Some(sleeper(3)), None, start));
        sightings.note_write(start + MS);
        assert!(!sightings.judge(Some(sleeper(3)), None, start + 2 * MS), "it has not run since the write");
        assert!(sightings.judge(Some(sleeper(4)), None, start + 3 * MS), "it has run and sleeps again");
        assert!(sightings.judge(Some(sleeper(4)), None, start + 4 * MS));
    }

    #[test]
    fn output_or_time_settle_it_too() {
        let (mut sightings, start) = (Sightings::default(), Instant::now());
        sightings.note_write(start);
        assert!(!sightings.judge(Some(sleeper(3)), Some(start), start + MS), "that output came before the write");
        assert!(sightings.judge(Some(sleeper(3)), Some(start + MS), start + 2 * MS));
        sightings.note_write(start + 3 * MS);
        assert!(!sightings.judge(Some(sleeper(3)), None, start + 4 * MS));
        assert!(sightings.judge(Some(sleeper(3)), None, start + 3 * MS + SETTLED));
    }

    #[test]
    fn another_thread_in_its_place_is_no_evidence_that_the_first_one_ran() {
        let (mut sightings, start) = (Sightings::default(), Instant::now());
        assert!(sightings.judge(Some(sleeper(3)), None, start));
        sightings.note_write(start);
        assert!(!sightings.judge(Some(Sleeper { pid: 8, tid: 8, switches: 9, timed: false }), None, start + MS));
    }
}
