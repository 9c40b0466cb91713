//! What a collect can wait for. One engine per process: see `support`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::format_collect)]

mod support;

use std::time::{Duration, Instant};

use crannog_core::collect::{Collect, Reason, Until};
use support::{Sandbox, SpecExt, argv, bash, exited, run, until, until_text, window};

const MS: Duration = Duration::from_millis(1);

fn regex(pattern: &str) -> Collect {
    until(Until::Regex(pattern.to_owned()))
}

#[test]
fn the_window_is_kept_and_the_end_closes_it_early() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["sleep", "0.4"])).unwrap();
        let started = Instant::now();
        let update = sandbox.collect(process, window(100)).await;
        assert_eq!((update.reason, update.end), (Reason::Window, None));
        assert!((100 * MS..300 * MS).contains(&started.elapsed()), "{:?}", started.elapsed());
        let update = sandbox.collect(process, window(20_000)).await;
        assert_eq!((update.reason, update.end), (Reason::Exit, exited(0)));
        assert!(started.elapsed() < 2000 * MS);
    });
}

#[test]
fn text_and_regex_are_found_across_reads() {
    run(async |sandbox| {
        let script = "for c in R E A D Y; do printf $c; sleep 0.03; done; printf '\\n$ '; sleep 60";
        let process = sandbox.engine.start(bash(script).on_terminal()).unwrap();
        let update = sandbox.collect(process, until_text("READY")).await;
        assert_eq!((update.reason, update.text.as_str()), (Reason::Text, "READY"));
        let update = sandbox.collect(process, Collect { cursor: Some(0), ..regex(r"(?m)^\$ $") }).await;
        assert_eq!((update.reason, update.text.as_str()), (Reason::Regex, "READY\r\n$ "));
        // What holds at the start ends the wait at once.
        let update = sandbox.collect(process, Collect { cursor: Some(0), window: Duration::ZERO, ..until_text("EAD") }).await;
        assert_eq!(update.reason, Reason::Text);
    });
}

#[test]
fn a_text_in_the_middle_of_a_flood_is_found() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("yes | head -c 30000000; echo NEEDLE; sleep 60")).unwrap();
        let update = sandbox.collect(process, Collect { budget: Some(100), ..until_text("NEEDLE") }).await;
        assert_eq!(update.reason, Reason::Text);
        assert!(update.text.ends_with("NEEDLE\n") && update.text.len() < 1000);
        assert_eq!((update.omitted_bytes > 29_000_000, update.lost_bytes), (true, 0));
    });
}

#[test]
fn silence_counts_from_the_last_output() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("sleep 0.3; for i in 1 2 3 4; do echo $i; sleep 0.05; done; sleep 60")).unwrap();
        let update = sandbox.collect(process, until(Until::Silent(200 * MS))).await;
        assert_eq!((update.reason, update.text.as_str()), (Reason::Silent, "1\n2\n3\n4\n"));
        let nothing = sandbox.collect(process, Collect { window: 300 * MS, ..until(Until::Silent(50 * MS)) }).await;
        assert_eq!(nothing.reason, Reason::Window, "silence before any output is no sign");
    });
}

#[test]
fn bytes_are_counted_from_the_cursor() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("printf 12345; sleep 0.1; printf 67890; sleep 60")).unwrap();
        let update = sandbox.collect(process, until(Until::Bytes(7))).await;
        assert_eq!((update.reason, update.text.as_str()), (Reason::Bytes, "1234567890"));
    });
}

#[test]
fn bad_conditions_are_refused() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["sleep", "60"])).unwrap();
        for collect in [regex("("), until_text(""), Collect { until: vec![Until::Exit; 17], ..window(0) }] {
            let error = sandbox.engine.collect(process, collect).await.unwrap_err();
            assert_eq!(error.code().as_str(), "invalid_argument");
        }
    });
}

/// Waits for input and answers with a line, as often as told.
async fn converse(sandbox: &Sandbox, arguments: &[&str], on_terminal: bool, lines: &[&str]) -> String {
    let spec = argv(arguments);
    let process = sandbox.engine.start(if on_terminal { spec.on_terminal() } else { spec.with_input() }).unwrap();
    let mut joined = String::new();
    for line in lines {
        let update = sandbox.collect(process, until(Until::Input)).await;
        assert_eq!((update.reason, update.waiting_for_input), (Reason::Input, true), "{arguments:?} {joined} {update:?}");
        joined.push_str(&update.text);
        sandbox.write(process, format!("{line}\n")).await;
    }
    let update = sandbox.collect(process, until(Until::Exit)).await;
    assert_eq!(update.reason, Reason::Exit, "{arguments:?} {joined} {update:?}");
    joined + &update.text
}

#[test]
fn a_process_that_waits_for_input_is_recognised() {
    run(async |sandbox| {
        let quiet = "read -s a; sleep 0.2; read -s b; echo \"$a-$b\"";
        assert_eq!(converse(&sandbox, &["bash", "-c", quiet], true, &["1", "2"]).await, "1-2\r\n");
        let slow = "read a; sleep 0.3; echo mid; read b; echo \"$a-$b\"";
        assert_eq!(converse(&sandbox, &["bash", "-c", slow], false, &["1", "2"]).await, "mid\n1-2\n");
        let python = "a=input('first? '); import time; time.sleep(0.2); b=input('second? '); print(int(a)+int(b))";
        let text = converse(&sandbox, &["python3", "-c", python], true, &["20", "22"]).await;
        assert!(text.starts_with("first? 20\r\nsecond? 22\r\n") && text.ends_with("42\r\n"), "{text}");
        let select =
            "import select,sys,os\nselect.select([0],[],[])\nos.read(0,9)\np=select.poll(); p.register(0,1); p.poll()\nprint('ok')";
        assert_eq!(converse(&sandbox, &["python3", "-c", select], false, &["a", "b"]).await, "ok\n");
        let shell = converse(&sandbox, &["bash", "--norc", "--noprofile", "-i"], true, &["sleep 0.2; echo one", "exit 5"]).await;
        assert_eq!(shell.matches("one\r\n").count(), 2, "{shell}");
    });
}

#[test]
fn a_process_that_works_or_sleeps_does_not_wait_for_input() {
    run(async |sandbox| {
        for script in ["sleep 60", "while :; do :; done", "sleep 60 | cat", "read x < <(sleep 60)"] {
            for on_terminal in [true, false] {
                let spec = bash(script);
                let process = sandbox.engine.start(if on_terminal { spec.on_terminal() } else { spec.with_input() }).unwrap();
                let update = sandbox.collect(process, Collect { window: 150 * MS, ..until(Until::Input) }).await;
                assert_eq!((update.reason, update.waiting_for_input), (Reason::Window, false), "{script}");
                sandbox.engine.kill(process, Duration::ZERO).await.unwrap();
            }
        }
    });
}

#[test]
fn echo_is_told_of_terminals() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("stty -echo; echo off; read x; stty echo; echo on; read x").on_terminal()).unwrap();
        assert_eq!(sandbox.collect(process, until_text("off")).await.echo, Some(false));
        sandbox.write(process, "\n").await;
        assert_eq!(sandbox.collect(process, until_text("on")).await.echo, Some(true));
        let pipes = sandbox.engine.start(argv(&["sleep", "60"])).unwrap();
        assert_eq!(sandbox.collect(pipes, window(0)).await.echo, None);
    });
}
