//! What a process does to itself before it serves: hide its memory, survive the signals meant for others, get room for
//! descriptors, and let go of what it inherited.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, Signal, getrlimit, set_dumpable_behavior, set_parent_process_death_signal, setrlimit,
};
use rustix::time::{ClockId, clock_gettime};

/// Other processes of the same user can no longer read our memory, descriptors or environment, nor trace us; we leave no core.
///
/// Running a program undoes it. See `PR_SET_DUMPABLE`(2const).
pub fn hide_from_peers() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Sends us this signal (1 to 31) when the *thread* that started us ends. See `PR_SET_PDEATHSIG`(2const).
///
/// A parent that has ended before the call is not noticed: compare the parent's pid afterwards.
pub fn set_parent_death_signal(signal: i32) -> io::Result<()> {
    let signal = Signal::from_named_raw(signal).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    Ok(set_parent_process_death_signal(Some(signal))?)
}

/// Processor time that the calling thread has used. Unlike a clock it does not count the time in which others had the processor.
pub fn thread_processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // Neither is ever negative: see clock_gettime(2).
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Ignores a signal in this process. Programs that [`crate::spawn::spawn`] starts don't inherit it.
///
/// # Errors
///
/// `EINVAL` for KILL, STOP and numbers that are no signal.
pub fn ignore_signal(signal: i32) -> io::Result<()> {
    set_disposition(signal, libc::SIG_IGN)
}

/// Gives a signal its default disposition back.
///
/// # Errors
///
/// As for [`ignore_signal`].
pub fn reset_signal(signal: i32) -> io::Result<()> {
    set_disposition(signal, libc::SIG_DFL)
}

fn set_disposition(signal: i32, disposition: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: the disposition is one of the two that name no function, so no code of ours can be run by it.
    let result = unsafe { libc::signal(signal, disposition) };
    if result == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Raises the soft limit on open descriptors to the hard one, and says what it is now (`u64::MAX`: unlimited).
pub fn raise_open_files() -> io::Result<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    }
    Ok(limit.maximum.unwrap_or(u64::MAX))
}

/// Sets our own out-of-memory score, −1000 to 1000. Lowering it below where it was needs `CAP_SYS_RESOURCE`.
pub fn set_oom_score(score: i32) -> io::Result<()> {
    std::fs::write("/proc/self/oom_score_adj", score.to_string())
}

/// Marks every descriptor above 2 close-on-exec, except those in `kept`.
///
/// Nothing is closed, because somewhere in the process the number may be in use; but no program started from here can
/// get what a careless parent left open in us.
pub fn mark_inherited_close_on_exec(kept: &[RawFd]) -> io::Result<()> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let Some(fd) = entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()) else { continue };
        if fd > 2 && !kept.contains(&fd) {
            // SAFETY: sets a flag on a number; one that is closed meanwhile fails harmlessly.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Takes a descriptor that was inherited at a known number, and makes it close-on-exec.
///
/// # Errors
///
/// `EBADF` if nothing is open there. `EINVAL` for 0, 1 and 2, which belong to `std`, and for one that is close-on-exec: it was
/// opened here or taken already, since `execve` would have closed it.
pub fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: reads a flag of a number; one that is not open fails harmlessly.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    if fd <= 2 || flags & libc::FD_CLOEXEC != 0 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: the descriptor is open, and inherited: `std`, `rustix` and this crate open all of theirs close-on-exec. So nobody
    // in this process owns it yet; the flag that is set next keeps it from being taken twice.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    rustix::io::fcntl_setfd(&owned, rustix::io::FdFlags::CLOEXEC)?;
    Ok(owned)
}
