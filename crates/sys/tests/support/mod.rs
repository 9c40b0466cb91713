//! Starting real programs and waiting for conditions, shared by the tests of this crate.

// Each test binary uses a part of it.
#![allow(dead_code)]

use std::ffi::CString;
use std::fs::File;
use std::io::{PipeReader, Read};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crannog_sys::reaper::{WaitStatus, wait_for};
use crannog_sys::spawn::{Command, Spawned, search_path, spawn};

/// Far above what anything here takes, so that a loaded machine does not fail a test.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

pub(crate) fn null() -> OwnedFd {
    File::options().read(true).write(true).open("/dev/null").unwrap().into()
}

/// A command found by the usual path, with nothing on its standard streams.
pub(crate) fn command(argv: &[&str]) -> Command {
    let candidates = search_path(&c(argv[0]), c"/usr/local/bin:/usr/bin:/bin");
    Command::new(candidates, argv.iter().map(|argument| c(argument)).collect(), [null(), null(), null()])
}

/// A command whose standard output and error can be read.
pub(crate) fn piped(argv: &[&str]) -> (Command, PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = command(argv);
    command.stdio = [null(), writer.try_clone().unwrap().into(), writer.into()];
    (command, reader)
}

/// Runs a command to its end and returns everything that it printed.
pub(crate) fn run((command, mut reader): (Command, PipeReader)) -> (String, WaitStatus) {
    let child = spawn(&command).unwrap();
    drop(command);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    (text, wait_for(child.pid).unwrap().0)
}

/// Waits until the condition holds.
pub(crate) fn eventually<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(start.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Ends a child and takes its status.
pub(crate) fn end(child: &Spawned) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    let _ = wait_for(child.pid);
}
