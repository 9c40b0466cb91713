//! Readiness for descriptors that `tokio` has no type for: terminal masters, pipe ends, pidfds.
//!
//! Reads and writes ask the kernel even when the runtime has not seen an event yet. Draining a terminal after
//! the exit of its process depends on it: "would block" must be the word of the kernel, not of a stale flag.

#![allow(unsafe_code)]

use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::terminal::Terminal;

/// A descriptor registered with the runtime of the calling task, in non-blocking mode.
#[derive(Debug)]
pub struct AsyncFile<T: AsRawFd + AsFd = OwnedFd> {
    inner: AsyncFd<T>,
}

/// A terminal whose output and input are awaited.
///
/// A read fails with `EIO` once the last process that had the terminal open closed it: the end of its output.
pub type AsyncTerminal = AsyncFile<Terminal>;

impl AsyncFile<OwnedFd> {
    /// Registers a descriptor and sets `O_NONBLOCK` on it.
    ///
    /// The flag belongs to the open file, so it is also seen by whoever else has it: register only an end that
    /// is ours alone. Regular files fail with `EPERM`, because epoll has no readiness for them.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        Self::register(fd)
    }
}

impl AsyncFile<Terminal> {
    /// Registers the master side of a terminal; see [`AsyncFile::new`].
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    pub fn from_terminal(terminal: Terminal) -> io::Result<Self> {
        Self::register(terminal)
    }
}

impl<T: AsRawFd + AsFd> AsyncFile<T> {
    /// Only called for `OwnedFd` and `Terminal`: the soundness of the registration rests on it.
    fn register(file: T) -> io::Result<Self> {
        let flags = fcntl_getfl(&file)?;
        if !flags.contains(OFlags::NONBLOCK) {
            fcntl_setfl(&file, flags | OFlags::NONBLOCK)?;
        }
        // SAFETY: both callers pass a type that owns one open descriptor for its whole life, never replaces it, and
        // always answers `as_raw_fd` with it. `AsyncFd` owns the value from here on, so it can't be closed early.
        let inner = unsafe { AsyncFd::register(file) }?;
        Ok(Self { inner })
    }

    /// Waits until a read would not block (bytes, end of file, or an error). May wake without cause. Cancel-safe.
    pub async fn readable(&self) -> io::Result<()> {
        let mut guard = self.inner.readable().await?;
        guard.retain_ready();
        Ok(())
    }

    /// Waits until a write would not block. May wake without cause. Cancel-safe.
    pub async fn writable(&self) -> io::Result<()> {
        let mut guard = self.inner.writable().await?;
        guard.retain_ready();
        Ok(())
    }

    /// Reads once. `Ok(0)` is the end of the file; `WouldBlock` says that the kernel has nothing now, and makes the
    /// next [`AsyncFile::readable`] wait.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.attempt(Interest::READABLE, |fd| retry(|| rustix::io::read(fd, &mut *buffer)))
    }

    /// Writes once and says how many bytes the kernel took. `WouldBlock` makes the next [`AsyncFile::writable`] wait.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(Interest::WRITABLE, |fd| retry(|| rustix::io::write(fd, bytes)))
    }

    /// Waits for bytes and reads them. Cancel-safe: a dropped future has read nothing.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable().await?,
                done => return done,
            }
        }
    }

    /// Waits for room and writes what fits. Cancel-safe: a dropped future has written nothing.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable().await?,
                done => return done,
            }
        }
    }

    /// What is registered.
    pub fn get_ref(&self) -> &T {
        self.inner.get_ref()
    }

    /// Takes the file out of the runtime; it stays in non-blocking mode.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }

    /// `AsyncFd::try_io` does nothing while the runtime has seen no event, so the kernel is asked directly then. An
    /// event that arrives in between is kept: only an answer given after it clears it.
    fn attempt(&self, interest: Interest, mut operation: impl FnMut(BorrowedFd<'_>) -> io::Result<usize>) -> io::Result<usize> {
        let mut asked = false;
        let result = self.inner.try_io(interest, |file| {
            asked = true;
            operation(file.as_fd())
        });
        if asked { result } else { operation(self.inner.get_ref().as_fd()) }
    }
}

impl<T: AsRawFd + AsFd> Deref for AsyncFile<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.get_ref()
    }
}

impl<T: AsRawFd + AsFd> AsFd for AsyncFile<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get_ref().as_fd()
    }
}

fn retry(mut call: impl FnMut() -> rustix::io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            done => return done.map_err(io::Error::from),
        }
    }
}
