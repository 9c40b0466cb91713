//! What a process does to itself. One test, in turn: each step changes the process as a whole.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::os::fd::{AsRawFd, IntoRawFd};

use crannog_sys::own_process::{
    hide_from_peers, ignore_signal, inherited, mark_inherited_close_on_exec, raise_open_files, reset_signal, set_oom_score,
    set_parent_death_signal,
};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use support::null;

fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

#[test]
fn the_process_protects_itself() {
    let bit = 1 << (libc::SIGHUP - 1);
    ignore_signal(libc::SIGHUP).unwrap();
    assert_eq!(ignored_signals() & bit, bit);
    reset_signal(libc::SIGHUP).unwrap();
    assert_eq!(ignored_signals() & bit, 0);
    assert!(ignore_signal(libc::SIGKILL).is_err());
    assert!(set_parent_death_signal(99).is_err());
    set_parent_death_signal(libc::SIGTERM).unwrap();
    assert_eq!(rustix::process::parent_process_death_signal().unwrap(), Some(rustix::process::Signal::TERM));

    let limit = raise_open_files().unwrap();
    let now = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    assert_eq!((now.current, now.current.unwrap_or(u64::MAX)), (now.maximum, limit));
    set_oom_score(300).unwrap();
    assert_eq!(fs::read_to_string("/proc/self/oom_score_adj").unwrap(), "300\n");

    descriptors_are_let_go();

    hide_from_peers().unwrap();
    assert_eq!(rustix::process::dumpable_behavior().unwrap(), rustix::process::DumpableBehavior::NotDumpable);
}

fn descriptors_are_let_go() {
    let (leaky, kept) = (null(), null());
    for fd in [&leaky, &kept] {
        fcntl_setfd(fd, FdFlags::empty()).unwrap();
    }
    mark_inherited_close_on_exec(&[kept.as_raw_fd()]).unwrap();
    assert_eq!(fcntl_getfd(&leaky).unwrap(), FdFlags::CLOEXEC);
    assert_eq!(fcntl_getfd(&kept).unwrap(), FdFlags::empty());

    let number = kept.into_raw_fd();
    let taken = inherited(number).unwrap();
    assert_eq!(fcntl_getfd(&taken).unwrap(), FdFlags::CLOEXEC);
    assert_eq!(inherited(number).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    drop(taken);
    assert_eq!(inherited(number).unwrap_err().raw_os_error(), Some(libc::EBADF));
    assert_eq!(inherited(1).unwrap_err().raw_os_error(), Some(libc::EINVAL));
}
