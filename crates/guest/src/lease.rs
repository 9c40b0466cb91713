//! How long the sandbox may live without hearing from its owner.
//!
//! A fresh guest has a provisional lease: if its creator dies before it has recorded the sandbox, nobody would ever end it. Each renewal
//! carries a generation; who holds an older one has been replaced and is refused. Time is the monotonic clock's, so setting the
//! machine's clock changes nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// A renewal by a holder that was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fenced {
    /// The generation that holds.
    pub(crate) current: u64,
}

/// The terms that hold now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Terms {
    generation: u64,
    /// `None`: until the sandbox is destroyed.
    deadline: Option<Instant>,
}

impl Terms {
    fn renew(&mut self, now: Instant, generation: u64, ttl: Option<Duration>) -> Result<u64, Fenced> {
        self.check(generation)?;
        *self = Self { generation, deadline: ttl.map(|ttl| now + ttl) };
        Ok(generation)
    }

    fn check(self, generation: u64) -> Result<(), Fenced> {
        if generation < self.generation { Err(Fenced { current: self.generation }) } else { Ok(()) }
    }
}

/// The lease of this guest.
#[derive(Debug)]
pub(crate) struct Lease {
    terms: Mutex<Terms>,
    changed: Notify,
}

impl Lease {
    /// A lease that ends after `unconfirmed` unless it is renewed.
    pub(crate) fn provisional(generation: u64, unconfirmed: Duration) -> Self {
        let terms = Terms { generation, deadline: Some(Instant::now() + unconfirmed) };
        Self { terms: Mutex::new(terms), changed: Notify::new() }
    }

    /// Sets new terms, from now on. `None`: no end.
    pub(crate) fn renew(&self, generation: u64, ttl: Option<Duration>) -> Result<u64, Fenced> {
        let renewed = self.terms().renew(Instant::now(), generation, ttl);
        self.changed.notify_one();
        renewed
    }

    /// Whether a holder of this generation may still act.
    pub(crate) fn check(&self, generation: u64) -> Result<(), Fenced> {
        self.terms().check(generation)
    }

    pub(crate) fn generation(&self) -> u64 {
        self.terms().generation
    }

    /// Time that is left; `None` without an end.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.terms().deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits until the lease has run out. Cancel-safe. One waiter at a time.
    pub(crate) async fn expired(&self) {
        loop {
            let deadline = self.terms().deadline;
            match deadline {
                Some(deadline) if deadline <= Instant::now() => return,
                Some(deadline) => tokio::select! {
                    () = sleep_until(deadline) => {}
                    () = self.changed.notified() => {}
                },
                None => self.changed.notified().await,
            }
        }
    }

    fn terms(&self) -> MutexGuard<'_, Terms> {
        // Terms are replaced whole, so a panic elsewhere cannot leave half of them.
        self.terms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, timeout};

    use super::{Fenced, Lease};

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn an_unconfirmed_lease_runs_out() {
        let start = Instant::now();
        Lease::provisional(1, 30 * SECOND).expired().await;
        assert_eq!(start.elapsed(), 30 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewal_counts_from_when_it_is_made_and_may_shorten() {
        let lease = Lease::provisional(1, 30 * SECOND);
        let start = Instant::now();
        let renew = async {
            tokio::time::sleep(10 * SECOND).await;
            lease.renew(1, Some(60 * SECOND)).expect("the same generation");
            tokio::time::sleep(SECOND).await;
            lease.renew(1, Some(5 * SECOND)).expect("the same generation");
        };
        tokio::join!(renew, lease.expired());
        assert_eq!(start.elapsed(), 16 * SECOND);
        assert_eq!(lease.remaining(), Some(Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn without_an_end_it_does_not_run_out() {
        let lease = Lease::provisional(1, SECOND);
        lease.renew(1, None).expect("the same generation");
        assert_eq!(lease.remaining(), None);
        assert!(timeout(1_000_000 * SECOND, lease.expired()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn an_older_generation_is_fenced_and_changes_nothing() {
        let lease = Lease::provisional(3, SECOND);
        assert_eq!(lease.renew(5, Some(9 * SECOND)), Ok(5));
        assert_eq!(lease.renew(4, None), Err(Fenced { current: 5 }));
        assert_eq!(lease.check(4), Err(Fenced { current: 5 }));
        assert_eq!(lease.check(5), Ok(()));
        assert_eq!((lease.generation(), lease.remaining()), (5, Some(9 * SECOND)));
    }
}
