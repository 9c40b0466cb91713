//! Pipes between us and a program: our end does not block, the program's end is an ordinary blocking one.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use crate::evidence::InputObject;

/// The two ends of a new pipe, both close-on-exec. Only `ours` is non-blocking: a program does not expect that of its own.
#[derive(Debug)]
pub struct Pipe {
    /// The end that we keep.
    pub ours: OwnedFd,
    /// The end that the program gets.
    pub theirs: OwnedFd,
}

/// A pipe that the program writes to (its output).
pub fn output() -> io::Result<Pipe> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok(Pipe { ours: non_blocking(reader)?, theirs: writer })
}

/// A pipe that the program reads from (its standard input).
pub fn input() -> io::Result<Pipe> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok(Pipe { ours: non_blocking(writer)?, theirs: reader })
}

/// Asks for room for `bytes` (the kernel rounds up to pages) and says how much there is now.
///
/// # Errors
///
/// `EPERM` above `/proc/sys/fs/pipe-max-size` or when the user has too much in pipes; the pipe stays as it was.
pub fn set_capacity(pipe: impl AsFd, bytes: usize) -> io::Result<usize> {
    Ok(fcntl_setpipe_size(pipe, bytes)?)
}

/// What both ends of a pipe have in common, to recognise it among the descriptors of other processes.
pub fn identity(pipe: impl AsFd) -> io::Result<InputObject> {
    let found = fstat(pipe)?;
    Ok(InputObject::Pipe { dev: found.st_dev, inode: found.st_ino })
}

fn non_blocking(fd: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&fd, fcntl_getfl(&fd)? | OFlags::NONBLOCK)?;
    Ok(fd)
}
