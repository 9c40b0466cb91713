//! What is said about a guest and a run, beyond the words of `crannog-core`.

use std::path::PathBuf;
use std::time::Duration;

use crannog_core::process::StartSpec;

/// How a guest knows which processes belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tracking {
    /// By the cgroup at this path of the host: nothing can leave it.
    Cgroup(PathBuf),
    /// By ancestry, session, group and a tag in the environment: a process that sheds all four escapes.
    Lineage,
}

/// Who a guest is and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// Version of the guest program.
    pub guest_version: String,
    /// Id of its sandbox.
    pub sandbox: String,
    /// How it follows process trees.
    pub tracking: Tracking,
    /// Its kernel number in its own process namespace.
    pub pid: u32,
    /// Time since it started.
    pub uptime: Duration,
    /// Processes that are running.
    pub processes_live: u32,
    /// Time until its lease ends. `None`: it lives until it is destroyed.
    pub lease_remaining: Option<Duration>,
    /// Generation of its lease.
    pub lease_generation: u64,
}

/// A process to start and follow to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSpec {
    /// What to start.
    pub spec: StartSpec,
    /// Set: nothing is streamed, and up to this many bytes of each stream come at the end, their middle left out.
    pub gather_bytes_max: Option<u64>,
    /// End the tree when the caller goes away before the process has ended.
    pub end_with_caller: bool,
}
