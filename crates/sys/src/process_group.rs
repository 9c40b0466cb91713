//! Who is in a process group: asked often, so without reading the whole process table.

#![allow(unsafe_code)]

use std::io;

use rustix::fs::{Dir, Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process_group};

/// The pids of a process group, zombies included. Some ten times cheaper than a snapshot.
pub fn members(group: u32) -> io::Result<Vec<u32>> {
    let proc = open("/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut pids = Vec::new();
    for entry in Dir::read_from(&proc)? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().ok().and_then(|name| name.parse().ok()) else { continue };
        if group_of(pid) == Some(group) {
            pids.push(pid);
        }
    }
    Ok(pids)
}

/// Sends a signal (1 to 31) to every member of a group in one step: one that is forked at this moment does not slip through.
///
/// The caller knows that the number is still the group's, because its leader is a child that was not reaped.
///
/// # Errors
///
/// `ESRCH` if the group is empty, `EPERM` if none of it is ours to signal, `EINVAL` for other numbers.
pub fn signal(group: u32, signal: i32) -> io::Result<()> {
    let group = i32::try_from(group).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?;
    let signal = Signal::from_named_raw(signal).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    Ok(kill_process_group(group, signal)?)
}

/// The group of a process; none if it is gone, or is of the kernel. (`rustix` has no room for the 0 of the latter.)
pub fn group_of(pid: u32) -> Option<u32> {
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 0)?;
    // SAFETY: takes a number and returns one; no memory is involved.
    let group = unsafe { libc::getpgid(pid) };
    u32::try_from(group).ok().filter(|group| *group != 0)
}
