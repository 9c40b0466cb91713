//! A person at a terminal: `attach`, `run --terminal`, and the terminal afterwards.
//!
//! Each test has a terminal of its own, with the program under test in front of it as a shell would put it there.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use crate::support::{CRANNOG, DEADLINE, Home, process_of, signal};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// A terminal with the program in front of it.
struct Seat {
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    /// Keeps the terminal's modes readable after the program has ended.
    peer: OwnedFd,
    child: Child,
}

impl Seat {
    fn new(home: &Home, arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let peer = rustix::fs::open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        tcsetwinsize(&peer, size(30, 90)).unwrap();
        let end = || std::process::Stdio::from(peer.try_clone().unwrap());
        // Makes the terminal its own, so that the kernel tells it about sizes.
        let mut command = Command::new("setsid");
        command.args(["--ctty", CRANNOG]).args(arguments).env("CRANNOG_HOME", home.path()).env("TERM", "xterm-256color");
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let (sender, screen) = channel();
        let mut reader = File::from(master.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut chunk) {
                if sender.send(chunk[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { keyboard: File::from(master), screen, seen: Vec::new(), peer, child }
    }

    fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until the screen has shown this, and forgets what came up to there.
    fn shows(&mut self, text: &str) {
        let began = Instant::now();
        loop {
            if let Some(at) = self.seen.windows(text.len()).position(|window| window == text.as_bytes()) {
                self.seen.drain(..at + text.len());
                return;
            }
            let left = DEADLINE.saturating_sub(began.elapsed());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(error) => panic!("not shown ({error}): {text:?}; but: {:?}", String::from_utf8_lossy(&self.seen)),
            }
        }
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(self.peer.as_fd()).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    /// Waits for the end and checks that the terminal is as it was.
    fn ends(mut self, code: Option<i32>) {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(began.elapsed() < DEADLINE, "it does not end"),
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        assert_eq!(status.code(), code, "{:?}", String::from_utf8_lossy(&self.seen));
        let modes = tcgetattr(self.peer.as_fd()).unwrap();
        let cooked = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        assert!(modes.local_modes.contains(cooked), "{:?}", modes.local_modes);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // Only a test that fails leaves it running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// A shell without any configuration, and its number.
fn shell(home: &Home, id: &str) -> String {
    let start =
        ["start", id, "--terminal", "--env", "PS1=ready> ", "--window", "20000", "--until", "input", "--", "bash", "--norc", "--noprofile"];
    process_of(&home.json(&start))
}

#[test]
fn a_person_takes_over_resizes_and_leaves() {
    let home = Home::new();
    let id = home.sandbox();
    let process = shell(&home, &id);
    home.json(&["write", &id, &process, "--window", "20000", "--until", "text:43", "echo $((42+1))\n"]);
    let mut seat = Seat::new(&home, &["attach", &id, &process]);
    seat.shows("43");
    seat.types("stty size; echo $((20+2))\r");
    seat.shows("30 90\r\n22\r\n");
    assert!(seat.is_raw());
    tcsetwinsize(&seat.peer, size(41, 97)).unwrap();
    crate::support::eventually("the size follows", || home.json(&["ps", &id])[0]["terminal"]["rows"] == 41);
    seat.types("stty size\r");
    seat.shows("41 97\r\n");
    seat.types("\u{1d}d");
    seat.shows("left process");
    seat.ends(Some(0));
    assert_eq!(home.json(&["ps", &id])[0]["end"], serde_json::Value::Null, "it runs on");
}

#[test]
fn keys_go_to_the_process_and_its_end_is_ours() {
    let home = Home::new();
    let id = home.sandbox();
    let process = shell(&home, &id);
    let mut seat = Seat::new(&home, &["attach", &id, &process]);
    seat.shows("ready> ");
    seat.types("sleep 300\r");
    seat.shows("sleep 300\r\n");
    // Only a foreground job that was really interrupted lets the shell go on.
    crate::support::eventually("the job runs", || {
        home.ok(&["exec", &id, "--", "sh", "-c", "ps -e -o args= || true"]).contains("sleep 300")
    });
    seat.types("\u{3}");
    seat.shows("^C");
    seat.shows("ready> ");
    seat.types("exit 7\r");
    seat.shows("exited with code 7");
    seat.ends(Some(7));
}

#[test]
fn the_terminal_is_restored_when_we_are_told_to_stop_or_the_process_is_killed() {
    let home = Home::new();
    let id = home.sandbox();
    let process = shell(&home, &id);
    let mut seat = Seat::new(&home, &["attach", &id, &process]);
    seat.shows("ready> ");
    // A full-screen program that never gets to tidy up.
    seat.types("printf '\\033[?1049h\\033[?25l\\033[?1000h'; echo dra''wn\r");
    seat.shows("drawn");
    signal(&seat.child, Signal::TERM);
    seat.shows("\u{1b}[?1049l");
    seat.shows("\u{1b}[?25h");
    seat.shows("\u{1b}[?1000l");
    seat.ends(Some(143));

    let mut seat = Seat::new(&home, &["attach", &id, &process]);
    seat.shows("\u{1b}[?1049h");
    home.ok(&["kill", &id, &process]);
    seat.shows("\u{1b}[?1049l");
    seat.shows("was killed");
    seat.ends(Some(137));
}

#[test]
fn a_fresh_sandbox_with_our_terminal() {
    let home = Home::new();
    let mut seat = Seat::new(&home, &["run", "--terminal", "-c", "stty size; read line; echo \"got $line\"; exit 6"]);
    seat.shows("30 90\r\n");
    seat.types("hello\r");
    seat.shows("got hello\r\n");
    seat.ends(Some(6));
    assert_eq!(home.json(&["ls"]), serde_json::json!([]));
}

#[test]
fn what_is_not_there_is_said_without_touching_the_terminal() {
    let home = Home::new();
    let id = home.sandbox();
    let plain = process_of(&home.json(&["start", &id, "--window", "0", "--", "sleep", "300"]));
    let mut seat = Seat::new(&home, &["attach", &id, &plain]);
    seat.shows("error:");
    seat.shows("hint:");
    seat.ends(Some(125));
    let mut seat = Seat::new(&home, &["attach", &id, "99"]);
    seat.shows("error:");
    seat.ends(Some(125));
}

#[test]
fn a_terminal_gets_colours_columns_and_a_sign_of_life() {
    let home = Home::new();
    let id = home.sandbox();
    let mut seat = Seat::new(&home, &["ls"]);
    seat.shows("\u{1b}[1mID ");
    seat.shows(&format!("{id}  -     ready"));
    seat.ends(Some(0));
    let mut seat = Seat::new(&home, &["start", &id, "--window", "2000", "-c", "exec sleep 300"]);
    seat.shows("waiting for output");
    seat.shows("\r\u{1b}[K");
    seat.shows("runs; cursor 0]");
    seat.ends(Some(0));
    let mut seat = Seat::new(&home, &["--color", "never", "info", "nobody"]);
    seat.shows("error: there is no sandbox");
    seat.ends(Some(125));
}

#[test]
fn keys_may_be_typed_faster_than_they_are_read() {
    let home = Home::new();
    let id = home.sandbox();
    let stopped = "stty raw -echo; echo ready; while [ ! -e go ]; do sleep 0.02; done; head -c 20000 | wc -c; exec sleep 300";
    let process = process_of(&home.json(&["start", &id, "--terminal", "--window", "20000", "--until", "text:ready", "-c", stopped]));
    let mut seat = Seat::new(&home, &["attach", &id, &process]);
    seat.shows("ready");
    seat.types(&"x".repeat(20_000));
    home.ok(&["exec", &id, "--", "touch", "go"]);
    seat.shows("20000");
    seat.types("\u{1d}d");
    seat.ends(Some(0));
}

/// The person's terminal is asked and answers; the guest keeps silent.
#[test]
fn questions_of_programs_are_answered_by_the_persons_terminal() {
    let home = Home::new();
    let id = home.sandbox();
    let text = r"read -r go; stty raw -echo; printf '\033[6n'; dd bs=1 count=6 2>/dev/null | od -c; stty sane; echo done; sleep 300";
    let process = process_of(&home.json(&["start", &id, "--terminal", "--until", "input", "-c", text]));
    let mut seat = Seat::new(&home, &["attach", &id, &process]);
    seat.types("go\r");
    seat.shows("\u{1b}[6n");
    seat.types("\u{1b}[9;9R");
    seat.shows("9   ;   9   R");
    seat.shows("done");
    seat.types("\u{1d}d");
    seat.ends(Some(0));
}

#[test]
fn a_replay_leaves_the_terminal_in_order() {
    let home = Home::new();
    let file = home.path().join("full.cast");
    let header = r#"{"version":3,"term":{"cols":80,"rows":24}}"#;
    let events = "[0,\"o\",\"\\u001b[?1049h\\u001b[6nshown\"]\n[3000,\"o\",\"late\"]\n[0.001,\"x\",\"0\"]";
    std::fs::write(&file, format!("{header}\n{events}\n")).unwrap();
    let mut seat = Seat::new(&home, &["replay", file.to_str().unwrap(), "--idle-limit", "10ms"]);
    seat.shows("\u{1b}[?1049hshown");
    seat.shows("late");
    seat.shows("\u{1b}[?1049l");
    seat.ends(Some(0));
}
