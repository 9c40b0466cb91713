//! Recordings of real terminals. One engine per process: see `support`.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use crannog_core::collect::Until;
use crannog_core::error::ErrorCode;
use crannog_core::id::ProcessId;
use crannog_core::process::{StartSpec, TerminalSize};
use crannog_core::screen::{RecordingState, ScreenRequest};
use crannog_engine::Emulator;
use serde_json::Value;
use support::{Sandbox, SpecExt, argv, bash, run, run_with, until, until_text};

fn recorded(spec: StartSpec) -> StartSpec {
    StartSpec { record: true, ..spec.on_terminal() }
}

/// The lines of a recording and how it stands.
fn read(sandbox: &Sandbox, process: ProcessId) -> (Vec<Value>, RecordingState) {
    let mut bytes = Vec::new();
    loop {
        let part = sandbox.engine.recording(process, bytes.len() as u64, 1_000).unwrap();
        if part.bytes.is_empty() {
            let text = String::from_utf8(bytes).unwrap();
            return (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), part.state);
        }
        bytes.extend(part.bytes);
    }
}

fn of_kind(lines: &[Value], kind: &str) -> String {
    lines[1..].iter().filter(|event| event[1] == kind).map(|event| event[2].as_str().unwrap()).collect()
}

#[test]
fn a_recording_shows_the_same_screen_when_it_is_played() {
    run(async |sandbox| {
        let process = sandbox.engine.start(recorded(argv(&["vim", "-u", "NONE", "-N"]))).unwrap();
        sandbox.collect(process, until(Until::Input)).await;
        sandbox.write(process, "ig\u{fc}n \u{4e2d}\x1b:set number\r").await;
        sandbox.collect(process, until(Until::Silent(Duration::from_millis(500)))).await;
        let screen = sandbox.engine.screen(process, ScreenRequest::default()).await.unwrap();
        let (lines, state) = read(&sandbox, process);
        assert_eq!((&lines[0]["version"], &lines[0]["term"]["cols"], state), (&Value::from(3), &Value::from(80), RecordingState::Running));
        let mut player = Emulator::new(TerminalSize::default());
        player.feed(of_kind(&lines, "o").as_bytes()).unwrap();
        let shown: Vec<_> = screen.rows.iter().map(|row| row.text.clone()).collect();
        assert!(shown[0].contains("g\u{fc}n \u{4e2d}"), "{shown:?}");
        assert_eq!((player.rows().unwrap(), player.cursor()), (shown, screen.cursor));
        sandbox.engine.resize(process, TerminalSize { rows: 30, columns: 100 }).unwrap();
        sandbox.write(process, ":cquit\r").await;
        sandbox.end_of(process).await;
        let (lines, state) = read(&sandbox, process);
        assert_eq!((of_kind(&lines, "r"), of_kind(&lines, "x"), state), ("100x30".to_owned(), "1".to_owned(), RecordingState::Complete));
    });
}

#[test]
fn passwords_are_not_recorded_and_other_typing_is() {
    run(async |sandbox| {
        let text = "read -p 'name: ' name; read -s -p 'password: ' word; echo; [ $word = $EXPECTED ] && echo right; cat";
        let process = sandbox.engine.start(recorded(bash(text).with("EXPECTED", "s3cret"))).unwrap();
        sandbox.collect(process, until_text("name: ")).await;
        sandbox.collect(process, until(Until::Input)).await;
        sandbox.write(process, "ann\n").await;
        sandbox.collect(process, until_text("password: ")).await;
        sandbox.collect(process, until(Until::Input)).await;
        sandbox.write(process, "s3cret\n").await;
        sandbox.collect(process, until_text("right")).await;
        sandbox.collect(process, until(Until::Input)).await;
        sandbox.write(process, "more\n").await;
        sandbox.collect(process, until_text("more\r\nmore")).await;
        let (lines, _) = read(&sandbox, process);
        assert_eq!(of_kind(&lines, "i"), "ann\nmore\n");
        assert!(of_kind(&lines, "o").contains("right") && !format!("{lines:?}").contains("s3cret"), "{lines:?}");
    });
}

#[test]
fn only_terminals_are_recorded_and_only_where_there_is_room() {
    run(async |sandbox| {
        let pipes = StartSpec { record: true, ..bash("true") };
        assert_eq!(sandbox.engine.start(pipes).unwrap_err().code(), ErrorCode::InvalidArgument);
        let plain = sandbox.engine.start(bash("true").on_terminal()).unwrap();
        assert_eq!(sandbox.engine.recording(plain, 0, 1).unwrap_err().code(), ErrorCode::NotRecorded);
    });
    run_with(
        |config| config.spill = Some("/nowhere".into()),
        async |sandbox| {
            let process = sandbox.engine.start(recorded(bash("echo goes on"))).unwrap();
            assert_eq!(sandbox.end_of(process).await.text, "goes on\r\n");
            assert_eq!(sandbox.engine.recording(process, 0, 1).unwrap().state, RecordingState::Failed);
        },
    );
}
