//! The creator is killed at any point of making, using and destroying sandboxes. Whatever is found afterwards can be destroyed, and then
//! nothing is left.

use std::path::Path;
use std::time::Duration;

use crannog::{Host, Sandbox};
use crannog_conformance::processes::{self, Seen};

use crate::support::{Random, block_on, place};

const ROUNDS: u32 = 40;

/// Running processes that belong to this host: those that have to do with its directory, and those of its sandboxes.
fn belonging(root: &Path, sandboxes: &[String]) -> Vec<Seen> {
    let mut found = processes::touching(root);
    found.extend(sandboxes.iter().flat_map(|id| processes::of_sandbox(id)));
    found
}

#[test]
fn a_killed_creator_leaves_nothing_that_cannot_be_destroyed() {
    block_on(async {
        let mut random = Random::seeded();
        let root = tempfile::Builder::new().prefix("crannog-churn-").tempdir().unwrap();
        let mut seen_states = std::collections::BTreeSet::new();
        for round in 0..ROUNDS {
            let mut command = std::process::Command::new(place().client());
            command.arg("churn").env("CRANNOG_HOME", root.path()).stdout(std::process::Stdio::piped());
            let mut client = command.spawn().unwrap();
            tokio::time::sleep(random.pause(300)).await;
            client.kill().unwrap();
            let output = client.wait_with_output().unwrap();
            let ids: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();

            let host = Host::at(root.path()).unwrap();
            let listed = Sandbox::list(&host).await.unwrap();
            assert!(listed.len() <= 1, "round {round}: {listed:?}");
            for info in listed {
                seen_states.insert(info.state.as_str());
                host.destroy(info.id.as_str()).await.unwrap_or_else(|error| panic!("round {round}, {info:?}: {error:?}"));
            }
            let gone = processes::eventually(Duration::from_secs(3), || belonging(root.path(), &ids).is_empty()).await;
            assert!(gone, "round {round}: {:?}", belonging(root.path(), &ids));
            assert!(Sandbox::list(&host).await.unwrap().is_empty());
            assert_eq!(sandbox_directories(root.path()), Vec::<String>::new(), "round {round}");
        }
        assert!(!seen_states.is_empty(), "no round left a sandbox behind; the pauses do not fit");
    });
}

/// Names below `root` that are ids of sandboxes.
fn sandbox_directories(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains("sbx_") {
                found.push(name);
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                directories.push(entry.path());
            }
        }
    }
    found
}
