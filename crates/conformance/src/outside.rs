//! Other callers and rough hands: client programs in special circumstances, a stopped or killed guest, and whole transcripts.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crannog::{ProcessId, Stream};
use serde_json::Value;

use crate::room::Room;
use crate::run::Run;

/// Starts `conformance-client ARGUMENTS` on the room's host.
pub fn spawn_client(room: &Room, arguments: &[&str]) -> Child {
    let mut command = Command::new(room.place().client());
    command.args(arguments).env("CRANNOG_HOME", room.root()).stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs the `crannog` program on the room's host and parses its answer strictly.
pub async fn cli(room: &Room, arguments: &[&str]) -> Value {
    let mut command = Command::new(cli_program());
    command.args(arguments).env("CRANNOG_HOME", room.root());
    let output = run(command).await;
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    parse(&output.stdout)
}

/// One JSON value and nothing else.
pub fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

/// Creates a sandbox from a shell that was prepared by `preparation` (which ends in `exec`), runs `text` in it and destroys it.
pub async fn fresh_under(room: &Room, preparation: &str, text: &str) -> Value {
    let home = tempfile::tempdir_in(room.root()).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{preparation} \"$0\" \"$@\"")]).arg(room.place().client()).args(["fresh", text]);
    command.env("CRANNOG_HOME", home.path());
    answer(command).await
}

/// A process for a terminal of the room: it creates another sandbox from there and runs `text` in it without a terminal.
pub fn fresh_on_terminal(room: &Room, text: &str) -> Run {
    let run = Run::argv([room.place().client().as_os_str(), "fresh".as_ref(), text.as_ref()]).terminal();
    let run = run.env("CRANNOG_HOME", room.root().join("inner"));
    match std::env::var_os("CRANNOG_GUEST") {
        Some(guest) => run.env("CRANNOG_GUEST", guest),
        None => run,
    }
}

/// Runs `text` as a user that exists only in a mount namespace of its own: uid and gid 4321, group `NAMEs`. Answers with the user's home.
pub async fn fresh_with_user(room: &Room, name: &str, text: &str) -> (Value, String) {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let users = |file: &str| std::fs::read_to_string(file).unwrap();
    std::fs::write(directory.path().join("passwd"), format!("{}{name}:x:4321:4321::{}:/bin/sh\n", users("/etc/passwd"), home.display()))
        .unwrap();
    std::fs::write(directory.path().join("group"), format!("{}{name}s:x:4321:\n", users("/etc/group"))).unwrap();
    let script = "set -e; mount --bind \"$1/passwd\" /etc/passwd; mount --bind \"$1/group\" /etc/group
        chmod 755 \"$1\"; mkdir \"$1/home\"; chown 4321:4321 \"$1/home\"; shift; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(directory.path());
    command.arg(room.place().client()).args(["fresh", text, name]).env("CRANNOG_HOME", directory.path().join("state"));
    (answer(command).await, home.display().to_string())
}

/// The scenario of a recycled process number, in a process namespace of its own (see the client).
pub async fn recycled(room: &Room) -> Value {
    let home = tempfile::tempdir_in(room.root()).unwrap();
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc", "--kill-child"]).arg(room.place().client()).arg("recycled");
    command.env("CRANNOG_HOME", home.path());
    answer(command).await
}

/// Keeps a process stopped for this long.
pub async fn stopped(pid: u32, time: Duration) {
    struct Continue(u32);
    impl Drop for Continue {
        fn drop(&mut self) {
            send("-CONT", self.0);
        }
    }
    let _continue = Continue(pid);
    send("-STOP", pid);
    tokio::time::sleep(time).await;
}

/// Kills a process at once.
pub fn kill_now(pid: u32) {
    send("-KILL", pid);
}

/// Everything that is kept of a transcript, read raw.
pub async fn transcript(room: &Room, process: ProcessId, stream: Option<Stream>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut from = 0;
    loop {
        let part = room.sandbox().read(process, from, 1 << 20, stream).await.unwrap();
        part.parts.iter().for_each(|part| bytes.extend_from_slice(&part.bytes));
        if part.next == from || part.next >= part.total {
            return bytes;
        }
        from = part.next;
    }
}

/// The `crannog` program: `CRANNOG_CLI`, or beside the running test's directory, where a build of the workspace puts it.
pub fn cli_program() -> PathBuf {
    if let Some(path) = std::env::var_os("CRANNOG_CLI") {
        return path.into();
    }
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join("crannog");
    assert!(path.exists(), "{} is missing: build it with `cargo build -p crannog-cli`, or set CRANNOG_CLI", path.display());
    path
}

async fn answer(command: Command) -> Value {
    let output = run(command).await;
    assert!(output.status.success(), "{output:?}");
    parse(&output.stdout)
}

async fn run(mut command: Command) -> Output {
    command.stdin(Stdio::null());
    tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap()
}

fn send(signal: &str, pid: u32) {
    let status = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
    assert!(status.is_ok(), "kill(1) is missing");
}
