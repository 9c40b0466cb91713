//! What a child does between `clone` and `execve`.
//!
//! It runs in our memory while the thread that made it sleeps. So: bare system calls only, no allocation, no lock, no
//! panic, nothing that runs at the end of a scope. The wrappers of the C library for changing ids are avoided too: they
//! signal every thread of what they take for their own process.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_long, c_ulong};
use std::os::fd::AsRawFd;
use std::ptr::null;
use std::sync::atomic::Ordering;

use super::plan::{Plan, Report};
use super::{Credentials, SpawnStep};

/// Size of the kernel's signal set, which is not that of the C library.
const KERNEL_SIGSET_BYTES: usize = 8;

/// The kernel's highest signal number.
const SIGNAL_MAX: c_int = 64;

/// How far the slow way of closing goes where `close_range` is missing; no limit on descriptors is set higher here.
const CLOSE_ONE_BY_ONE_MAX: c_int = 65_536;

const TIOCSCTTY_DO_NOT_STEAL: c_int = 0;

struct Failure {
    step: SpawnStep,
    errno: c_int,
}

/// Does all steps and runs the program. Returns only if one failed, after reporting it.
///
/// # Safety
///
/// To be called only in a child that shares our memory, on its own stack, with all signals blocked, while the thread
/// that made it is suspended.
pub(super) unsafe fn run(plan: &Plan<'_>) {
    // SAFETY: the caller's promise is the callee's.
    let Err(failure) = unsafe { steps(plan) };
    report(&plan.report, failure.step, failure.errno);
}

pub(super) fn report(report: &Report, step: SpawnStep, errno: c_int) {
    report.errno.store(errno, Ordering::Relaxed);
    report.step.store(step as c_int, Ordering::Relaxed);
}

/// The number of the last failed call of this thread (the child uses the sleeping parent's).
pub(super) fn errno() -> c_int {
    // SAFETY: the C library's pointer to this thread's errno is always valid.
    unsafe { *libc::__errno_location() }
}

enum Never {}

/// See [`run`] for what the caller promises. All pointers handed to the kernel lead into the plan or its command, which
/// outlive the child's use of them; what is not said to be changed is only read by the kernel.
unsafe fn steps(plan: &Plan<'_>) -> Result<Never, Failure> {
    let command = plan.command;
    // SAFETY: as said above, for every call of this function.
    unsafe {
        reset_signals();
        if let (Some(cgroup), true) = (&command.cgroup, plan.enters_cgroup.get()) {
            write_file(SpawnStep::Cgroup, cgroup.as_raw_fd(), c"cgroup.procs", b"0")?;
        }
        if command.new_session {
            check(SpawnStep::Session, libc::syscall(libc::SYS_setsid))?;
        }
        place_descriptors(plan)?;
        if command.controlling_terminal {
            let result = libc::syscall(libc::SYS_ioctl, 0, libc::TIOCSCTTY, TIOCSCTTY_DO_NOT_STEAL);
            check(SpawnStep::ControllingTerminal, result)?;
        }
        if let Some(score) = &plan.oom_score_adj {
            write_file(SpawnStep::OomScore, libc::AT_FDCWD, c"/proc/self/oom_score_adj", score.as_bytes())?;
        }
        for limit in &plan.limits {
            let none = null::<libc::rlimit64>();
            let result = libc::syscall(libc::SYS_prlimit64, 0, limit.resource, &raw const limit.value, none);
            check(SpawnStep::Limit, result)?;
        }
        libc::syscall(libc::SYS_umask, command.umask);
        if let Some(directory) = &command.directory {
            check(SpawnStep::Directory, libc::syscall(libc::SYS_fchdir, directory.as_raw_fd()))?;
        }
        if let Some(user) = &command.user {
            become_user(user)?;
        }
        enter_path(plan)?;
        if command.no_new_privs {
            check(SpawnStep::NoNewPrivileges, prctl(libc::PR_SET_NO_NEW_PRIVS, 1))?;
        }
        if let Some(signal) = command.parent_death_signal {
            check(SpawnStep::ParentDeath, prctl(libc::PR_SET_PDEATHSIG, c_ulong::from(signal.unsigned_abs())))?;
            // A parent that died before the call would never send it.
            if libc::syscall(libc::SYS_getppid) != c_long::from(plan.parent) {
                return Err(Failure { step: SpawnStep::ParentDeath, errno: libc::ESRCH });
            }
        }
        set_signal_mask(0);
        exec(plan)
    }
}

/// `execve` resets caught signals by itself but keeps ignored ones; all zero bytes are "default" in the kernel's structure on
/// every architecture. The calls fail for KILL and STOP only, which are always default.
unsafe fn reset_signals() {
    let default = [0_u64; 4];
    let mut signal = 1;
    while signal <= SIGNAL_MAX {
        // SAFETY: the kernel reads at most 32 bytes from `default`.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), null::<u64>(), KERNEL_SIGSET_BYTES) };
        signal = signal.wrapping_add(1);
    }
}

/// Sets the mask of blocked signals (bit n−1 is signal n) and returns the old one. Unlike the C library's call this one
/// reaches the signals that the library keeps for itself.
pub(super) fn set_signal_mask(mask: u64) -> u64 {
    let mut old = 0_u64;
    // SAFETY: both pointers are valid for the eight bytes that the kernel's set has.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const mask, &raw mut old, KERNEL_SIGSET_BYTES) };
    old
}

unsafe fn place_descriptors(plan: &Plan<'_>) -> Result<(), Failure> {
    for (source, target) in &plan.placements {
        // SAFETY: the call touches the child's own table of descriptors only.
        check(SpawnStep::Descriptors, unsafe { libc::syscall(libc::SYS_dup3, *source, *target, 0) })?;
    }
    for (first, last) in &plan.closed {
        // SAFETY: as above; the flag closes them at `execve`, not now.
        let result = unsafe { libc::syscall(libc::SYS_close_range, *first, *last, libc::CLOSE_RANGE_CLOEXEC) };
        if result != 0 {
            close_one_by_one(*first, *last);
        }
    }
    Ok(())
}

/// For kernels before 5.11 and filters that don't know `close_range`.
fn close_one_by_one(first: u32, last: u32) {
    let mut fd = c_int::try_from(first).unwrap_or(c_int::MAX);
    while fd < CLOSE_ONE_BY_ONE_MAX && fd.unsigned_abs() <= last {
        // SAFETY: sets a flag in the child's own table of descriptors; a number that is not open fails harmlessly.
        unsafe { libc::syscall(libc::SYS_fcntl, fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        fd = fd.wrapping_add(1);
    }
}

unsafe fn write_file(step: SpawnStep, directory: c_int, path: &CStr, bytes: &[u8]) -> Result<(), Failure> {
    // SAFETY: the path is a C string, and `bytes` is read for its own length.
    unsafe {
        let fd = libc::syscall(libc::SYS_openat, directory, path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC, 0);
        check(step, fd)?;
        check(step, libc::syscall(libc::SYS_write, fd, bytes.as_ptr(), bytes.len()))?;
        libc::syscall(libc::SYS_close, fd);
    }
    Ok(())
}

unsafe fn become_user(user: &Credentials) -> Result<(), Failure> {
    // SAFETY: the groups are read for their own length; the other calls take numbers. The bare calls change the child alone.
    unsafe {
        check(SpawnStep::Groups, libc::syscall(libc::SYS_setgroups, user.groups.len(), user.groups.as_ptr()))?;
        check(SpawnStep::Group, libc::syscall(libc::SYS_setresgid, user.gid, user.gid, user.gid))?;
        check(SpawnStep::User, libc::syscall(libc::SYS_setresuid, user.uid, user.uid, user.uid))
    }
}

unsafe fn enter_path(plan: &Plan<'_>) -> Result<(), Failure> {
    match &plan.command.cwd {
        Some(path) if plan.command.directory.is_none() => {
            // SAFETY: the path is a C string of the command.
            let entered = unsafe { libc::syscall(libc::SYS_chdir, path.as_ptr()) };
            check(SpawnStep::Directory, entered)
        }
        _ => Ok(()),
    }
}

fn prctl(option: c_int, value: c_ulong) -> c_long {
    // SAFETY: the options used here take one number and touch no memory of ours.
    unsafe { libc::syscall(libc::SYS_prctl, option, value, 0_u64, 0_u64, 0_u64) }
}

/// Tries the candidates as execvp(3) does: what is missing is passed over, and a file that may not be executed is
/// remembered, because it says more than "not found".
unsafe fn exec(plan: &Plan<'_>) -> Result<Never, Failure> {
    let with_shell = plan.argv.as_ptr().cast::<*const c_char>();
    let environment = plan.environment.as_ptr();
    let mut forbidden = false;
    let mut errno_last = libc::ENOENT;
    for candidate in &plan.candidates {
        // SAFETY: the argument vector has the shell in slot 0, at least one argument and a null at its end; `Cell` has the layout
        // of what it holds. The environment ends with null. All strings are C strings of the command.
        errno_last = unsafe {
            libc::syscall(libc::SYS_execve, *candidate, with_shell.add(1), environment);
            errno()
        };
        if errno_last == libc::ENOEXEC {
            // SAFETY: as above.
            errno_last = unsafe { exec_by_shell(plan, *candidate) };
        }
        match errno_last {
            libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT => {}
            libc::EACCES => forbidden = true,
            _ => break,
        }
    }
    let passed_over = matches!(errno_last, libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT);
    Err(Failure { step: SpawnStep::Exec, errno: if forbidden && passed_over { libc::EACCES } else { errno_last } })
}

unsafe fn exec_by_shell(plan: &Plan<'_>, script: *const c_char) -> c_int {
    if let [shell, name, ..] = plan.argv.as_slice() {
        name.set(script);
        // SAFETY: see `exec`; slot 1 now holds the path of the script.
        unsafe { libc::syscall(libc::SYS_execve, shell.get(), plan.argv.as_ptr(), plan.environment.as_ptr()) };
    }
    errno()
}

fn check(step: SpawnStep, result: c_long) -> Result<(), Failure> {
    if result < 0 { Err(Failure { step, errno: errno() }) } else { Ok(()) }
}
