//! Terminals with real programs on the other side.

#![allow(clippy::unwrap_used)]

mod support;

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use crannog_sys::async_fd::{AsyncFile, AsyncTerminal};
use crannog_sys::reaper::wait_for;
use crannog_sys::spawn::{Command, Spawned, search_path, spawn};
use crannog_sys::terminal::{Modes, Terminal};
use support::{DEADLINE, c, end, eventually};

/// A program that leads a session on a terminal of its own.
fn on_terminal(argv: &[&str]) -> (Spawned, Terminal) {
    let (terminal, peer) = Terminal::open(24, 80).unwrap();
    let stdio = [peer.try_clone().unwrap(), peer.try_clone().unwrap(), peer];
    let candidates = search_path(&c(argv[0]), c"/usr/local/bin:/usr/bin:/bin");
    let mut command = Command::new(candidates, argv.iter().map(|argument| c(argument)).collect(), stdio);
    command.new_session = true;
    command.controlling_terminal = true;
    (spawn(&command).unwrap(), terminal)
}

/// Everything until the last process closes the terminal.
async fn read_to_end(terminal: &AsyncTerminal) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match tokio::time::timeout(DEADLINE, terminal.read(&mut buffer)).await.expect("the terminal is closed in time") {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
            Err(error) if error.raw_os_error() == Some(libc::EIO) => break,
            Err(error) => panic!("{error}"),
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn the_program_has_a_controlling_terminal_of_the_right_size() {
    let script = "tty; stty size; ps -o tty=,pgid=,tpgid= -p $$; cat < /dev/tty";
    let (child, terminal) = on_terminal(&["sh", "-c", script]);
    assert_eq!(eventually("a foreground group", || terminal.foreground_group().unwrap()), child.pid);
    let terminal = terminal.into_async().unwrap();
    terminal.write(b"typed\n\x04").await.unwrap();
    let text = read_to_end(&terminal).await;
    wait_for(child.pid).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(text.contains("/dev/pts/"), "{text}");
    assert!(text.contains("24 80"), "{text}");
    assert!(lines.iter().filter(|line| **line == "typed").count() >= 1, "{text}");
    assert_eq!(terminal.foreground_group().unwrap(), None);
}

#[tokio::test]
async fn erasing_takes_a_whole_character() {
    let (child, terminal) = on_terminal(&["sh", "-c", "read line; printf '<%s>' \"$line\""]);
    let terminal = terminal.into_async().unwrap();
    terminal.write("a\u{4E2D}\x7fb\n".as_bytes()).await.unwrap();
    let text = read_to_end(&terminal).await;
    wait_for(child.pid).unwrap();
    assert!(text.ends_with("<ab>"), "{text:?}");
}

#[test]
fn a_resize_reaches_the_program() {
    let (child, terminal) = on_terminal(&["sleep", "60"]);
    assert_eq!(terminal.size().unwrap(), (24, 80));
    terminal.resize(50, 132).unwrap();
    assert_eq!(terminal.size().unwrap(), (50, 132));
    end(&child);
}

#[test]
fn modes_show_a_password_prompt() {
    let (child, terminal) = on_terminal(&["sh", "-c", "stty -echo; sleep 60"]);
    eventually("echo goes off", || (terminal.modes().unwrap() == Modes { echo: false, canonical: true, signals: true }).then_some(()));
    end(&child);
}

#[test]
fn the_device_is_that_of_the_peer() {
    let (terminal, peer) = Terminal::open(1, 1).unwrap();
    assert_eq!(terminal.device().unwrap(), rustix::fs::fstat(&peer).unwrap().st_rdev);
}

#[test]
fn both_ends_close_on_exec() {
    let (terminal, peer) = Terminal::open(1, 1).unwrap();
    for fd in [terminal.as_fd(), peer.as_fd()] {
        assert!(rustix::io::fcntl_getfd(fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
    }
}

#[tokio::test]
async fn a_read_asks_the_kernel_even_before_the_runtime_has_seen_an_event() {
    let (reader, writer) = io::pipe().unwrap();
    let reader = AsyncFile::new(reader.into()).unwrap();
    let mut buffer = [0; 8];
    assert_eq!(reader.try_read(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    // The runtime has had no turn since, so its flags can't know of this write.
    rustix::io::write(&writer, b"now").unwrap();
    assert_eq!(reader.try_read(&mut buffer).unwrap(), 3);
    assert_eq!(reader.try_read(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn readiness_comes_back_after_it_was_used_up() {
    let (reader, writer) = io::pipe().unwrap();
    let reader = AsyncFile::new(reader.into()).unwrap();
    for round in 0..100_u8 {
        let write = async {
            tokio::task::yield_now().await;
            rustix::io::write(&writer, &[round]).unwrap();
        };
        let mut buffer = [0; 8];
        let (read, ()) = tokio::join!(tokio::time::timeout(DEADLINE, reader.read(&mut buffer)), write);
        assert_eq!((read.unwrap().unwrap(), buffer[0]), (1, round));
    }
    drop(writer);
    assert_eq!(reader.read(&mut [0; 8]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_full_pipe_is_waited_for_and_a_dropped_wait_wrote_nothing() {
    let (reader, writer) = io::pipe().unwrap();
    let writer = AsyncFile::new(writer.into()).unwrap();
    let mut written = 0;
    while let Ok(length) = writer.try_write(&[0; 4096]) {
        written += length;
    }
    let wait = writer.write(&[1; 4096]);
    tokio::time::timeout(Duration::from_millis(5), wait).await.expect_err("there is no room");
    let mut buffer = vec![0; written + 1];
    assert_eq!(rustix::io::read(&reader, &mut buffer).unwrap(), written);
    assert_eq!(writer.write(&[2; 10]).await.unwrap(), 10);
    assert_eq!(rustix::io::read(&reader, &mut buffer).unwrap(), 10);
    assert_eq!(buffer[..10], [2; 10]);
}

#[tokio::test]
async fn a_pidfd_becomes_readable_when_its_process_ends() {
    let child = spawn(&support::command(&["true"])).unwrap();
    let pidfd = AsyncFile::new(child.pidfd.unwrap()).unwrap();
    tokio::time::timeout(DEADLINE, pidfd.readable()).await.unwrap().unwrap();
    wait_for(child.pid).unwrap();
}
