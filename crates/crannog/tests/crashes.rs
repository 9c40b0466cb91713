//! A program that makes and destroys sandboxes is killed at any point: what it leaves can be found and removed, all of it.
//!
//! The test runs its own executable again as that program, told by an environment variable.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Place, entries, eventually};
use crannog::{Host, Sandbox, SandboxOptions};

const HOME: &str = "CRANNOG_TEST_CREATOR_HOME";
const ROUNDS: u64 = 25;

async fn create_and_destroy_until_killed(home: &str) -> ! {
    let host = Host::at(home).unwrap();
    loop {
        let sandbox = Sandbox::create(&host, SandboxOptions::new()).await.unwrap();
        sandbox.start(crannog::Command::shell("setsid sleep 1020 & sleep 1020")).await.unwrap();
        sandbox.destroy().await.unwrap();
    }
}

#[tokio::test]
async fn whatever_a_killed_creator_leaves_can_be_removed() {
    if let Ok(home) = std::env::var(HOME) {
        create_and_destroy_until_killed(&home).await;
    }
    let place = Place::new();
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let mut state = seed;
    for _ in 0..ROUNDS {
        let mut creator = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "whatever_a_killed_creator_leaves_can_be_removed"])
            .env(HOME, place.home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        tokio::time::sleep(Duration::from_micros(20_000 + (state >> 33) % 60_000)).await;
        creator.kill().unwrap();
        creator.wait().unwrap();
    }
    let left = Sandbox::list(&place.host).await.unwrap();
    println!("{} sandboxes left: {:?}", left.len(), left.iter().map(|info| info.state).collect::<Vec<_>>());
    for info in &left {
        place.host.destroy(info.id.as_str()).await.unwrap();
    }
    let reaped = place.host.reap().await.unwrap();
    assert!(reaped.failed.is_empty(), "{:?}", reaped.failed);
    place.assert_empty().await;
    // A guest whose creator was killed before it was on record ends by itself, long before its lease would.
    eventually("no guest is left", async || guests_of(place.home.path().to_str().unwrap()).is_empty()).await;
}

/// Guests whose log lies below a directory, removed or not.
fn guests_of(home: &str) -> Vec<String> {
    let pids = entries(std::path::Path::new("/proc")).into_iter().filter(|name| name.parse::<u32>().is_ok());
    pids.filter(|pid| {
        let log = std::fs::read_link(format!("/proc/{pid}/fd/2"));
        log.is_ok_and(|log| log.to_string_lossy().starts_with(home))
    })
    .collect()
}
