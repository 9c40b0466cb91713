//! What this process does to itself: descriptors that it was started with, defence against what runs beside it, room for descriptors.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// The first descriptor that is nobody's standard input, output or error.
const FIRST_FREE: RawFd = 3;

/// A copy of a descriptor that this process was started with. The copy and the original are closed on exec from now on (fcntl(2)).
///
/// # Errors
///
/// `EBADF` when there is no such descriptor.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved; the call copies whatever descriptor has this number, or fails.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, FIRST_FREE) };
    if copy == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made `copy`, so nobody else owns it.
    let copy = unsafe { OwnedFd::from_raw_fd(copy) };
    // SAFETY: no memory is involved; a flag is set on a descriptor that exists.
    if unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(copy)
}

/// Keeps other processes of the same user from tracing this one and from reading its memory and environment (`PR_SET_DUMPABLE`).
pub fn hide_from_peers() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Raises the number of open files to what the hard limit allows (setrlimit(2)). Children inherit it unless they are told another.
pub fn raise_open_files() -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::{Read as _, Write as _};
    use std::os::fd::{AsRawFd as _, IntoRawFd as _};
    use std::os::unix::net::UnixStream;

    use rustix::io::{FdFlags, fcntl_getfd};

    use super::inherited;

    #[test]
    fn an_inherited_descriptor_is_the_same_file_and_closed_on_exec() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let number = near.into_raw_fd();
        let copy = inherited(number).unwrap();
        assert_ne!(copy.as_raw_fd(), number);
        assert!(fcntl_getfd(&copy).unwrap().contains(FdFlags::CLOEXEC));
        far.write_all(b"x").unwrap();
        let mut byte = [0];
        UnixStream::from(copy).read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
    }

    #[test]
    fn a_number_without_a_descriptor_is_refused() {
        assert_eq!(inherited(1_000_000).unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}
