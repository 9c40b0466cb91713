//! What survives when something is killed, full, stopped or crowded. Random points come from a seed that is printed; `CRANNOG_SEED`
//! repeats a run.

#![allow(clippy::unwrap_used, reason = "tests")]

mod client_killed;
mod clock;
mod creator_killed;
mod crowd;
mod full_disk;
mod guest_killed;
mod support;
