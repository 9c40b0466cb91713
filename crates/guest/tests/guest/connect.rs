//! The guest reached through a program's standard input and output.

use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use crannog_core::collect::Until;
use crannog_core::end::End;
use crannog_wire::connector::Connecting;
use crannog_wire::{ByteStream, ClientOptions, Connector, GuestClient};
use tokio::net::unix::pipe;

use crate::support::{PROGRAM, TestGuest, collect, shell};

/// Connects by starting the program, as a backend does that can only run commands.
#[derive(Clone)]
struct ByProgram {
    socket: PathBuf,
    children: Arc<Mutex<Vec<Child>>>,
}

impl ByProgram {
    fn new(guest: &TestGuest) -> Self {
        Self { socket: guest.socket(), children: Arc::default() }
    }

    fn client(&self) -> GuestClient {
        GuestClient::new(self.clone(), ClientOptions::default())
    }

    fn kill_all(&self) -> usize {
        let mut children = self.children.lock().unwrap();
        for child in children.iter_mut() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        children.drain(..).count()
    }
}

impl Connector for ByProgram {
    fn connect(&self) -> Connecting {
        let mut child = Command::new(PROGRAM)
            .args(["connect", "--socket"])
            .arg(&self.socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        self.children.lock().unwrap().push(child);
        Box::pin(async {
            let reader = pipe::Receiver::from_owned_fd(OwnedFd::from(output))?;
            let writer = pipe::Sender::from_owned_fd(OwnedFd::from(input))?;
            Ok(Box::new(tokio::io::join(reader, writer)) as ByteStream)
        })
    }
}

#[tokio::test]
async fn a_command_runs_through_standard_input_and_output() {
    let guest = TestGuest::start();
    guest.confirmed().await;
    let way = ByProgram::new(&guest);
    let client = way.client();
    let gathered = client.gather(shell("seq 200000"), 8 * 1024 * 1024, true).await.unwrap();
    assert_eq!(gathered.stdout.len(), 1_288_895);
    assert_eq!(way.kill_all(), 1);
}

#[tokio::test]
async fn a_way_that_is_killed_in_the_middle_of_a_collect_is_replaced() {
    let guest = TestGuest::start();
    let direct = guest.confirmed().await;
    let way = ByProgram::new(&guest);
    let client = way.client();
    direct.gather(shell("mkfifo gate"), 100, false).await.unwrap();
    let process = client.start(shell("echo first; read -r line < gate; echo second; exit 5"), None).await.unwrap().process;
    let seen = client.collect(process, collect(0, Until::Text("first".to_owned()))).await.unwrap();
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.collect(process, collect(seen.cursor, None)).await }
    });
    assert_eq!(way.kill_all(), 1);
    direct.gather(shell("echo go > gate"), 100, false).await.unwrap();
    let update = waiting.await.unwrap().unwrap();
    assert_eq!((update.text.as_str(), update.end), ("second\n", Some(End::Exited { code: 5 })));
    assert_eq!(way.kill_all(), 1);
}

#[test]
fn the_end_of_the_input_ends_the_way() {
    let guest = TestGuest::start();
    let mut child = Command::new(PROGRAM)
        .args(["connect", "--socket"])
        .arg(guest.socket())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_socket_that_is_not_there_is_named() {
    let output = Command::new(PROGRAM).args(["connect", "--socket", "/nonexistent/guest.sock"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("/nonexistent/guest.sock") && told.contains("No such file"), "{told}");
    assert_eq!(Command::new(PROGRAM).arg("jump").output().unwrap().status.code(), Some(2));
}
