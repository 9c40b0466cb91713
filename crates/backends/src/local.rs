//! This machine: a guest is a process of ours, reached by a Unix socket in its run directory.
//!
//! ```text
//! STATE/store/crannog.db        records (crannog-store)
//! STATE/workspaces/ID/          fresh workspaces
//! STATE/guest/HASH/             guest program, when it travels inside this one
//! RUNTIME/ID/guest.sock         what clients connect to
//! RUNTIME/ID/guest.log          what the guest had to say
//! RUNTIME/ID/spill/             transcripts that left memory
//! ```

mod connection;
mod destroy;
mod guest_binary;
mod launch;
mod paths;
mod removal;
mod stray;
mod sweep;

use std::path::PathBuf;
use std::time::Duration;

use crannog_wire::GuestClient;

use crate::backend::{Backend, Place, Placed, Placement, Probe};
use crate::error::BackendError;

pub use paths::Paths;

/// Its name in records.
pub const NAME: &str = "local";

/// The local backend.
#[derive(Debug, Clone)]
pub struct Local {
    paths: Paths,
}

impl Local {
    /// A backend that keeps its things at these paths. Nothing is made yet.
    pub fn new(paths: Paths) -> Self {
        Self { paths }
    }

    /// The guest program that a new sandbox would run: `CRANNOG_GUEST`, else `crannog-guest` beside this program, else the one that
    /// travels inside it. Blocks for file work.
    pub fn guest_program(&self) -> Result<PathBuf, BackendError> {
        guest_binary::find(&self.paths)
    }

    /// What lies in the run and workspace directories under ids that `is_known` denies, as placements to be destroyed: left by whoever was
    /// killed in the middle of making or removing. `list` must be asked after the directories were read, and it is: `known` is called once,
    /// then. Blocks for file work.
    pub fn strays<E>(&self, known: impl FnOnce() -> Result<Vec<crannog_core::id::SandboxId>, E>) -> Result<Vec<Placement>, E> {
        stray::find(&self.paths, known)
    }
}

impl Backend for Local {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn place(&self, order: Place) -> Result<Placed, BackendError> {
        launch::place(&self.paths, order).await
    }

    async fn reach(&self, placement: &Placement) -> Result<GuestClient, BackendError> {
        connection::reach(placement).await
    }

    async fn probe(&self, placement: &Placement) -> Probe {
        connection::probe(placement).await
    }

    async fn destroy(&self, placement: &Placement, grace: Duration) -> Result<(), BackendError> {
        destroy::destroy(placement, grace).await
    }
}
