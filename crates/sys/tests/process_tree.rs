//! Trees of real processes that try to get away: by lineage and by cgroup.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader};

use crannog_sys::cgroup::{Cgroup, Cgroups};
use crannog_sys::pidfd::{Identity, PidFd, start_time};
use crannog_sys::process_tree::{has_environment_entry, members, snapshot, tagged};
use crannog_sys::reaper::{WaitStatus, wait_for};
use crannog_sys::spawn::{SpawnStep, Spawned, spawn};
use support::{c, command, end, eventually, piped};

/// A shell with a child, a child in another session, and a daemon that left parent and session; prints their pids.
const ESCAPERS: &str = "sleep 60 & echo $!
setsid sleep 61 & echo $!
(setsid sh -c 'sleep 62 & echo $!')
echo end; wait";

/// Starts the shell and returns it with the pids of those that it started.
fn start_escapers(tag: &str, cgroup: Option<&Cgroup>) -> (Spawned, Vec<u32>) {
    let (mut command, reader) = piped(&["sh", "-c", ESCAPERS]);
    command.new_session = true;
    command.environment = vec![c("PATH=/usr/bin:/bin"), c(tag)];
    command.cgroup = cgroup.map(|cgroup| cgroup.directory().unwrap());
    let child = spawn(&command).unwrap();
    drop(command);
    let lines = BufReader::new(reader).lines().map(Result::unwrap);
    (child, lines.take_while(|line| line != "end").map(|line| line.parse().unwrap()).collect())
}

fn unique(name: &str) -> String {
    format!("crannog-test-{name}-{}", std::process::id())
}

fn pids(identities: &[Identity]) -> Vec<u32> {
    identities.iter().map(|identity| identity.pid).collect()
}

#[test]
fn a_tree_is_found_and_ended_by_lineage() {
    let tag = format!("CRANNOG_TEST={}", unique("lineage"));
    let (child, others) = start_escapers(&tag, None);
    assert_eq!(others.len(), 3);
    let root = Identity::of(child.pid).unwrap();
    let mut expected = others.clone();
    expected.push(child.pid);
    expected.sort_unstable();
    eventually("the tag is there after every exec", || (pids(&tagged(&snapshot().unwrap(), tag.as_bytes())) == expected).then_some(()));
    assert_eq!(pids(&members(&snapshot().unwrap(), root, tag.as_bytes(), &[])), expected);
    assert!(!pids(&members(&snapshot().unwrap(), root, b"", &[])).contains(&others[2]), "only the tag knows the daemon");
    assert!(others.iter().all(|pid| has_environment_entry(*pid, tag.as_bytes())));
    assert!(!has_environment_entry(others[0], &tag.as_bytes()[..tag.len() - 1]), "a part is not the entry");

    eventually("nothing is left", || {
        let found = members(&snapshot().unwrap(), root, tag.as_bytes(), &[]);
        for member in &found {
            member.signal(9).unwrap();
        }
        found.is_empty().then_some(())
    });
    assert_eq!(wait_for(child.pid).unwrap().0, WaitStatus::Signalled { signal: 9, core: false });
    assert!(!root.signal(9).unwrap(), "it is gone");
}

#[test]
fn the_table_shows_what_a_process_is() {
    let mut sleeper = command(&["sleep", "60"]);
    sleeper.new_session = true;
    let child = spawn(&sleeper).unwrap();
    let process = eventually("it sleeps", || snapshot().unwrap().get(child.pid).copied().filter(|process| process.state == b'S'));
    assert_eq!((process.parent, process.group, process.session), (std::process::id(), child.pid, child.pid));
    assert_eq!((process.threads, process.terminal, process.is_alive(), process.is_busy()), (1, 0, true, false));
    assert_eq!(process.start_time, start_time(child.pid).unwrap());
    end(&child);
    assert!(snapshot().unwrap().get(child.pid).is_none());
    assert_eq!(start_time(child.pid).unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn a_pidfd_never_reaches_another_process() {
    let child = spawn(&command(&["sleep", "60"])).unwrap();
    let pidfd = PidFd::open(child.pid).unwrap();
    assert!(pidfd.is_alive().unwrap());
    pidfd.send_signal(0).unwrap();
    assert_eq!(pidfd.send_signal(99).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    let other = Identity { pid: child.pid, start_time: start_time(child.pid).unwrap() + 1 };
    assert!(!other.signal(9).unwrap(), "another start time is another process");
    pidfd.send_signal(15).unwrap();
    assert_eq!(wait_for(child.pid).unwrap().0, WaitStatus::Signalled { signal: 15, core: false });
    assert!(!pidfd.is_alive().unwrap());
    assert_eq!(pidfd.send_signal(9).unwrap_err().raw_os_error(), Some(libc::ESRCH));
}

/// `None`, with a word on it, where the machine gives no group to us.
fn group(name: &str) -> Option<Cgroup> {
    let cgroups = Cgroups::detect();
    if cgroups.is_none() {
        assert!(std::env::var_os("CRANNOG_TEST_CGROUP").is_none(), "this machine was said to have a writable cgroup2");
        eprintln!("no writable cgroup2 here: nothing to test");
    }
    Some(cgroups?.create(&unique(name)).unwrap())
}

#[test]
fn a_cgroup_holds_and_ends_everything() {
    let Some(group) = group("kill") else { return };
    let leaf = group.child("leaf").unwrap();
    assert!(!group.populated().unwrap());
    let (child, others) = start_escapers("CRANNOG_TEST=group", Some(&leaf));
    let inside = group.processes().unwrap();
    assert!(inside.contains(&child.pid) && others.iter().all(|pid| inside.contains(pid)), "{inside:?}");
    assert!(group.populated().unwrap() && leaf.populated().unwrap());
    assert_eq!(group.remove().unwrap_err().kind(), std::io::ErrorKind::ResourceBusy);

    assert_eq!(Cgroup::at(leaf.path()).unwrap(), leaf);
    group.kill().unwrap();
    assert_eq!(wait_for(child.pid).unwrap().0, WaitStatus::Signalled { signal: 9, core: false });
    eventually("the group is empty", || (!group.populated().unwrap()).then_some(()));
    group.remove().unwrap();
    group.remove().unwrap();
    assert_eq!(Cgroup::at(group.path()).unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn a_signal_reaches_every_member_of_a_cgroup() {
    let Some(group) = group("signal") else { return };
    let (child, others) = start_escapers("CRANNOG_TEST=signal", Some(&group));
    assert!(group.signal(15).unwrap() > others.len());
    assert_eq!(wait_for(child.pid).unwrap().0, WaitStatus::Signalled { signal: 15, core: false });
    eventually("the group is empty", || (!group.populated().unwrap()).then_some(()));
    group.remove().unwrap();
}

#[test]
fn a_fork_storm_is_ended() {
    let Some(group) = group("storm") else { return };
    let mut storm = command(&["sh", "-c", "while :; do sleep 60 & sleep 0.001; done"]);
    storm.new_session = true;
    storm.environment = vec![c("PATH=/usr/bin:/bin")];
    storm.cgroup = Some(group.directory().unwrap());
    let child = spawn(&storm).unwrap();
    eventually("it storms", || (group.processes().unwrap().len() > 20).then_some(()));
    group.kill().unwrap();
    wait_for(child.pid).unwrap();
    eventually("the group is empty", || (!group.populated().unwrap()).then_some(()));
    group.remove().unwrap();
}

#[test]
fn a_removed_cgroup_is_named() {
    let Some(group) = group("gone") else { return };
    let mut late = command(&["true"]);
    late.cgroup = Some(group.directory().unwrap());
    group.remove().unwrap();
    assert_eq!(spawn(&late).unwrap_err().step, SpawnStep::Cgroup);
    for name in ["", "a/b", "..", "cgroup.procs"] {
        assert_eq!(Cgroups::detect().unwrap().create(name).unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    }
}
