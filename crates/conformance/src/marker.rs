//! Marks that tell the processes of one case from all others of the machine.

use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A duration of about an hour for `sleep`, that no other test of this machine uses at this time: the fraction holds this process's number
/// and a count.
pub fn sleep_seconds() -> String {
    let count = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("36{:02}.{:07}{count:04}", count % 100, std::process::id())
}

/// A word that no other test of this machine uses at this time.
pub fn word() -> String {
    let count = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("mark-{}-{count}", std::process::id())
}
