//! Processes that can't be mistaken: by pidfd, or by pid together with the time at which they started.
//!
//! A pid alone names whoever has the number now. Everything here that signals a process first pins it.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::process_tree::parse_stat;

/// A descriptor of a process. It never refers to another one. See `pidfd_open(2)`.
#[derive(Debug)]
pub struct PidFd {
    fd: OwnedFd,
}

impl PidFd {
    /// Pins the process that has this pid now; close-on-exec.
    ///
    /// # Errors
    ///
    /// `ESRCH` if there is none, `ENOSYS` before Linux 5.3.
    pub fn open(pid: u32) -> io::Result<Self> {
        let fd = pidfd_open(checked(pid)?, PidfdFlags::empty())?;
        Ok(Self { fd })
    }

    /// Sends a signal (1 to 31; 0 only checks).
    ///
    /// # Errors
    ///
    /// `ESRCH` once the process was reaped, `EPERM` if it is not ours to signal, `EINVAL` for other numbers.
    pub fn send_signal(&self, signal: i32) -> io::Result<()> {
        if signal == 0 {
            return if self.is_alive()? { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) };
        }
        let signal = Signal::from_named_raw(signal).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        Ok(pidfd_send_signal(&self.fd, signal)?)
    }

    /// The process runs; false for a zombie.
    pub fn is_alive(&self) -> io::Result<bool> {
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        loop {
            match poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
                Ok(ready) => return Ok(ready == 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The descriptor itself, to be awaited by [`crate::async_fd::AsyncFile`]: readable when the process ended.
    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }
}

impl From<OwnedFd> for PidFd {
    /// Takes a descriptor that is known to be a pidfd, such as that of [`crate::spawn::Spawned`].
    fn from(fd: OwnedFd) -> Self {
        Self { fd }
    }
}

impl AsFd for PidFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A process by number and start: one name for one process for as long as the machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// The pid.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start_time: u64,
}

impl Identity {
    /// Who has this pid now. Right for a child of ours that was not reaped yet.
    ///
    /// # Errors
    ///
    /// `NotFound` if nobody has it.
    pub fn of(pid: u32) -> io::Result<Self> {
        Ok(Self { pid, start_time: start_time(pid)? })
    }

    /// Pins the process, if it still is this one.
    ///
    /// # Errors
    ///
    /// `ESRCH` if it is gone, also when the number has a new owner.
    pub fn pin(self) -> io::Result<PidFd> {
        let pidfd = PidFd::open(self.pid)?;
        // Pinned first and looked at second: the owner that is seen now is the one that was pinned, or the pinned one ended
        // and the signal goes nowhere.
        match start_time(self.pid) {
            Ok(start) if start == self.start_time => Ok(pidfd),
            Ok(_) => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            Err(error) => Err(error),
        }
    }

    /// Sends a signal to exactly this process. False if it is gone.
    pub fn signal(self, signal: i32) -> io::Result<bool> {
        match self.pin().and_then(|pidfd| pidfd.send_signal(signal)) {
            Ok(()) => Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// When the process with this pid started, in clock ticks since boot (field 22 of its `stat`).
///
/// # Errors
///
/// `NotFound` if there is none.
pub fn start_time(pid: u32) -> io::Result<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).map_err(|error| {
        // A process that is reaped between open and read.
        if error.raw_os_error() == Some(libc::ESRCH) { io::ErrorKind::NotFound.into() } else { error }
    })?;
    parse_stat(&stat).map(|process| process.start_time).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn checked(pid: u32) -> io::Result<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
}
