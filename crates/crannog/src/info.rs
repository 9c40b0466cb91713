//! A sandbox as it is listed.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crannog_core::id::SandboxId;

/// How a sandbox stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SandboxState {
    /// Somebody is making it.
    Creating,
    /// Its guest answers.
    Ready,
    /// Its guest is there but has not answered in time; it may be stopped or the machine may be busy.
    Unresponsive,
    /// Its guest is gone. It can only be destroyed, which ends what it left.
    Lost,
    /// Somebody is destroying it, or was when they were killed; destroying it again finishes the work.
    Destroying,
}

impl SandboxState {
    /// The stable word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Ready => "ready",
            Self::Unresponsive => "unresponsive",
            Self::Lost => "lost",
            Self::Destroying => "destroying",
        }
    }
}

impl std::fmt::Display for SandboxState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// What is known of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxInfo {
    /// Its id.
    pub id: SandboxId,
    /// Its name.
    pub name: Option<String>,
    /// How it stands, asked of the guest just now.
    pub state: SandboxState,
    /// The backend that placed it: `local`.
    pub backend: String,
    /// How strongly it is isolated: `none`, `reduced` or `full`.
    pub level: &'static str,
    /// Its workspace on the host.
    pub workspace: PathBuf,
    /// The workspace goes with the sandbox.
    pub workspace_owned: bool,
    /// When it was made, by the wall clock.
    pub created: SystemTime,
    /// Its lease, when it has one.
    pub lease: Option<Duration>,
    /// What is left of the lease, as the guest counts it. `None` without a lease or when the guest does not answer.
    pub lease_remaining: Option<Duration>,
    /// The lease's generation.
    pub lease_generation: u64,
    /// Processes that run in it. `None` when the guest does not answer.
    pub processes_live: Option<u32>,
    /// How process trees are tracked: `cgroup` or `lineage`. `None` when the guest does not answer.
    pub tracking: Option<&'static str>,
    /// The guest's process on the host.
    pub guest_pid: Option<u32>,
    /// The guest's version. `None` when the guest does not answer.
    pub guest_version: Option<String>,
}
