//! Membership and parsing, on made-up tables and texts.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::{Identity, Process, ProcessTable, members_where, parse_stat};

const OWN_SESSION: u32 = 5;

fn process(pid: u32, parent: u32, group: u32, session: u32) -> Process {
    Process { pid, state: b'S', parent, group, session, terminal: 0, threads: 1, start_time: u64::from(pid) * 10 }
}

fn identity(pid: u32) -> Identity {
    Identity { pid, start_time: u64::from(pid) * 10 }
}

fn pids(table: &ProcessTable, root: u32, sessions: &[u32], tags: &[u32]) -> Vec<u32> {
    let found = members_where(table, identity(root), sessions, &[1, 5], OWN_SESSION, |pid| tags.contains(&pid));
    found.into_iter().map(|identity| identity.pid).collect()
}

/// init 1, us 5, a tree from 100, a stranger 200 in our session.
fn machine() -> ProcessTable {
    [
        process(1, 0, 1, 1),
        process(5, 1, 5, 5),
        process(200, 5, 200, 5),
        process(100, 5, 100, 100),
        process(101, 100, 101, 100),
        process(102, 101, 102, 102),
        // An orphan that stayed in the session, one that left it, and one with the tag only, with its child.
        process(103, 5, 103, 100),
        process(104, 1, 102, 102),
        process(105, 5, 105, 105),
        process(106, 105, 106, 106),
    ]
    .into_iter()
    .collect()
}

#[test]
fn parentage_session_group_and_tag_make_a_member() {
    assert_eq!(pids(&machine(), 100, &[], &[]), [100, 101, 102, 103, 104]);
    assert_eq!(pids(&machine(), 100, &[], &[105]), [100, 101, 102, 103, 104, 105, 106]);
    assert_eq!(pids(&machine(), 100, &[105], &[]), [100, 101, 102, 103, 104, 105, 106]);
}

#[test]
fn what_an_ended_root_left_is_found_by_its_session() {
    let table: ProcessTable = machine().iter().copied().filter(|process| process.pid != 100 && process.pid != 101).collect();
    assert_eq!(pids(&table, 100, &[], &[]), [103]);
    assert_eq!(pids(&table, 100, &[102], &[]), [102, 103, 104]);
}

#[test]
fn a_new_owner_of_the_number_is_a_stranger() {
    let mut reused = process(100, 1, 100, 100);
    reused.start_time += 1;
    let table: ProcessTable = [reused, process(107, 100, 100, 100)].into_iter().collect();
    assert!(pids(&table, 100, &[], &[]).is_empty());
}

#[test]
fn zombies_are_no_members_but_ended_leaders_with_threads_are() {
    let mut zombie = process(101, 100, 100, 100);
    zombie.state = b'Z';
    let mut leader = zombie;
    leader.pid = 102;
    leader.threads = 3;
    let table: ProcessTable = [process(100, 5, 100, 100), zombie, leader].into_iter().collect();
    assert_eq!(pids(&table, 100, &[], &[]), [100, 102]);
}

#[test]
fn stat_survives_any_name() {
    let text = b"1234 (a) R (b) S 7) T 12 34 56 34816 99 4194560 1 2 3 4 5 6 7 8 20 0 3 0 987654 1000 2 18446744073709551615";
    let expected = Process {
        pid: 1234,
        state: b'T',
        parent: 12,
        group: 34,
        session: 56,
        terminal: rustix::fs::makedev(136, 0),
        threads: 3,
        start_time: 987_654,
    };
    assert_eq!(parse_stat(text), Some(expected));
    assert_eq!(parse_stat(b""), None);
    assert_eq!(parse_stat(b"12 (x) S 1"), None);
}

fn any_table() -> impl Strategy<Value = Vec<Process>> {
    let link = (0..30_u32, 0..30_u32, 0..30_u32, any::<bool>());
    prop::collection::vec(link, 30).prop_map(|links| {
        let build = |(pid, (parent, group, session, zombie)): (u32, (u32, u32, u32, bool))| Process {
            state: if zombie { b'Z' } else { b'R' },
            ..process(pid, parent, group, session)
        };
        (0..).zip(links).map(build).collect()
    })
}

proptest! {
    #[test]
    fn members_are_closed_and_never_include_strangers(processes in any_table(), root in 6..30_u32) {
        let table: ProcessTable = processes.iter().copied().collect();
        let found = pids(&table, root, &[], &[]);
        for process in &processes {
            let stranger = [1, 5].contains(&process.pid);
            if found.contains(&process.pid) {
                prop_assert!(process.is_alive() && !stranger);
            } else if process.is_alive() && !stranger {
                prop_assert!(process.pid != root && !found.contains(&process.parent));
            }
        }
    }

    #[test]
    fn nothing_in_stat_panics(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse_stat(&text);
    }
}
