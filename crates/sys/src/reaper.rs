//! Collecting ended children, with what they used.
//!
//! One place reaps for the whole process: it asks for any child on `SIGCHLD` until there is none left, so that
//! orphans which were handed to us (subreaper) go too, and no status is taken twice.

#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStatus {
    /// It returned this code.
    Exited(u8),
    /// A signal ended it.
    Signalled {
        /// The number of the signal.
        signal: i32,
        /// A core was dumped.
        core: bool,
    },
}

/// What a process and its own reaped children used. See getrusage(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in user mode, microseconds.
    pub user_us: u64,
    /// Time in the kernel, microseconds.
    pub system_us: u64,
    /// The largest resident set of one process, KiB.
    pub max_rss_kib: u64,
}

/// Makes this process adopt the orphans among its descendants, in place of init. See `PR_SET_CHILD_SUBREAPER`(2const).
pub fn become_subreaper() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Takes the status of any one ended child without waiting. `None`: none has ended, or there are no children.
///
/// Children that [`crate::spawn::spawn`] is still preparing are never met here.
pub fn wait_any_nohang() -> io::Result<Option<(u32, WaitStatus, Usage)>> {
    match wait(-1, libc::WNOHANG) {
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => Ok(None),
        done => done,
    }
}

/// Waits for one child and blocks the thread until it ended: for launchers and tests, not for the runtime.
///
/// # Errors
///
/// `ECHILD` when it is not our child or was reaped already.
pub fn wait_for(pid: u32) -> io::Result<(WaitStatus, Usage)> {
    let pid = i32::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::ECHILD))?;
    loop {
        if let Some((_, status, usage)) = wait(pid, 0)? {
            return Ok((status, usage));
        }
    }
}

fn wait(pid: i32, options: i32) -> io::Result<Option<(u32, WaitStatus, Usage)>> {
    loop {
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both pointers are valid for writes of their types for the duration of the call.
        let pid = unsafe { libc::wait4(pid, &raw mut status, options, usage.as_mut_ptr()) };
        if pid < 0 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(error);
        }
        if pid == 0 {
            return Ok(None);
        }
        // SAFETY: all-zero bytes are a valid `rusage`, and the kernel has filled it in.
        let usage = unsafe { usage.assume_init() };
        return Ok(Some((pid.unsigned_abs(), decode(status), read_usage(&usage))));
    }
}

/// Without `WUNTRACED` and `WCONTINUED` the kernel reports ends only.
fn decode(status: i32) -> WaitStatus {
    if libc::WIFSIGNALED(status) {
        WaitStatus::Signalled { signal: libc::WTERMSIG(status), core: libc::WCOREDUMP(status) }
    } else {
        WaitStatus::Exited(u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX))
    }
}

fn read_usage(usage: &libc::rusage) -> Usage {
    Usage { user_us: micros(usage.ru_utime), system_us: micros(usage.ru_stime), max_rss_kib: usage.ru_maxrss.unsigned_abs() }
}

fn micros(time: libc::timeval) -> u64 {
    time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_usec.unsigned_abs()
}
