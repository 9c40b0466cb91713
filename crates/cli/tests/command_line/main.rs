//! The real program, run as people and agents run it, with a real guest behind it.
//!
//! Every test has a home of its own and may run beside all others.

#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod attaching;
mod help;
mod one_shot;
mod processes;
mod sandboxes;
mod screens;
mod support;
