//! Runs one case: a fresh sandbox, a deadline, and at the end the proof that nothing of it is left.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use crate::place::Place;
use crate::room::Room;

/// Longest time a case may take. The slowest wait 30 s on purpose, and a busy machine may triple the work of the others.
const CASE_MAX: Duration = Duration::from_secs(150);

/// A running case.
pub type Running<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// One behaviour.
#[derive(Clone, Copy)]
pub struct Case {
    /// `theme::behaviour`.
    pub name: &'static str,
    /// Starts it.
    pub run: fn(&Room) -> Running<'_>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

/// Runs `case` on `place`, and panics when it does not hold or leaves anything behind.
pub fn run(place: &Arc<dyn Place>, case: &Case) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let room = Room::open(Arc::clone(place), place.options()).await;
        let outcome = tokio::time::timeout(CASE_MAX, AssertUnwindSafe((case.run)(&room)).catch_unwind()).await;
        let left = room.close().await;
        match outcome {
            Ok(Ok(())) => assert!(left.is_empty(), "{} left behind: {left:#?}", case.name),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(elapsed) => panic!("{}, {CASE_MAX:?}: {elapsed}", case.name),
        }
    });
}
