//! What only holds for the process as a whole: signal dispositions, leaks over many starts, and the reaper. One test
//! each, in turn, because they would disturb one another.

#![allow(clippy::unwrap_used, unsafe_code)]

mod support;

use std::fs;

use crannog_sys::reaper::{WaitStatus, become_subreaper, wait_any_nohang, wait_for};
use crannog_sys::spawn::spawn;
use support::{command, eventually, piped, run};

#[test]
fn the_process_stays_clean() {
    signals_are_reset();
    a_thousand_starts_leak_nothing();
    the_reaper_meets_children_and_orphans();
}

fn signals_are_reset() {
    // SAFETY: changes how this process treats two signals that nobody sends in this test.
    unsafe {
        let mut blocked = std::mem::zeroed();
        libc::sigemptyset(&raw mut blocked);
        libc::sigaddset(&raw mut blocked, libc::SIGTERM);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const blocked, std::ptr::null_mut());
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
    }
    let ours = fs::read_to_string("/proc/thread-self/status").unwrap();
    for set in ["SigBlk", "SigIgn"] {
        assert!(!ours.contains(&format!("{set}:\t0000000000000000")), "the test must start dirty: {ours}");
    }
    let (text, _) = run(piped(&["cat", "/proc/self/status"]));
    for set in ["SigBlk", "SigIgn", "SigCgt"] {
        assert!(text.contains(&format!("{set}:\t0000000000000000\n")), "{text}");
    }
    let after = fs::read_to_string("/proc/thread-self/status").unwrap();
    let of = |status: &str, name: &str| status.lines().find(|line| line.starts_with(name)).map(str::to_owned);
    assert_eq!(of(&ours, "SigBlk"), of(&after, "SigBlk"), "our own mask is restored");
}

fn a_thousand_starts_leak_nothing() {
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let maps = || fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    let good = command(&["true"]);
    let bad = command(&["no-such-program"]);
    let mut detached = command(&["true"]);
    detached.detached = true;
    let start = |number: usize| match number % 4 {
        0 => assert!(spawn(&bad).is_err()),
        1 => drop(spawn(&detached).unwrap()),
        _ => assert_eq!(wait_for(spawn(&good).unwrap().pid).unwrap().0, WaitStatus::Exited(0)),
    };
    (0..8).for_each(start);
    let before = (descriptors(), maps());
    (0..1000).for_each(start);
    assert_eq!((descriptors(), maps()), before);
    let error = wait_for_any_child().unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ECHILD), "no child of any kind is left");
}

fn wait_for_any_child() -> std::io::Result<i32> {
    // SAFETY: null asks for no status and no usage.
    let result = unsafe { libc::wait4(-1, std::ptr::null_mut(), libc::WNOHANG | libc::__WALL, std::ptr::null_mut()) };
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(result) }
}

fn the_reaper_meets_children_and_orphans() {
    become_subreaper().unwrap();
    assert_eq!(wait_any_nohang().unwrap(), None);
    // The shell ends at once and leaves a grandchild, which becomes ours.
    let child = spawn(&command(&["sh", "-c", "(sh -c 'exit 5') & exit 3"])).unwrap();
    let mut ended = Vec::new();
    eventually("both are reaped", || {
        while let Some((pid, status, usage)) = wait_any_nohang().unwrap() {
            assert!(usage.max_rss_kib > 0);
            ended.push((pid == child.pid, status));
        }
        (ended.len() == 2).then_some(())
    });
    ended.sort_by_key(|(ours, _)| !ours);
    assert_eq!(ended, [(true, WaitStatus::Exited(3)), (false, WaitStatus::Exited(5))]);
}
