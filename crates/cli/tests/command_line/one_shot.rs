//! `run` and `exec`: streams, exit codes, signals, and that nothing stays behind.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{Home, bytes_of, eventually, marker, processes_running, processes_with, signal};
use rustix::process::Signal;

#[test]
fn the_commands_code_and_streams_are_this_commands_own() {
    let home = Home::new();
    let id = home.sandbox();
    for code in [0, 1, 2, 3, 42, 124, 125, 126, 127, 128, 255] {
        let output = home.run(&["exec", &id, "--", "sh", "-c", &format!("printf out; printf err >&2; exit {code}")]);
        assert_eq!((output.status.code(), &*output.stdout, &*output.stderr), (Some(code), &b"out"[..], &b"err"[..]));
    }
    let output = home.run(&["exec", &id, "--", "sh", "-c", "kill -SEGV $$"]);
    assert_eq!(output.status.code(), Some(128 + 11));
}

#[test]
fn a_fresh_sandbox_comes_and_goes_with_one_command() {
    let home = Home::new();
    let sleep = marker();
    let output = home.run(&["run", "-c", &format!("pwd; setsid sleep {sleep} >/dev/null 2>&1 & touch left; exit 7")]);
    assert_eq!(output.status.code(), Some(7));
    let workspace = String::from_utf8(output.stdout).unwrap();
    assert!(!std::path::Path::new(workspace.trim()).exists(), "{workspace}");
    assert_eq!(processes_with(&sleep), Vec::<u32>::new());
    assert_eq!(home.json(&["ls"]), serde_json::json!([]));
    let output = home.run(&["run", "--terminal", "--", "sh", "-c", "test -t 0 && test -t 1 && stty size"]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"24 80\r\n"[..]));
}

#[test]
fn what_cannot_be_started_has_a_code_of_its_own_and_changes_nothing() {
    let home = Home::new();
    let id = home.sandbox();
    let workspace = home.json(&["info", &id])["workspace"].as_str().unwrap().to_owned();
    std::fs::write(format!("{workspace}/plain"), "text").unwrap();
    for (arguments, exit, code) in [
        (&["exec", &id, "--", "no-such-program"][..], 127, "program_not_found"),
        (&["exec", &id, "--", "./plain"], 126, "program_not_executable"),
        (&["exec", &id, "--cwd", "missing", "--", "true"], 125, "working_directory_not_found"),
        (&["exec", &id, "--", ""], 125, "invalid_argument"),
        (&["start", &id, "--", "no-such-program"], 127, "program_not_found"),
        (&["run", "--", "no-such-program"], 127, "program_not_found"),
    ] {
        let (status, error) = home.error(arguments);
        assert_eq!((status, error["code"].as_str()), (exit, Some(code)), "{arguments:?}: {error}");
        assert!(error["hint"].as_str().is_some(), "{error}");
        let plain = home.run(arguments);
        let text = String::from_utf8(plain.stderr).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert!(matches!(lines[..], [error, hint] if error.starts_with("error: ") && hint.starts_with("hint: ")), "{text}");
        assert!(plain.stdout.is_empty());
    }
    assert_eq!(home.json(&["ps", &id]), serde_json::json!([]));
    assert_eq!(home.json(&["ls"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_timeout_ends_the_tree_and_keeps_what_was_printed() {
    let home = Home::new();
    let id = home.sandbox();
    let sleep = marker();
    let began = Instant::now();
    let text = format!("echo before; setsid sleep {sleep} & sleep {sleep}");
    let output = home.run(&["exec", &id, "--timeout", "0.5", "-c", &text]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(124), &b"before\n"[..]));
    assert!(began.elapsed() < Duration::from_secs(5));
    eventually("nothing is left", || processes_with(&sleep).is_empty());
    let output = home.run(&["--json", "exec", &id, "--timeout", "0.5", "--", "sleep", &sleep]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &document["end"]["kind"], &document["end"]["after_ms"]),
        (Some(124), &"timed_out".into(), &500.into())
    );
}

#[test]
fn json_holds_the_bytes_of_each_stream() {
    let home = Home::new();
    let id = home.sandbox();
    let output = home.run(&["--json", "exec", &id, "-c", "printf '\\377\\000a'; printf '\\303' >&2; exit 5"]);
    assert_eq!(output.status.code(), Some(5));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((bytes_of(&document, "stdout_b64"), bytes_of(&document, "stderr_b64")), (b"\xff\0a".to_vec(), b"\xc3".to_vec()));
    assert_eq!((&document["exit_code"], &document["end"]), (&5.into(), &serde_json::json!({"kind": "exited", "code": 5})));
    assert!(document["duration_ms"].as_u64().is_some());
}

#[test]
fn input_comes_from_a_file_or_from_our_own() {
    let home = Home::new();
    let id = home.sandbox();
    assert_eq!(home.run(&["exec", &id, "--", "cat"]).stdout, b"", "end of file at once");
    let file = home.path().join("input");
    std::fs::write(&file, b"from a file\0\xff").unwrap();
    assert_eq!(home.run(&["exec", &id, "--stdin", file.to_str().unwrap(), "--", "cat"]).stdout, b"from a file\0\xff");
    assert_eq!(home.run_with_input(&["run", "--stdin", "-", "--", "cat"], b"from ours").stdout, b"from ours");
    let (code, error) = home.error(&["exec", &id, "--stdin", "/no/such/file", "--", "cat"]);
    assert_eq!((code, error["code"].as_str()), (125, Some("local_file_read_error")));
}

#[test]
fn much_input_goes_in_and_much_output_comes_out_whole() {
    let home = Home::new();
    let id = home.sandbox();
    let input: Vec<u8> = (0..20_000_000_u32).map(|number| u8::try_from(number * 7 % 251).unwrap()).collect();
    let output = home.run_with_input(&["exec", &id, "--stdin", "-", "--", "cat"], &input);
    assert!(output.status.success() && output.stdout == input, "{} of {} bytes", output.stdout.len(), input.len());
    let output = home.run_with_input(&["exec", &id, "--stdin", "-", "--", "head", "-c", "5"], &input);
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &input[..5]), "it may stop reading");
}

#[test]
fn a_slow_reader_slows_the_command_and_loses_nothing() {
    let home = Home::new();
    let id = home.sandbox();
    // More than is ever kept of a transcript, so that only the pace can save it.
    let bytes: usize = 100_000_000;
    let mut child = home.command(&["exec", &id, "-c", &format!("yes 0123456789abcde | head -c {bytes}")]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut first = [0; 1];
    stdout.read_exact(&mut first).unwrap();
    let ahead = || home.json(&["ps", &id])[0]["output_bytes"].as_u64().unwrap();
    eventually("the command stands still", || {
        let before = ahead();
        std::thread::sleep(Duration::from_millis(300));
        before > 0 && ahead() == before
    });
    assert!(ahead() < bytes as u64 / 2, "it did not run ahead of its reader");
    let mut count = first.len();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let length = stdout.read(&mut chunk).unwrap();
        if length == 0 {
            break;
        }
        for byte in &chunk[..length] {
            assert_eq!(*byte, b"0123456789abcde\n"[count % 16], "at byte {count}");
            count += 1;
        }
    }
    assert_eq!(count, bytes);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_signal_is_passed_on_and_the_code_tells() {
    let home = Home::new();
    let id = home.sandbox();
    for (sent, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let sleep = marker();
        let text = format!("setsid sleep {sleep} & echo ready; sleep {sleep}");
        let mut child = home.command(&["exec", &id, "-c", &text]).spawn().unwrap();
        wait_for_line(&mut child);
        // A shell takes the signal for itself until its child has become the program: one that comes in between is lost.
        eventually("both sleep", || processes_running(&["sleep", &sleep]) == 2);
        signal(&child, sent);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        eventually("nothing is left", || processes_with(&sleep).is_empty());
    }
}

#[test]
fn a_command_may_answer_a_signal_in_its_own_way() {
    let home = Home::new();
    let mut child = home.command(&["run", "-c", "trap 'echo bye; exit 9' INT; echo ready; while :; do sleep 0.05; done"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    signal(&child, Signal::INT);
    assert_eq!(lines.next().unwrap().unwrap(), "bye");
    assert_eq!(child.wait().unwrap().code(), Some(9));
    assert_eq!(home.json(&["ls"]), serde_json::json!([]));
}

#[test]
fn a_command_that_ignores_the_signal_is_ended_all_the_same() {
    let home = Home::new();
    let sleep = marker();
    let mut child = home.command(&["run", "-c", &format!("trap '' TERM; echo ready; sleep {sleep}; sleep {sleep}")]).spawn().unwrap();
    wait_for_line(&mut child);
    let began = Instant::now();
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(began.elapsed() < Duration::from_secs(6));
    assert_eq!(processes_with(&sleep), Vec::<u32>::new());
    assert_eq!(home.json(&["ls"]), serde_json::json!([]));
}

#[test]
fn the_command_ends_with_a_caller_that_is_killed() {
    let home = Home::new();
    let id = home.sandbox();
    let sleep = marker();
    let mut child = home.command(&["exec", &id, "-c", &format!("setsid sleep {sleep} & echo ready; sleep {sleep}")]).spawn().unwrap();
    wait_for_line(&mut child);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    eventually("nothing is left", || processes_with(&sleep).is_empty());
    assert_eq!(home.ok(&["exec", &id, "--", "echo", "goes on"]), "goes on\n");
}

#[test]
fn the_command_ends_quietly_when_nobody_reads_any_more() {
    let home = Home::new();
    let id = home.sandbox();
    let sleep = marker();
    let mut child = home.command(&["exec", &id, "-c", &format!("sleep {sleep} & exec yes")]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut chunk = [0; 4096];
    stdout.read_exact(&mut chunk).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(141), &b""[..]));
    eventually("nothing is left", || processes_with(&sleep).is_empty());
}

#[test]
fn a_background_process_does_not_delay_the_end() {
    let home = Home::new();
    let id = home.sandbox();
    let sleep = marker();
    let began = Instant::now();
    assert_eq!(home.ok(&["exec", &id, "-c", &format!("sleep {sleep} & echo done")]), "done\n");
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(processes_with(&sleep).len(), 1, "it was left running on purpose");
}

#[test]
fn arguments_and_variables_are_passed_byte_for_byte() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    let id = home.sandbox();
    let odd = OsStr::from_bytes(b"a b\xff'\"$x\n");
    let mut command = home.command(&["exec", &id]);
    command.arg("--env").arg(OsStr::from_bytes(b"ODD=\xfe=x")).args(["--", "sh", "-c", "printf '%s|%s' \"$1\" \"$ODD\"", "sh"]).arg(odd);
    assert_eq!(command.output().unwrap().stdout, b"a b\xff'\"$x\n|\xfe=x");
}

#[test]
fn it_works_in_poor_surroundings() {
    let home = Home::new();
    let id = home.sandbox();
    let gone = tempfile::tempdir().unwrap();
    let script = "rmdir \"$PWD\"; exec \"$0\" exec \"$1\" -- sh -c 'echo out; exit 4'";
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", script, crate::support::CRANNOG, &id]).current_dir(gone.path());
    command.env_clear().env("CRANNOG_HOME", home.path()).env("CRANNOG_GUEST", std::env::var_os("CRANNOG_GUEST").unwrap());
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(4), &b"out\n"[..]), "{output:?}");
    let closed = "exec \"$0\" exec \"$1\" -- sh -c 'echo out; exit 4' >&- 2>&- <&-";
    let mut command = std::process::Command::new("/bin/sh");
    let status = command.args(["-c", closed, crate::support::CRANNOG, &id]).env("CRANNOG_HOME", home.path()).status().unwrap();
    assert_eq!(status.code(), Some(4));
    std::mem::forget(gone);
}

fn wait_for_line(child: &mut std::process::Child) {
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    // Read on, so that the command is not told that nobody does.
    std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
}

#[test]
fn a_closed_stdin_of_ours_is_no_input() {
    let home = Home::new();
    let mut command = home.command(&["run", "--stdin", "-", "--", "cat"]);
    assert_eq!(command.stdin(Stdio::null()).output().unwrap().stdout, b"");
}
