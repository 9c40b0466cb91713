//! Backpressure for those who asked for it: while a holding follower lags, the readers of its process pause, the pipe fills, and the
//! kernel makes the process wait.
//!
//! A follower may lag by half of the ring, so that what it has not seen is kept even when the archive is full, together with what the
//! readers take after the limit was passed. Small reads count too, because the ring remembers a bounded number of runs.

use crannog_core::limits;

use crate::process::{Process, State};

/// Reads that a holding follower may lag.
const LAG_READS_MAX: u64 = limits::TRANSCRIPT_RUNS_MAX as u64 / 2;

/// Where one holding follower stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold {
    follower: u64,
    offset: u64,
    reads: u64,
}

/// The holding followers of one process.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    held: Vec<Hold>,
    followers: u64,
    reads: u64,
}

impl Holds {
    /// Counts a read.
    pub(crate) fn note_read(&mut self) {
        self.reads += 1;
    }

    fn add(&mut self, offset: u64) -> u64 {
        self.followers += 1;
        self.held.push(Hold { follower: self.followers, offset, reads: self.reads });
        self.followers
    }

    fn advance(&mut self, follower: u64, offset: u64) {
        let reads = self.reads;
        if let Some(hold) = self.held.iter_mut().find(|hold| hold.follower == follower) {
            *hold = Hold { follower, offset, reads };
        }
    }

    fn remove(&mut self, follower: u64) {
        self.held.retain(|hold| hold.follower != follower);
    }

    fn lag(&self, total: u64) -> bool {
        let lags =
            |hold: &Hold| total.saturating_sub(hold.offset) > limits::FOLLOW_LAG_BYTES_MAX || self.reads - hold.reads > LAG_READS_MAX;
        self.held.iter().any(lags)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

impl State {
    fn is_held(&self) -> bool {
        !self.holds.is_empty() && self.holds.lag(self.log.total())
    }
}

impl Process {
    /// Whether the readers should pause.
    pub(crate) fn is_held(&self) -> bool {
        self.state().is_held()
    }

    /// Resolves when the readers may go on. Cancel-safe.
    pub(crate) async fn until_not_held(&self) {
        while self.is_held() {
            let notified = self.follower_moved.notified();
            let mut notified = std::pin::pin!(notified);
            notified.as_mut().enable();
            if self.is_held() {
                notified.await;
            }
        }
    }

    pub(crate) fn hold(&self, offset: u64) -> u64 {
        self.state().holds.add(offset)
    }

    pub(crate) fn advance_hold(&self, follower: u64, offset: u64) {
        self.state().holds.advance(follower, offset);
        self.follower_moved.notify_waiters();
    }

    pub(crate) fn release_hold(&self, follower: u64) {
        self.state().holds.remove(follower);
        self.follower_moved.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::{Holds, LAG_READS_MAX, limits};

    #[test]
    fn the_slowest_follower_decides() {
        let mut holds = Holds::default();
        let (slow, fast) = (holds.add(0), holds.add(0));
        assert!(!holds.lag(limits::FOLLOW_LAG_BYTES_MAX));
        assert!(holds.lag(limits::FOLLOW_LAG_BYTES_MAX + 1));
        holds.advance(fast, limits::FOLLOW_LAG_BYTES_MAX + 1);
        assert!(holds.lag(limits::FOLLOW_LAG_BYTES_MAX + 1));
        holds.advance(slow, 1);
        assert!(!holds.lag(limits::FOLLOW_LAG_BYTES_MAX + 1));
        holds.remove(slow);
        assert!(!holds.lag(limits::FOLLOW_LAG_BYTES_MAX + 2) && !holds.is_empty());
        holds.remove(fast);
        assert!(!holds.lag(u64::MAX) && holds.is_empty());
    }

    #[test]
    fn many_small_reads_count_like_many_bytes() {
        let mut holds = Holds::default();
        let follower = holds.add(0);
        for _ in 0..=LAG_READS_MAX {
            assert!(!holds.lag(1));
            holds.note_read();
        }
        assert!(holds.lag(1));
        holds.advance(follower, 1);
        assert!(!holds.lag(1));
    }
}
