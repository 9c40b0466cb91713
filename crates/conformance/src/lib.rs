//! One behaviour suite, run on real processes against whatever backend is given to it.
//!
//! A case is an async function over a [`room::Room`]: a fresh sandbox of a [`place::Place`]. [`suite`] lists every case once and turns
//! the list into tests; [`runner`] gives each case its sandbox, a deadline, and the check that nothing is left behind.
//! `docs/testing.md` maps the ids of known failures to cases.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "this crate is tests: a panic is how a case says no")]
#![allow(clippy::format_collect, reason = "expected texts are short, and read best as they are built")]

pub mod cases;
pub mod flags;
pub mod local;
pub mod marker;
pub mod outside;
pub mod place;
pub mod processes;
pub mod room;
pub mod run;
pub mod runner;
pub mod suite;
pub mod whole;
