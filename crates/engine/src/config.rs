//! What an engine is told once, when it is made.

use std::path::PathBuf;

use crannog_core::limits;

/// The sandbox an engine works for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineConfig {
    /// The sandbox's id. It goes into the environment of every command and into the names of cgroups.
    pub sandbox: String,
    /// Where commands run unless they say otherwise, and their `HOME`.
    pub workspace: PathBuf,
    /// Environment of every command, on top of the clean default and below the command's own. A later entry wins.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// Directory for the parts of transcripts that leave memory. `None`: they are dropped.
    pub spill: Option<PathBuf>,
    /// Bytes that each transcript may keep there.
    pub spill_bytes: u64,
    /// Processes that may live at once, 1 to [`limits::PROCESSES_LIVE_MAX`].
    pub processes_live_max: u32,
    /// Track process trees with cgroups where the kernel lets us. Otherwise, and without, by lineage.
    pub cgroups: bool,
    /// Start of the sequence that process ids are drawn from: random bits, so that ids of another run of the sandbox do not fit here.
    pub seed: u64,
}

impl EngineConfig {
    /// An engine for `sandbox` with the defaults of [`limits`], no spill and an empty extra environment.
    pub fn new(sandbox: impl Into<String>, workspace: impl Into<PathBuf>, seed: u64) -> Self {
        Self {
            sandbox: sandbox.into(),
            workspace: workspace.into(),
            environment: Vec::new(),
            spill: None,
            spill_bytes: limits::TRANSCRIPT_SPILL_BYTES_DEFAULT,
            processes_live_max: limits::PROCESSES_LIVE_DEFAULT,
            cgroups: true,
            seed,
        }
    }
}

/// How the engine finds the members of a process tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tracking {
    /// A cgroup of its own holds each tree; this is the one that holds them all.
    Cgroup(PathBuf),
    /// By descent, session and a tag in the environment.
    Lineage,
}
