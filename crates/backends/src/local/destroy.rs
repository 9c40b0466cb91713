//! Ending a sandbox, whatever state it is in.

use std::path::PathBuf;
use std::time::Duration;

use crannog_core::limits::DESTROY_TIMEOUT;
use tokio::time::timeout;

use crate::backend::Placement;
use crate::error::BackendError;
use crate::identity::GuestProcess;
use crate::local::{connection, removal, sweep};

/// How long a guest that has answered its shutdown may take to be gone.
const EXIT_WAIT: Duration = Duration::from_secs(1);

/// Asks the guest to end everything; what it does not do in time is done from outside. The directories go last, so that a destroy that
/// was cut off finds them again.
pub(super) async fn destroy(placement: &Placement, grace: Duration) -> Result<(), BackendError> {
    let answered = ask(placement, grace).await;
    let placement = placement.clone();
    let work = move || {
        end_processes(&placement, answered)?;
        remove_directories(&placement)
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|source| Err(BackendError::Interrupted { source }))
}

/// True if the guest has ended its processes and is about to end itself.
async fn ask(placement: &Placement, grace: Duration) -> bool {
    if placement.guest.as_ref().is_some_and(GuestProcess::is_stopped) || !connection::listens(placement).await {
        return false;
    }
    let Ok(guest) = connection::client(placement) else { return false };
    let answer = timeout(grace.saturating_add(DESTROY_TIMEOUT), guest.shutdown(placement.lease_generation, grace)).await;
    matches!(answer, Ok(Ok(_)))
}

fn end_processes(placement: &Placement, answered: bool) -> Result<(), BackendError> {
    if let Some(guest) = &placement.guest {
        let left = answered && sweep::guest_ends(guest, EXIT_WAIT);
        if !left && !sweep::end_guest(guest) {
            return Err(BackendError::Remains { sandbox: placement.sandbox.clone(), pids: vec![guest.pid] });
        }
    }
    if let Some(cgroup) = &placement.cgroup {
        sweep::end_cgroup(cgroup);
    }
    sweep::end_tagged(&placement.sandbox)
}

fn remove_directories(placement: &Placement) -> Result<(), BackendError> {
    let owned = placement.workspace_owned.then_some(&placement.workspace);
    for directory in owned.into_iter().chain([&placement.runtime]) {
        let failed = |source| BackendError::Remove { path: PathBuf::from(directory), source };
        removal::remove(directory).map_err(failed)?;
    }
    Ok(())
}
