//! What every backend does.
//!
//! The trait is here and not in `crannog-core` because its operations wait: they hand out a live client of a guest, and core knows neither
//! a runtime nor the wire.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use crannog_core::id::SandboxId;
use crannog_wire::{GuestClient, Hello};

use crate::error::BackendError;
use crate::identity::GuestProcess;

/// Where a sandbox is: everything that is needed to reach, probe or destroy it, by whoever has the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The sandbox.
    pub sandbox: SandboxId,
    /// Its workspace on the host.
    pub workspace: PathBuf,
    /// The workspace is made with the sandbox and goes with it.
    pub workspace_owned: bool,
    /// Its run directory.
    pub runtime: PathBuf,
    /// Its guest, once started.
    pub guest: Option<GuestProcess>,
    /// The cgroup that holds its processes, where there is one.
    pub cgroup: Option<PathBuf>,
    /// The generation of its lease.
    pub lease_generation: u64,
}

/// An order for a new sandbox. Its `placement` has no guest yet.
#[derive(Clone)]
pub struct Place {
    /// Where it is to be.
    pub placement: Placement,
    /// Variables of every command.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// Processes that may live at once.
    pub processes_live_max: u32,
    /// Bytes of each transcript kept on disk.
    pub spill_bytes: u64,
    /// Bits from which process ids are drawn.
    pub seed: u64,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold secrets.
        formatter.debug_struct("Place").field("placement", &self.placement).finish_non_exhaustive()
    }
}

/// A sandbox whose guest has answered. Its lease is not confirmed yet: a guest that nobody confirms ends by itself.
#[derive(Debug)]
pub struct Placed {
    /// Calls to the guest.
    pub guest: GuestClient,
    /// Where it is now.
    pub placement: Placement,
    /// What the guest said.
    pub hello: Hello,
}

/// How a guest stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// It answers.
    Alive(Hello),
    /// It has not answered in time, or it can't be told: it may be stopped, or busy.
    Unresponsive,
    /// It is gone for good. Never said on a guess.
    Gone,
}

/// A way to place sandboxes.
pub trait Backend: Send + Sync {
    /// Its name in records.
    fn name(&self) -> &'static str;

    /// Starts a guest and waits until it answers. What was made is taken back on failure. Not cancel-safe: a dropped future leaves a run
    /// directory behind, and a guest that ends by itself.
    fn place(&self, order: Place) -> impl Future<Output = Result<Placed, BackendError>> + Send;

    /// Connects to a guest and checks that it is the right one. Cancel-safe.
    fn reach(&self, placement: &Placement) -> impl Future<Output = Result<GuestClient, BackendError>> + Send;

    /// Asks how a guest stands; takes at most [`CONNECT_TIMEOUT`](crannog_core::limits::CONNECT_TIMEOUT). Cancel-safe.
    fn probe(&self, placement: &Placement) -> impl Future<Output = Probe> + Send;

    /// Ends every process (TERM, `grace`, KILL), the guest, and removes what was made for the sandbox, whether the guest answers, hangs or
    /// is gone. May be done twice, by several at once, and again after a failure at any point. Not cancel-safe: a dropped future leaves the
    /// rest to the next call.
    fn destroy(&self, placement: &Placement, grace: Duration) -> impl Future<Output = Result<(), BackendError>> + Send;
}
