//! A host of its own for each test, and proof that nothing of it is left.

#![allow(clippy::unwrap_used, dead_code)]

use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use crannog::{Host, Sandbox, SandboxId, SandboxOptions};
use tempfile::TempDir;

/// A host in a directory of its own. Every sandbox of it must be destroyed by the test.
pub(crate) struct Place {
    pub(crate) home: TempDir,
    pub(crate) host: Host,
}

impl Place {
    pub(crate) fn new() -> Self {
        assert!(std::env::var_os("CRANNOG_GUEST").is_some(), "set CRANNOG_GUEST to a built crannog-guest: the test starts real sandboxes");
        let home = tempfile::tempdir().unwrap();
        let host = Host::at(home.path()).unwrap();
        Self { home, host }
    }

    pub(crate) async fn sandbox(&self) -> Sandbox {
        Sandbox::create(&self.host, SandboxOptions::new()).await.unwrap()
    }

    /// No record, no directory, no process.
    pub(crate) async fn assert_empty(&self) {
        assert_eq!(Sandbox::list(&self.host).await.unwrap(), []);
        for directory in [self.host.runtime_directory(), self.host.state_directory().join("workspaces")] {
            assert_eq!(entries(&directory), Vec::<String>::new(), "{}", directory.display());
        }
    }
}

/// Runs a test on a sandbox of its own and proves that destroying it leaves nothing.
pub(crate) async fn with_sandbox<Test: Future<Output = ()>>(test: impl FnOnce(Sandbox) -> Test) {
    let place = Place::new();
    let sandbox = place.sandbox().await;
    test(sandbox.clone()).await;
    let id = sandbox.id().clone();
    sandbox.destroy().await.unwrap();
    place.assert_empty().await;
    assert_eq!(tagged(&id), Vec::<u32>::new(), "processes of {id} are left");
}

/// The names in a directory.
pub(crate) fn entries(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Running processes that were started with a sandbox's tag.
pub(crate) fn tagged(id: &SandboxId) -> Vec<u32> {
    let tag = format!("CRANNOG_SANDBOX={id}");
    let pids = entries(Path::new("/proc")).into_iter().filter_map(|name| name.parse::<u32>().ok());
    pids.filter(|pid| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == tag.as_bytes())
    })
    .collect()
}

/// Waits for a condition that must come true.
pub(crate) async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(15);
    while !condition().await {
        assert!(Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Sends a signal to one process.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    assert!(sent.success(), "kill -{name} {pid}");
}

/// `line1` to `line{count}`, each with a line feed.
pub(crate) fn lines(count: u32) -> String {
    let lines: Vec<String> = (1..=count).map(|number| format!("line{number}\n")).collect();
    lines.concat()
}
