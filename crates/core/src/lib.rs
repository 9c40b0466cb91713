//! The vocabulary and the rules of crannog, and nothing else.
//!
//! Everything here is pure: no I/O, no clock, no async runtime. Time, randomness and ids come in as arguments, so every rule can be
//! tested with literal inputs. The other crates do the work; they ask this one what is right.

#![forbid(unsafe_code)]

pub mod collect;
pub mod compat;
pub mod end;
pub mod error;
pub mod escape;
pub mod eviction;
pub mod id;
pub mod ids;
pub mod keys;
pub mod limits;
pub mod lines;
pub mod log;
pub mod process;
pub mod screen;
pub mod signal;
pub mod transcript;
pub mod truncation;
pub mod utf8;
pub mod view;
pub mod window;
