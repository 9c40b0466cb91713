//! Runs processes where we are: starts them, reads what they print the moment it comes, keeps it, and answers for it.
//!
//! One [`Engine`] serves one sandbox and lives on one current-thread runtime. A start makes an entry in the table and reader tasks that
//! append to the process's log whether or not anyone asks; a collect only looks at the log. So callers may come and go, and a flood
//! slows the flooding process at most. Which process is whose child is the kernel's word: trees are tracked with cgroups where they can
//! be had, else by descent, session and a tag in the environment.
//!
//! The engine reaps every child of the operating system process it lives in: use one engine in a process, and nothing beside it that
//! waits for children.

#![forbid(unsafe_code)]

mod collecting;
mod config;
mod connection;
mod drain;
mod engine;
mod environment;
mod error;
mod evidence;
mod follow;
mod hold;
mod host;
mod input;
mod kill;
mod launch;
mod process;
mod queries;
mod random;
mod reader;
mod reaper;
mod recording;
mod screen;
mod shutdown;
mod signalling;
mod spill;
mod table;
mod timeout;
mod transcript;
mod tree;

pub use config::{EngineConfig, Tracking};
pub use engine::Engine;
pub use error::EngineError;
pub use follow::Follower;
pub use screen::emulator::{Emulator, EmulatorFault};
