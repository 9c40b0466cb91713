//! What is installed: directories, the guest program, and a sandbox that is really made.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crannog::{Command, Host, Sandbox, SandboxOptions};
use rustix::fs::{Access, access};
use tokio::time::timeout;

use super::Check;
use crate::failure::Failure;
use crate::output::words;

/// The strongest isolation that there is so far.
pub(super) const LEVEL: &str = "none";
/// The trial sandbox goes by itself after this long, if we are killed meanwhile.
const TRIAL_LEASE: Duration = Duration::from_mins(1);
/// Longest wait for the trial.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(20);

/// All of them.
pub(super) async fn checks() -> Vec<Check> {
    let isolation = Check::warn(
        "isolation",
        "none: commands run as you do and see this host",
        "run only commands that you would run yourself, or put crannog into a container or a virtual machine",
    );
    let host = match Host::from_environment() {
        Ok(host) => host,
        Err(error) => {
            let failure = Failure::from(error);
            return vec![Check::fail("directories", failure.message(), "set CRANNOG_HOME to a directory of your own"), isolation];
        }
    };
    let mut checks = vec![directory("state", &host.state_directory()), directory("runtime", &host.runtime_directory())];
    let guest = guest(&host).await;
    let usable = guest.status != super::Status::Fail;
    checks.push(guest);
    if usable {
        checks.push(trial(&host).await);
    }
    checks.push(isolation);
    checks
}

/// Whether a directory can be used or made.
fn directory(name: &'static str, path: &Path) -> Check {
    let existing = existing_part(path);
    match access(&existing, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Check::ok(name, path.display().to_string()),
        Err(error) => {
            Check::fail(name, format!("{}: {error}", existing.display()), "set CRANNOG_HOME to a directory that you may write to")
        }
    }
}

fn existing_part(path: &Path) -> PathBuf {
    path.ancestors().find(|ancestor| ancestor.exists()).unwrap_or_else(|| Path::new("/")).to_owned()
}

async fn guest(host: &Host) -> Check {
    match host.guest_program().await {
        Ok(path) => Check::ok("guest", path.display().to_string()),
        Err(error) => {
            Check::fail("guest", Failure::from(error).message(), "set CRANNOG_GUEST to the crannog-guest program, or install crannog again")
        }
    }
}

/// Makes a sandbox, runs a command in it, and removes it: what no other check can promise.
async fn trial(host: &Host) -> Check {
    let began = Instant::now();
    let answer = timeout(TRIAL_TIMEOUT, try_sandbox(host)).await;
    match answer {
        Ok(Ok(version)) => Check::ok("sandbox", format!("made with guest {version}, used and removed in {}", words::time(began.elapsed()))),
        Ok(Err(failure)) => Check::fail("sandbox", failure.message(), "CRANNOG_LOG=debug shows more"),
        Err(_) => Check::fail("sandbox", "no answer in time", "CRANNOG_LOG=debug shows more"),
    }
}

/// Answers with the guest's version.
async fn try_sandbox(host: &Host) -> Result<String, Failure> {
    let sandbox = Sandbox::create(host, SandboxOptions::new().lease(TRIAL_LEASE)).await?;
    let ran = sandbox.exec(Command::argv(["true"]).timeout(TRIAL_TIMEOUT)).await;
    let info = sandbox.info().await;
    sandbox.destroy().await?;
    let output = ran?;
    if !output.success() {
        return Err(Failure::Trial { end: words::end(&output.end) });
    }
    Ok(info?.guest_version.unwrap_or_default())
}
