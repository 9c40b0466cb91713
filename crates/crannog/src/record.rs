//! From a record of the store to what the backend and the caller see.

use std::time::{Duration, UNIX_EPOCH};

use crannog_backends::{GuestProcess, Hello, Placement, Probe, Tracking};
use crannog_store::{Record, State};

use crate::info::{SandboxInfo, SandboxState};

/// Where the backend finds the sandbox.
pub(crate) fn placement_of(record: &Record) -> Placement {
    Placement {
        sandbox: record.id.clone(),
        workspace: record.workspace.clone(),
        workspace_owned: record.workspace_owned,
        runtime: record.runtime.clone(),
        guest: record.guest.as_ref().map(|guest| GuestProcess { pid: guest.pid, start_time: guest.start_time, boot: guest.boot.clone() }),
        cgroup: record.cgroup.clone(),
        lease_generation: record.lease_generation,
    }
}

/// What is told of a sandbox, from its record and from what its guest said.
pub(crate) fn info_of(record: Record, probe: Option<&Probe>) -> SandboxInfo {
    let state = match (record.state, probe) {
        (State::Creating, _) => SandboxState::Creating,
        (State::Destroying, _) => SandboxState::Destroying,
        (State::Lost, _) | (State::Ready, Some(Probe::Gone)) => SandboxState::Lost,
        (State::Ready, Some(Probe::Alive(_))) => SandboxState::Ready,
        (State::Ready, _) => SandboxState::Unresponsive,
    };
    let hello: Option<&Hello> = match probe {
        Some(Probe::Alive(hello)) => Some(hello),
        _ => None,
    };
    SandboxInfo {
        state,
        level: "none",
        created: UNIX_EPOCH + Duration::from_millis(record.created_ms),
        lease: record.lease_ms.map(Duration::from_millis),
        lease_remaining: hello.and_then(|hello| hello.lease_remaining),
        lease_generation: record.lease_generation,
        processes_live: hello.map(|hello| hello.processes_live),
        tracking: hello.map(|hello| match hello.tracking {
            Tracking::Cgroup(_) => "cgroup",
            Tracking::Lineage => "lineage",
        }),
        guest_version: hello.map(|hello| hello.guest_version.clone()),
        guest_pid: record.guest.as_ref().map(|guest| guest.pid),
        id: record.id,
        name: record.name,
        backend: record.backend,
        workspace: record.workspace,
        workspace_owned: record.workspace_owned,
    }
}
