//! Ending what is left of a sandbox from outside, when its guest can't do it.

use std::path::Path;
use std::time::{Duration, Instant};

use crannog_core::id::SandboxId;
use crannog_core::limits::KILL_SWEEPS_MAX;
use crannog_sys::cgroup::Cgroup;
use crannog_sys::pidfd::Identity;
use crannog_sys::process_tree;

use crate::error::BackendError;
use crate::identity::GuestProcess;

/// Every command of a sandbox is started with this variable; only one that empties its environment sheds it.
const TAG: &str = "CRANNOG_SANDBOX";

/// SIGKILL on Linux (signal(7)).
const KILL: i32 = 9;

/// How long a killed process may take to be gone. One that waits for a device in the kernel may take for ever.
const GONE_WAIT_MAX: Duration = Duration::from_secs(2);

/// Kills of a whole cgroup, each of which reaches also what forks meanwhile, so a second one is for a slow machine.
const GROUP_KILLS_MAX: u32 = 3;

/// Pause between two looks at processes that were just killed.
const LOOK_PAUSE: Duration = Duration::from_millis(2);

/// Kills the guest and waits until it is gone. Blocks.
pub(super) fn end_guest(guest: &GuestProcess) -> bool {
    // Gone between the look and the signal is as good as killed.
    let _ = guest.pin().map(|process| process.send_signal(KILL));
    eventually(|| !guest.is_alive())
}

/// Waits until the guest is gone by itself. Blocks.
pub(super) fn guest_ends(guest: &GuestProcess, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    while guest.is_alive() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(LOOK_PAUSE);
    }
    true
}

/// Kills what is in the sandbox's cgroup and removes it. A group that is gone, or that we may not touch, is left to the sweep by tag. Blocks.
pub(super) fn end_cgroup(path: &Path) {
    let Ok(group) = Cgroup::at(path) else { return };
    for _ in 0..GROUP_KILLS_MAX {
        let _ = group.kill();
        if eventually(|| !group.populated().unwrap_or(false)) {
            break;
        }
    }
    if let Err(error) = group.remove() {
        tracing::warn!(group = %path.display(), %error, "a cgroup could not be removed");
    }
}

/// Kills every process that carries the sandbox's tag, until none does. Blocks.
pub(super) fn end_tagged(sandbox: &SandboxId) -> Result<(), BackendError> {
    let tag = format!("{TAG}={sandbox}");
    let mut left: Vec<Identity> = Vec::new();
    let deadline = Instant::now() + GONE_WAIT_MAX;
    for _ in 0..KILL_SWEEPS_MAX {
        let table = process_tree::snapshot().map_err(|source| BackendError::Processes { source })?;
        left = process_tree::tagged(&table, tag.as_bytes());
        if left.is_empty() {
            return Ok(());
        }
        for process in &left {
            // One that is gone, or that we may not signal, is seen in the next look.
            let _ = process.signal(KILL);
        }
        if Instant::now() >= deadline {
            break;
        }
        std::thread::sleep(LOOK_PAUSE);
    }
    Err(BackendError::Remains { sandbox: sandbox.clone(), pids: left.iter().map(|process| process.pid).collect() })
}

fn eventually(condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + GONE_WAIT_MAX;
    while !condition() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(LOOK_PAUSE);
    }
    true
}
