//! Making the child and waiting until it runs its program: the caller's side of a start.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};

use super::child::{self, set_signal_mask};
use super::clone3::clone_into_cgroup;
use super::plan::Plan;
use super::stack::Stack;
use super::{Command, SpawnError, SpawnStep, Spawned};

/// No exit signal: a child that never runs its program sends no `SIGCHLD` and is met by no wait but the one that asks
/// for it (`__WCLONE`), so no reaper can take it from us. `execve` sets it to `SIGCHLD`.
const SHARED_UNTIL_EXEC: c_int = libc::CLONE_VM | libc::CLONE_VFORK;

const NO_PIDFD: c_int = -1;

/// What the child in the middle of a detached start needs.
struct Relay<'plan> {
    plan: &'plan Plan<'plan>,
    stack: &'plan Stack,
    pidfd: &'plan AtomicI32,
}

pub(super) fn launch(command: &Command) -> Result<Spawned, SpawnError> {
    let plan = Plan::new(command)?;
    let prepare = |error| SpawnError::new(SpawnStep::Prepare, error);
    let stack = Stack::take().map_err(prepare)?;
    let relay_stack = command.detached.then(Stack::take).transpose().map_err(prepare)?;
    let dumpable = command.user.is_some().then(dumpable_behavior).and_then(Result::ok);

    let pidfd = AtomicI32::new(NO_PIDFD);
    // A handler of ours must not run in the child: it would work on our memory under another pid.
    let mask = set_signal_mask(u64::MAX);
    let made = match &relay_stack {
        None => clone_program(&plan, &stack, &pidfd),
        Some(relay_stack) => clone_relay(&Relay { plan: &plan, stack: &stack, pidfd: &pidfd }, relay_stack),
    };
    set_signal_mask(mask);

    restore_dumpable(dumpable);
    stack.give_back();
    relay_stack.into_iter().for_each(Stack::give_back);
    outcome(&plan, made, pidfd.into_inner())
}

/// A change of user in the child marks the memory that it shares with us: what was dumpable no longer is, and could become
/// so on a machine with an unusual `fs.suid_dumpable`.
fn restore_dumpable(before: Option<DumpableBehavior>) {
    let Some(before) = before else { return };
    if dumpable_behavior() != Ok(before) {
        // Fails only for a state that can't be set by hand, which then came from the kernel itself.
        let _ = set_dumpable_behavior(before);
    }
}

/// The pid of the program, or nothing if no child was made: the report says why.
type Made = Result<c_int, ()>;

fn clone_program(plan: &Plan<'_>, stack: &Stack, pidfd: &AtomicI32) -> Made {
    let pid = clone_in_place(plan, stack, pidfd).map_err(|(step, errno)| {
        child::report(&plan.report, step, errno);
        // The kernel stores the number early, and takes the descriptor back when a later part of the call fails.
        pidfd.store(NO_PIDFD, Ordering::Relaxed);
    })?;
    if reap_unstarted(pid) && plan.report.step.load(Ordering::Relaxed) == 0 {
        // Killed from outside before it could run the program or say anything.
        child::report(&plan.report, SpawnStep::Exec, libc::EINTR);
    }
    Ok(pid)
}

/// Makes the child in its cgroup if it has one and the kernel can, else where we are.
fn clone_in_place(plan: &Plan<'_>, stack: &Stack, pidfd: &AtomicI32) -> Result<c_int, (SpawnStep, c_int)> {
    let flags = SHARED_UNTIL_EXEC | libc::CLONE_PIDFD;
    let argument = (&raw const *plan).cast_mut().cast::<c_void>();
    if let Some(cgroup) = &plan.command.cgroup {
        // SAFETY: `program` never returns. It gets the plan, which outlives the child's use of it because we sleep until its
        // `execve` or end. The stack is unused by others, and the pidfd is stored to a valid place.
        match unsafe { clone_into_cgroup(program, argument, stack, flags, pidfd.as_ptr(), cgroup.as_raw_fd()) } {
            // Not known to this kernel, or kept from us by a filter that can't look into its arguments.
            Err(libc::ENOSYS | libc::EINVAL | libc::E2BIG | libc::EPERM) => plan.enters_cgroup.set(true),
            Err(errno @ (libc::EACCES | libc::EBADF | libc::EBUSY | libc::ENODEV | libc::ENOENT | libc::EOPNOTSUPP)) => {
                return Err((SpawnStep::Cgroup, errno));
            }
            Err(errno) => return Err((SpawnStep::Clone, errno)),
            Ok(pid) => return Ok(pid),
        }
    }
    // SAFETY: as above.
    let pid = unsafe { libc::clone(program, stack.top(), flags, argument, pidfd.as_ptr()) };
    if pid < 0 { Err((SpawnStep::Clone, child::errno())) } else { Ok(pid) }
}

/// The child in the middle shares our table of descriptors as well, so that the pidfd of its own child is ours.
fn clone_relay(relay: &Relay<'_>, stack: &Stack) -> Made {
    let flags = SHARED_UNTIL_EXEC | libc::CLONE_FILES;
    let argument = (&raw const *relay).cast_mut().cast::<c_void>();
    // SAFETY: as in `clone_program`: `relayed` gets the relay, which outlives it.
    let pid = unsafe { libc::clone(relayed, stack.top(), flags, argument) };
    if pid < 0 {
        child::report(&relay.plan.report, SpawnStep::Clone, child::errno());
        return Err(());
    }
    reap_unstarted(pid);
    Ok(relay.plan.report.grandchild.load(Ordering::Relaxed))
}

extern "C" fn program(argument: *mut c_void) -> c_int {
    // SAFETY: `clone_program` passes a plan that lives until we are gone.
    let plan = unsafe { &*argument.cast_const().cast::<Plan<'_>>() };
    // SAFETY: we are such a child.
    unsafe { child::run(plan) };
    leave()
}

extern "C" fn relayed(argument: *mut c_void) -> c_int {
    // SAFETY: `clone_relay` passes a relay that lives until we are gone.
    let relay = unsafe { &*argument.cast_const().cast::<Relay<'_>>() };
    if let Ok(pid) = clone_program(relay.plan, relay.stack, relay.pidfd) {
        relay.plan.report.grandchild.store(pid, Ordering::Relaxed);
    }
    leave()
}

/// Ends the child without running anything of ours at its end.
fn leave() -> ! {
    // SAFETY: ends this process, which owns no memory: ours stays.
    unsafe { libc::_exit(127) }
}

/// Takes the status of a child that never ran a program, and says whether it was one.
///
/// `__WCLONE` matches children whose exit signal is not `SIGCHLD`. A child that ran its program has it by the time that
/// we wake, so the call fails at once with `ECHILD` for it.
fn reap_unstarted(pid: c_int) -> bool {
    loop {
        // SAFETY: null asks for no status and no usage.
        let result = unsafe { libc::wait4(pid, null_mut(), libc::__WCLONE, null_mut()) };
        if result >= 0 || child::errno() != libc::EINTR {
            return result > 0;
        }
    }
}

fn outcome(plan: &Plan<'_>, made: Made, pidfd: c_int) -> Result<Spawned, SpawnError> {
    // SAFETY: the kernel has just opened it for us, and nobody else knows the number.
    let pidfd = (pidfd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(pidfd) });
    let step = plan.report.step.load(Ordering::Relaxed);
    if step != 0 {
        let step = SpawnStep::from_number(step).unwrap_or(SpawnStep::Clone);
        return Err(SpawnError::from_errno(step, plan.report.errno.load(Ordering::Relaxed)));
    }
    let Some(pid) = made.ok().filter(|pid| *pid > 0) else {
        // The child in the middle was killed before it could say anything.
        return Err(SpawnError::from_errno(SpawnStep::Clone, libc::EINTR));
    };
    Ok(Spawned { pid: pid.unsigned_abs(), pidfd })
}
