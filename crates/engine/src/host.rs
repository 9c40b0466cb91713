//! What the engine finds where it runs: its own user, limits, and whether trees can have cgroups.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use crannog_core::id::ProcessId;
use crannog_core::process::ResourceLimits;
use crannog_sys::cgroup::{Cgroup, Cgroups};
use crannog_sys::reaper;
use crannog_sys::spawn::{Credentials, Resource};
use crannog_sys::users::{self, User};

use crate::config::{EngineConfig, Tracking};
use crate::environment::Identity;
use crate::error::EngineError;

/// Open files of a command unless it asks for more, which it may up to the hard limit. More breaks programs that use select(2) and slows
/// those that close every descriptor they might have.
const OPEN_FILES_SOFT: u64 = 1_024;

/// The engine's surroundings.
#[derive(Debug)]
pub(crate) struct Host {
    /// The group that holds the groups of all trees.
    cgroup: Mutex<Option<Cgroup>>,
    null: File,
    user: User,
    identity: Identity,
    hard_limits: HardLimits,
}

/// Limits that a command may raise its own to.
#[derive(Debug, Clone, Copy)]
struct HardLimits {
    open_files: u64,
    core_bytes: u64,
}

/// The user of a command.
#[derive(Debug)]
pub(crate) struct RunAs {
    /// `None`: as ourselves.
    pub(crate) credentials: Option<Credentials>,
    pub(crate) identity: Identity,
}

impl Host {
    pub(crate) fn new(config: &EngineConfig) -> Result<Self, EngineError> {
        let failed = |step: &'static str| move |source| EngineError::Setup { step, source };
        reaper::become_subreaper().map_err(failed("becoming the reaper of orphans"))?;
        let null = File::open("/dev/null").map_err(failed("opening /dev/null"))?;
        let user = users::current().map_err(failed("finding out who we are"))?;
        let home = config.workspace.as_os_str().as_encoded_bytes().to_vec();
        let identity = Identity { name: user.name.as_encoded_bytes().to_vec(), home };
        Ok(Self {
            cgroup: Mutex::new(config.cgroups.then(|| sandbox_cgroup(&config.sandbox)).flatten()),
            null,
            user,
            identity,
            hard_limits: hard_limits().map_err(failed("reading our limits"))?,
        })
    }

    /// How trees are tracked.
    pub(crate) fn tracking(&self) -> Tracking {
        let cgroup = self.cgroup.lock().unwrap_or_else(PoisonError::into_inner);
        cgroup.as_ref().map_or(Tracking::Lineage, |cgroup| Tracking::Cgroup(cgroup.path().to_owned()))
    }

    /// A group for one tree. `None` where trees are tracked otherwise, and when none can be made just now.
    pub(crate) fn make_cgroup(&self, id: ProcessId) -> Option<Cgroup> {
        let cgroup = self.cgroup.lock().unwrap_or_else(PoisonError::into_inner);
        let made = cgroup.as_ref()?.child(&id.to_string());
        made.inspect_err(|error| tracing::warn!(process = id.0, %error, "no cgroup can be made; the process is tracked by lineage")).ok()
    }

    /// Gives the sandbox's group back. What is left in it is killed first.
    pub(crate) fn release(&self) {
        let Some(cgroup) = self.cgroup.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        if let Err(error) = cgroup.kill().and_then(|()| cgroup.remove()) {
            tracing::warn!(%error, path = %cgroup.path().display(), "the sandbox's cgroup could not be removed");
        }
    }

    /// A standard input that is at its end.
    pub(crate) fn no_input(&self) -> io::Result<OwnedFd> {
        Ok(self.null.try_clone()?.into())
    }

    /// Who a command runs as. `None`: as ourselves, at home in the workspace.
    pub(crate) fn run_as(&self, user: Option<&str>) -> Result<RunAs, EngineError> {
        let Some(name) = user else { return Ok(RunAs { credentials: None, identity: self.identity.clone() }) };
        let unavailable = |source| EngineError::UserUnavailable { user: name.to_owned(), source };
        let user = users::find(name).map_err(unavailable)?.ok_or_else(|| unavailable(io::ErrorKind::NotFound.into()))?;
        let identity = Identity { name: user.name.as_encoded_bytes().to_vec(), home: user.home.as_os_str().as_encoded_bytes().to_vec() };
        // Becoming who we are needs no rights, which we may not have.
        let is_other = (user.uid, user.gid) != (self.user.uid, self.user.gid);
        Ok(RunAs { credentials: is_other.then(|| user.credentials()), identity })
    }
}

/// The limits of a command: what it asks for, no core files, and not our own limit of open files.
pub(crate) fn limits_of(asked: &ResourceLimits, host: &Host) -> Vec<(Resource, u64, u64)> {
    let HardLimits { open_files, core_bytes } = host.hard_limits;
    let files = asked.open_files.map_or((OPEN_FILES_SOFT.min(open_files), open_files), |files| (files, files));
    let mut limits = vec![(Resource::Core, 0, core_bytes), (Resource::Nofile, files.0, files.1)];
    let exact = [(Resource::As, asked.memory_bytes), (Resource::Fsize, asked.file_bytes), (Resource::Nproc, asked.processes)];
    limits.extend(exact.into_iter().filter_map(|(resource, value)| value.map(|value| (resource, value, value))));
    // At the soft limit comes XCPU, which can be acted on; a second later KILL.
    limits.extend(asked.cpu_seconds.map(|seconds| (Resource::Cpu, seconds, seconds.saturating_add(1))));
    limits
}

fn sandbox_cgroup(sandbox: &str) -> Option<Cgroup> {
    let cgroups = Cgroups::detect()?;
    let made = cgroups.create(&format!("crannog-{sandbox}"));
    made.inspect_err(|error| tracing::warn!(%error, "the sandbox can't have a cgroup; trees are tracked by lineage")).ok()
}

/// See `proc_pid_limits(5)`: name in fixed columns, then soft and hard limit.
fn hard_limits() -> io::Result<HardLimits> {
    let text = fs::read_to_string("/proc/self/limits")?;
    Ok(HardLimits { open_files: hard_limit(&text, "Max open files"), core_bytes: hard_limit(&text, "Max core file size") })
}

/// A limit that isn't told is none.
fn hard_limit(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|values| values.split_whitespace().nth(1)).and_then(|hard| hard.parse().ok()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::hard_limit;

    #[test]
    fn hard_limits_are_the_second_column() {
        let text = "Limit   Soft Limit  Hard Limit  Units\nMax core file size  0  unlimited  bytes\nMax open files  1024  4096  files\n";
        assert_eq!(hard_limit(text, "Max open files"), 4096);
        assert_eq!(hard_limit(text, "Max core file size"), u64::MAX);
        assert_eq!(hard_limit(text, "Max nothing"), u64::MAX);
    }
}
