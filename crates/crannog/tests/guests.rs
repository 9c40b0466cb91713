//! What comes of guest programs that are missing, broken, or silent: a typed error, soon, and nothing left.
//!
//! Which guest is started is a matter of the environment, so each case is this executable run again with another one.

#![allow(clippy::unwrap_used)]

mod common;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Place, tagged};
use crannog::{Host, Sandbox, SandboxOptions};

const HOME: &str = "CRANNOG_TEST_GUESTS_HOME";

/// Tries to make a sandbox with the guest that the environment names, and says what came of it.
async fn attempt(home: &str) {
    let host = Host::at(home).unwrap();
    let error = Sandbox::create(&host, SandboxOptions::new()).await.unwrap_err();
    let log = error.context().get("log").cloned().unwrap_or_default();
    std::fs::write(Path::new(home).join("outcome"), format!("{}\n{error}\n{}\n{log}", error.code(), error.hint().unwrap())).unwrap();
}

/// Runs [`attempt`] with a guest of this text, and answers what came of it.
async fn outcome(guest: Option<&str>) -> String {
    let place = Place::new();
    let program = place.home.path().join("guest");
    if let Some(text) = guest {
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut attempt = std::process::Command::new(std::env::current_exe().unwrap());
    attempt.args(["--exact", "broken_guests_are_told_apart_and_leave_nothing"]);
    assert!(attempt.env(HOME, place.home.path()).env("CRANNOG_GUEST", &program).output().unwrap().status.success());
    place.assert_empty().await;
    std::fs::read_to_string(place.home.path().join("outcome")).unwrap()
}

#[tokio::test]
async fn broken_guests_are_told_apart_and_leave_nothing() {
    if let Ok(home) = std::env::var(HOME) {
        return attempt(&home).await;
    }
    let missing = outcome(None).await;
    assert!(missing.starts_with("guest_missing\nthe guest program is missing; looked at CRANNOG_GUEST="), "{missing}");
    let unstartable = outcome(Some("#!/nonexistent/interpreter\n")).await;
    assert!(unstartable.starts_with("sandbox_start_failed\n"), "{unstartable}");
    let began = Instant::now();
    let failing = outcome(Some("#!/bin/sh\necho no can do >&2\nexit 1\n")).await;
    assert!(failing.contains("its last word was: no can do"), "{failing}");
    assert!(began.elapsed() < Duration::from_secs(5));
    let silent = outcome(Some("#!/bin/sh\nexec sleep 1030\n")).await;
    assert!(silent.starts_with("sandbox_start_failed\nthe guest was started and did not answer"), "{silent}");
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(running("sleep\x001030\x00"), Vec::<String>::new());
}

#[tokio::test]
async fn a_guest_named_by_a_relative_path_is_found() {
    if let Ok(home) = std::env::var(HOME) {
        let sandbox = Sandbox::create(&Host::at(home).unwrap(), SandboxOptions::new()).await.unwrap();
        let id = sandbox.id().clone();
        sandbox.destroy().await.unwrap();
        assert_eq!(tagged(&id), Vec::<u32>::new());
        return;
    }
    let place = Place::new();
    let guest = std::path::absolute(std::env::var_os("CRANNOG_GUEST").unwrap()).unwrap();
    let mut attempt = std::process::Command::new(std::env::current_exe().unwrap());
    attempt.args(["--exact", "a_guest_named_by_a_relative_path_is_found"]).current_dir(guest.parent().unwrap());
    attempt.env(HOME, place.home.path()).env("CRANNOG_GUEST", Path::new(".").join(guest.file_name().unwrap()));
    assert!(attempt.output().unwrap().status.success());
    place.assert_empty().await;
}

/// Processes with this command line.
fn running(line: &str) -> Vec<String> {
    let pids = common::entries(Path::new("/proc")).into_iter().filter(|name| name.parse::<u32>().is_ok());
    pids.filter(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|found| found == line.as_bytes())).collect()
}
