//! Unix sockets that lie in a directory which is open already.
//!
//! The address of such a socket has room for 107 bytes only, and a path can be changed below us. So the directory is
//! named by its descriptor: `/proc/self/fd/N/name`. See unix(7).

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, chmodat, unlinkat};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with};

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 128;

/// Who is on the other side of a connection, at the time it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The pid, as seen from our pid namespace; 0 if it can't be.
    pub pid: u32,
    /// The effective user.
    pub uid: u32,
    /// The effective group.
    pub gid: u32,
}

/// Makes a socket file `name` in `directory` that accepts connections; only our user may connect. Close-on-exec, non-blocking.
///
/// # Errors
///
/// `AddrInUse` if there is such a file: remove it first if its owner is known to be gone ([`remove`]).
pub fn listen_in(directory: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    let address = address_of(directory, name)?;
    let socket = stream_socket()?;
    bind(&socket, &address)?;
    // Nobody can have connected yet: a socket that does not listen refuses.
    chmodat(directory, name, Mode::RUSR | Mode::WUSR, AtFlags::empty())?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Connects to the socket file `name` in `directory`. Close-on-exec, non-blocking.
///
/// # Errors
///
/// `NotFound` without such a file, `ConnectionRefused` when nobody listens any more, `WouldBlock` when too many wait already.
pub fn connect_in(directory: BorrowedFd<'_>, name: &str) -> io::Result<OwnedFd> {
    let address = address_of(directory, name)?;
    let socket = stream_socket()?;
    connect(&socket, &address)?;
    Ok(socket)
}

/// Removes a socket file. One that is gone already is no error.
pub fn remove(directory: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    match unlinkat(directory, plain(name)?, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Who is on the other side (`SO_PEERCRED`).
pub fn peer(connection: impl AsFd) -> io::Result<Peer> {
    let found = rustix::net::sockopt::socket_peercred(connection)?;
    Ok(Peer { pid: found.pid.as_raw_nonzero().get().unsigned_abs(), uid: found.uid.as_raw(), gid: found.gid.as_raw() })
}

fn stream_socket() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?)
}

fn address_of(directory: BorrowedFd<'_>, name: &str) -> io::Result<SocketAddrUnix> {
    let path = format!("/proc/self/fd/{}/{}", directory.as_raw_fd(), plain(name)?);
    Ok(SocketAddrUnix::new(path)?)
}

fn plain(name: &str) -> io::Result<&str> {
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(name)
}
