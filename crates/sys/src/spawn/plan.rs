//! Everything that a child needs, laid out before it exists, because it may not allocate.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr::null;
use std::sync::atomic::AtomicI32;

use rustix::io::fcntl_dupfd_cloexec;

use super::{Command, SpawnError, SpawnStep};

const SHELL: &CStr = c"/bin/sh";

/// What a child says back through shared memory. Zero means "nothing to say".
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) step: AtomicI32,
    pub(super) errno: AtomicI32,
    /// The pid of the child of a child (`detached`).
    pub(super) grandchild: AtomicI32,
}

/// A limit as the child hands it to `prlimit64`.
#[derive(Debug)]
pub(super) struct Limit {
    pub(super) resource: c_uint,
    pub(super) value: libc::rlimit64,
}

/// A command in the form of system call arguments. Pointers in it lead into the command or into the plan.
#[derive(Debug)]
pub(super) struct Plan<'command> {
    pub(super) command: &'command Command,
    pub(super) candidates: Vec<*const c_char>,
    /// The shell, then the arguments, then null. Slot 0 is used only when a file turns out to be a script without `#!`;
    /// the child then writes the file's path into slot 1.
    pub(super) argv: Vec<Cell<*const c_char>>,
    pub(super) environment: Vec<*const c_char>,
    /// From where, to where. No source is a target, so the order does not matter.
    pub(super) placements: Vec<(RawFd, RawFd)>,
    /// Ranges of descriptors, both ends included, that must not survive `execve`.
    pub(super) closed: Vec<(c_uint, c_uint)>,
    pub(super) limits: Vec<Limit>,
    pub(super) oom_score_adj: Option<String>,
    /// The child must enter its cgroup itself, because it could not be born there.
    pub(super) enters_cgroup: Cell<bool>,
    /// Who the parent of a child with a death signal must be.
    pub(super) parent: c_int,
    pub(super) report: Report,
    /// Keeps the duplicates in `placements` open.
    _moved: Vec<OwnedFd>,
}

impl<'command> Plan<'command> {
    pub(super) fn new(command: &'command Command) -> Result<Self, SpawnError> {
        validate(command).map_err(|errno| SpawnError::from_errno(SpawnStep::Prepare, errno))?;
        let (placements, moved) = place(command).map_err(|error| SpawnError::new(SpawnStep::Prepare, error))?;
        Ok(Self {
            command,
            candidates: command.search_path.iter().map(|path| path.as_ptr()).collect(),
            argv: argv_with_shell(&command.argv),
            environment: command.environment.iter().map(|entry| entry.as_ptr()).chain([null()]).collect(),
            closed: ranges_between(placements.iter().map(|(_, target)| *target)),
            placements,
            limits: command
                .limits
                .iter()
                .map(|(resource, soft, hard)| Limit {
                    resource: *resource as c_uint,
                    value: libc::rlimit64 { rlim_cur: *soft, rlim_max: *hard },
                })
                .collect(),
            oom_score_adj: command.oom_score_adj.map(|score| score.to_string()),
            enters_cgroup: Cell::new(false),
            parent: rustix::process::getpid().as_raw_nonzero().get(),
            report: Report::default(),
            _moved: moved,
        })
    }
}

/// Refuses what could only fail later and less clearly.
fn validate(command: &Command) -> Result<(), c_int> {
    let mut targets: Vec<RawFd> = command.keep_fds.iter().map(|(_, target)| *target).collect();
    targets.sort_unstable();
    let targets_clash = targets.windows(2).any(|pair| pair[0] == pair[1]);
    let targets_bad = targets.first().is_some_and(|target| *target < 3);
    let tied_and_detached = command.detached && command.parent_death_signal.is_some();
    let terminal_without_session = command.controlling_terminal && !command.new_session;
    if command.argv.is_empty() || targets_clash || targets_bad || tied_and_detached || terminal_without_session {
        return Err(libc::EINVAL);
    }
    Ok(())
}

/// From where to where, and the duplicates that were made for it.
type Placed = (Vec<(RawFd, RawFd)>, Vec<OwnedFd>);

/// Moves each source above all targets, so that placing one can't overwrite another, and each needs a real `dup3`, which
/// clears close-on-exec.
fn place(command: &Command) -> io::Result<Placed> {
    let wanted: Vec<(BorrowedFd<'_>, RawFd)> = (0..)
        .zip(&command.stdio)
        .map(|(target, fd)| (fd.as_fd(), target))
        .chain(command.keep_fds.iter().map(|(fd, target)| (fd.as_fd(), *target)))
        .collect();
    let floor = wanted.iter().map(|(_, target)| *target).max().unwrap_or(2).saturating_add(1);
    let mut placements = Vec::with_capacity(wanted.len());
    let mut moved = Vec::new();
    for (fd, target) in wanted {
        let source = if fd.as_raw_fd() >= floor {
            fd.as_raw_fd()
        } else {
            let duplicate = fcntl_dupfd_cloexec(fd, floor)?;
            let source = duplicate.as_raw_fd();
            moved.push(duplicate);
            source
        };
        placements.push((source, target));
    }
    Ok((placements, moved))
}

fn argv_with_shell(argv: &[CString]) -> Vec<Cell<*const c_char>> {
    let arguments = argv.iter().map(|argument| argument.as_ptr());
    [SHELL.as_ptr()].into_iter().chain(arguments).chain([null()]).map(Cell::new).collect()
}

/// The descriptors outside of `kept`, as ranges that include both ends.
fn ranges_between(kept: impl Iterator<Item = RawFd>) -> Vec<(c_uint, c_uint)> {
    let mut kept: Vec<c_uint> = kept.map(RawFd::unsigned_abs).collect();
    kept.sort_unstable();
    let mut ranges = Vec::with_capacity(kept.len() + 1);
    let mut start = 0;
    for fd in kept {
        if fd > start {
            ranges.push((start, fd - 1));
        }
        start = fd + 1;
    }
    ranges.push((start, c_uint::MAX));
    ranges
}

#[cfg(test)]
mod tests {
    use super::ranges_between;

    #[test]
    fn ranges_cover_everything_but_what_is_kept() {
        assert_eq!(ranges_between([1, 0, 2].into_iter()), [(3, u32::MAX)]);
        assert_eq!(ranges_between([0, 1, 2, 3, 9].into_iter()), [(4, 8), (10, u32::MAX)]);
        assert_eq!(ranges_between([2, 7].into_iter()), [(0, 1), (3, 6), (8, u32::MAX)]);
    }
}
