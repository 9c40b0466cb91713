//! The rules of the surface that clients of openai-agents know, kept apart from the native ones.
//!
//! What a client can see here (order of calls, argument vectors, error fields and words) matches that surface. Nothing native
//! depends on this module.

pub mod collector;
pub mod command;
pub mod error_table;
pub mod settle;
