//! A caller in a process of its own, for cases in which the caller is killed, or lives in special circumstances.
//!
//! Works on the host that `CRANNOG_HOME` names and prints one JSON object, but for `record`.

#![allow(clippy::unwrap_used, reason = "a part of the tests: a panic is how it says no")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::Duration;

use crannog::{Command, ErrorCode, ExecOutput, Host, ProcessId, Sandbox, SandboxOptions, Signal, Target, Wait};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let host = Host::from_environment().unwrap();
    let answer = match arguments[..] {
        ["exec", sandbox, text] => said(&Sandbox::open(&host, sandbox).await.unwrap().exec(bash(text)).await.unwrap()),
        ["fresh", text] => fresh(&host, bash(text)).await,
        ["fresh", text, user] => fresh(&host, bash(text).user(user)).await,
        ["record", sandbox, process, file] => return record(&host, sandbox, process, file).await,
        ["churn"] => return churn(&host).await,
        ["recycled"] => recycled(&host).await,
        ["full-disk"] => full_disk(&host).await,
        _ => panic!("exec SANDBOX TEXT | fresh TEXT [USER] | record SANDBOX PROCESS FILE | churn | recycled | full-disk"),
    };
    say(&answer);
}

/// Prints a line, at once.
fn say(line: &impl std::fmt::Display) {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).unwrap();
}

fn bash(text: &str) -> Command {
    Command::argv(["bash", "-c", text])
}

async fn fresh(host: &Host, command: Command) -> Value {
    let sandbox = Sandbox::create(host, SandboxOptions::new()).await.unwrap();
    let output = sandbox.exec(command).await;
    sandbox.destroy().await.unwrap();
    said(&output.unwrap())
}

fn said(output: &ExecOutput) -> Value {
    json!({
        "stdout": output.stdout_text(),
        "stderr": output.stderr_text(),
        "exit_code": output.exit_code(),
        "end": output.end.kind(),
        "duration_ms": u64::try_from(output.duration.as_millis()).unwrap(),
    })
}

/// Appends what a process prints to a file, whose length is thereby the cursor to go on from, until the process has ended.
///
/// Killed at any point, it is simply started again. Ends quietly when the sandbox is lost.
async fn record(host: &Host, sandbox: &str, process: &str, file: &str) {
    let sandbox = match Sandbox::open(host, sandbox).await {
        Err(error) if error.code() == ErrorCode::SandboxLost => return,
        answer => answer.unwrap(),
    };
    let process = ProcessId(process.parse().unwrap());
    let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
    loop {
        let cursor = file.metadata().unwrap().len();
        let update = match sandbox.collect(process, Wait::at_most(Duration::from_millis(20)).from_cursor(cursor)).await {
            Err(error) if error.code() == ErrorCode::SandboxLost => return,
            answer => answer.unwrap(),
        };
        assert_eq!(update.start, cursor);
        assert_eq!(update.omitted_bytes, 0, "bytes are missing after {cursor}");
        file.write_all(&update.raw).unwrap();
        if update.end.is_some() && update.raw.is_empty() {
            return;
        }
    }
}

/// Makes sandboxes, fills them with processes and destroys them, for ever. Prints each id.
async fn churn(host: &Host) {
    loop {
        let sandbox = Sandbox::create(host, SandboxOptions::new()).await.unwrap();
        say(sandbox.id());
        for text in ["yes", "trap '' TERM HUP; setsid -f sleep 1000; sleep 1000"] {
            sandbox.start(bash(text).terminal(crannog::TerminalSize::default())).await.unwrap();
            sandbox.start(bash(text)).await.unwrap();
        }
        sandbox.exec(bash("echo work")).await.unwrap();
        sandbox.destroy().await.unwrap();
    }
}

/// Prints more than the disk below the transcripts holds, and accounts for every byte.
async fn full_disk(host: &Host) -> Value {
    const LINES: u64 = 1_000_000;
    let sandbox = Sandbox::create(host, SandboxOptions::new()).await.unwrap();
    let text = format!("python3 -c 'import sys\nfor i in range({LINES}): sys.stdout.write(\"%015d\\n\" % i)'");
    let command = Command::argv(["bash", "-c", &text]);
    let process = sandbox.start(command).await.unwrap().process;
    while sandbox.wait_any(&[process], Duration::from_secs(30)).await.unwrap().is_empty() {}
    let info = sandbox.process(process).await.unwrap();
    let (mut from, mut kept, mut lost, mut misplaced) = (0, 0, 0, 0);
    loop {
        let part = sandbox.read(process, from, 1 << 20, None).await.unwrap();
        lost += part.lost_bytes;
        for piece in &part.parts {
            kept += piece.bytes.len() as u64;
            misplaced += u64::from(!in_place(piece.offset, &piece.bytes));
        }
        from = part.next;
        if from >= part.total {
            break;
        }
    }
    let next = sandbox.exec(bash("echo fine")).await.unwrap();
    let destroyed = sandbox.destroy().await.is_ok();
    json!({
        "printed": info.output_bytes, "listed_lost": info.lost_bytes, "kept": kept, "lost": lost, "misplaced": misplaced,
        "next_exec": next.stdout_text(), "destroyed": destroyed,
    })
}

/// Whether the bytes at this offset are those of the numbered lines of 16 bytes.
fn in_place(offset: u64, bytes: &[u8]) -> bool {
    let begin = offset % 16;
    let lines = (offset / 16..).flat_map(|index| format!("{index:015}\n").into_bytes());
    lines.skip(usize::try_from(begin).unwrap()).zip(bytes).all(|(expected, byte)| expected == *byte)
}

/// Ends a process, gives its kernel number to a bystander, and then kills it by its id in every way there is.
///
/// Needs a process namespace of its own, where the next number can be chosen.
async fn recycled(host: &Host) -> Value {
    let sandbox = Sandbox::create(host, SandboxOptions::new()).await.unwrap();
    let mut same_number = false;
    let mut victim_alive = true;
    for terminal in [false, true].into_iter().cycle().take(20) {
        let mut command = bash("echo $$");
        if terminal {
            command = command.terminal(crannog::TerminalSize::default());
        }
        let ended = sandbox.start_and_collect(command, Wait::at_most(Duration::from_secs(5))).await.unwrap();
        assert!(ended.end.is_some());
        let number: u32 = ended.text.trim().parse().unwrap();
        if std::fs::write("/proc/sys/kernel/ns_last_pid", (number - 1).to_string()).is_err() {
            continue;
        }
        let mut victim = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        same_number |= victim.id() == number;
        for _ in 0..2 {
            let _ = sandbox.kill(ended.process, Some(Duration::ZERO)).await;
            for target in [Target::Foreground, Target::Group, Target::Tree] {
                let _ = sandbox.signal(ended.process, Signal::KILL, target).await;
            }
        }
        victim_alive &= victim.try_wait().unwrap().is_none();
        let _ = victim.kill();
        victim.wait().unwrap();
    }
    sandbox.destroy().await.unwrap();
    json!({ "same_number": same_number, "victim_alive": victim_alive })
}
