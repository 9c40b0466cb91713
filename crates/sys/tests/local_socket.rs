//! Sockets in directories whose paths are longer than an address.

#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};

use crannog_sys::local_socket::{connect_in, listen_in, peer, remove};

#[test]
fn a_long_path_is_no_obstacle() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("d".repeat(120)).join("e".repeat(120));
    fs::create_dir_all(&deep).unwrap();
    let directory = File::open(&deep).unwrap();

    let listener = UnixListener::from(listen_in(directory.as_fd(), "guest.sock").unwrap());
    let mode = fs::metadata(deep.join("guest.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut client = UnixStream::from(connect_in(directory.as_fd(), "guest.sock").unwrap());
    let (mut server, _) = listener.accept().unwrap();
    client.write_all(b"hello").unwrap();
    let mut buffer = [0; 5];
    server.read_exact(&mut buffer).unwrap();
    assert_eq!(&buffer, b"hello");
    for end in [server.as_fd(), client.as_fd()] {
        let found = peer(end).unwrap();
        assert_eq!((found.pid, found.uid), (std::process::id(), rustix::process::geteuid().as_raw()));
    }
}

#[test]
fn each_failure_has_its_kind() {
    let root = tempfile::tempdir().unwrap();
    let directory = File::open(root.path()).unwrap();
    let kind = |result: io::Result<_>| result.map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(connect_in(directory.as_fd(), "s")), io::ErrorKind::NotFound);
    let listener = listen_in(directory.as_fd(), "s").unwrap();
    assert_eq!(kind(listen_in(directory.as_fd(), "s")), io::ErrorKind::AddrInUse);
    drop(listener);
    assert_eq!(kind(connect_in(directory.as_fd(), "s")), io::ErrorKind::ConnectionRefused);
    remove(directory.as_fd(), "s").unwrap();
    remove(directory.as_fd(), "s").unwrap();
    listen_in(directory.as_fd(), "s").unwrap();
    for name in ["", ".", "..", "a/b"] {
        assert_eq!(kind(listen_in(directory.as_fd(), name)), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn both_sides_close_on_exec_and_never_block() {
    let root = tempfile::tempdir().unwrap();
    let directory = File::open(root.path()).unwrap();
    let listener = listen_in(directory.as_fd(), "s").unwrap();
    let client = connect_in(directory.as_fd(), "s").unwrap();
    for fd in [listener, client] {
        assert!(rustix::io::fcntl_getfd(&fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
        assert!(rustix::fs::fcntl_getfl(&fd).unwrap().contains(rustix::fs::OFlags::NONBLOCK));
    }
}
