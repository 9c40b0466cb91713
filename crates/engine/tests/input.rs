//! Input: control keys, big pastes, order, and the end of input. One engine per process: see `support`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::format_collect)]

mod support;

use std::time::{Duration, Instant};

use crannog_core::collect::{Collect, Until};
use crannog_core::end::End;
use crannog_core::process::{TerminalSize, WriteSpec};
use crannog_core::signal::Signal;
use support::{SpecExt, argv, bash, eventually, exited, input, is_running, run, until, until_text, window};

const SECOND: Duration = Duration::from_secs(1);

fn impatient(bytes: impl AsRef<[u8]>, patience: Duration) -> WriteSpec {
    WriteSpec { patience, ..input(bytes) }
}

#[test]
fn piped_input_ends_when_it_is_closed() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["sort"]).with_input()).unwrap();
        assert_eq!(sandbox.write(process, "b\na\n").await.accepted, 4);
        sandbox.engine.close_stdin(process).unwrap();
        let update = sandbox.end_of(process).await;
        assert_eq!((update.text.as_str(), update.end), ("a\nb\n", exited(0)));
        sandbox.engine.close_stdin(process).unwrap();
        assert_eq!(sandbox.engine.write(process, input("c")).await.unwrap_err().code().as_str(), "process_ended");
        let open = sandbox.engine.start(bash("cat; sleep 60").with_input()).unwrap();
        sandbox.engine.close_stdin(open).unwrap();
        assert_eq!(sandbox.engine.write(open, input("c")).await.unwrap_err().code().as_str(), "stdin_closed");
        assert!(!sandbox.engine.info(open).unwrap().stdin_open);
    });
}

#[test]
fn a_process_without_input_takes_only_an_interrupt() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("trap 'echo got; exit 42' INT; echo ready; while :; do sleep 0.05; done")).unwrap();
        sandbox.collect(process, until_text("ready")).await;
        assert_eq!(sandbox.engine.write(process, input("x")).await.unwrap_err().code().as_str(), "stdin_closed");
        assert_eq!(sandbox.write(process, "").await.accepted, 0);
        assert_eq!(sandbox.write(process, "\x03").await.accepted, 1);
        let update = sandbox.end_of(process).await;
        assert_eq!((update.text.as_str(), update.end), ("ready\ngot\n", exited(42)));
        assert_eq!(sandbox.engine.write(process, input("\x03")).await.unwrap_err().code().as_str(), "process_ended");
    });
}

#[test]
fn control_keys_mean_what_the_terminal_says() {
    run(async |sandbox| {
        let process =
            sandbox.engine.start(argv(&["python3", "-c", "import time; print('up', flush=True); time.sleep(60)"]).on_terminal()).unwrap();
        sandbox.collect(process, until_text("up")).await;
        sandbox.write(process, "\x03").await;
        assert_eq!(sandbox.end_of(process).await.end.unwrap().exit_code(), Some(130));

        let cat = sandbox.engine.start(argv(&["cat"]).on_terminal()).unwrap();
        sandbox.write(cat, "abc\x04").await;
        assert_eq!(sandbox.collect(cat, until_text("abcabc")).await.end, None);
        sandbox.write(cat, "\x04").await;
        assert_eq!(sandbox.end_of(cat).await.end, exited(0));

        let line = sandbox.engine.start(bash("read x; echo \"got:[$x]\"").on_terminal()).unwrap();
        sandbox.write(line, "abc\r").await;
        assert_eq!(sandbox.end_of(line).await.text, "abc\r\ngot:[abc]\r\n");

        let leader = sandbox.engine.start(bash("echo up; exec sleep 100").on_terminal()).unwrap();
        sandbox.collect(leader, until_text("up")).await;
        sandbox.write(leader, "\x1a").await;
        assert!(sandbox.collect(leader, until_text("^Z")).await.end.is_none());
        assert!(sandbox.engine.kill(leader, SECOND).await.unwrap().complete);
    });
}

#[test]
fn output_that_nobody_collected_survives_an_interrupt() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("seq 1 2000; echo MARK; exec sleep 3210").on_terminal()).unwrap();
        eventually("it has printed and sleeps", || is_running("sleep 3210")).await;
        sandbox.write(process, "\x03").await;
        let update = sandbox.end_of(process).await;
        assert!(update.text.contains("\r\n2000\r\nMARK\r\n"));
        assert_eq!(update.end.unwrap().exit_code(), Some(130));
    });
}

#[test]
fn a_password_prompt_is_on_the_terminal_and_not_echoed() {
    run(async |sandbox| {
        let spec = bash("read -s -p 'Password: ' p </dev/tty; echo; echo got:$p").on_terminal();
        let process = sandbox.engine.start(spec).unwrap();
        let prompt = sandbox.collect(process, until_text("Password: ")).await;
        assert_eq!(prompt.text, "Password: ");
        let asleep = sandbox.collect(process, until(Until::Input)).await;
        assert_eq!((asleep.echo, asleep.waiting_for_input), (Some(false), true));
        sandbox.write(process, "s3cret\n").await;
        let rest = sandbox.collect(process, until(Until::Exit)).await;
        assert_eq!(rest.text, "\r\ngot:s3cret\r\n");
    });
}

#[test]
fn a_megabyte_is_pasted_into_a_terminal_that_echoes() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["wc", "-c"]).on_terminal()).unwrap();
        let paste = format!("{}\n", "x".repeat(79)).repeat(12_500);
        let written = sandbox.write(process, &paste).await;
        assert_eq!((written.accepted, written.line_too_long), (1_000_000, false));
        sandbox.write(process, "\x04\x04").await;
        assert!(sandbox.end_of(process).await.text.ends_with("1000000\r\n"));
    });
}

#[test]
fn a_line_that_does_not_fit_is_told_and_harms_nothing() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["cat"]).on_terminal()).unwrap();
        let fits = sandbox.write(process, format!("{}\n", "b".repeat(4095))).await;
        assert!(!fits.line_too_long);
        sandbox.collect(process, Collect { cursor: Some(0), ..until(Until::Bytes(2 * 4097)) }).await;
        let written = sandbox.write(process, format!("{}\n", "a".repeat(5000))).await;
        assert_eq!((written.accepted, written.line_too_long), (5001, true));
        // Then the line has been copied.
        sandbox.collect(process, until(Until::Input)).await;
        sandbox.write(process, "next\n").await;
        let update = sandbox.collect(process, Collect { cursor: Some(0), ..until_text("next\r\nnext\r\n") }).await;
        let kept = update.text.lines().rev().nth(2).unwrap();
        assert_eq!((kept.len(), kept.trim_matches('a')), (4095, ""));
    });
}

#[test]
fn a_write_that_nobody_reads_says_how_much_was_taken() {
    run(async |sandbox| {
        let pipe = sandbox.engine.start(argv(&["sleep", "60"]).with_input()).unwrap();
        let started = Instant::now();
        let written = sandbox.engine.write(pipe, impatient(vec![b'x'; 1_000_000], SECOND / 2)).await.unwrap();
        assert_eq!(written.accepted, 65_536);
        assert!(started.elapsed() < 2 * SECOND);

        let terminal = sandbox.engine.start(argv(&["sleep", "60"]).on_terminal()).unwrap();
        let engine = sandbox.engine.clone();
        let blocked = tokio::spawn(async move { engine.write(terminal, impatient("y\n".repeat(500_000), 20 * SECOND)).await });
        tokio::task::yield_now().await;
        // The blocked write blocks nobody else.
        let started = Instant::now();
        assert_eq!(sandbox.finish(argv(&["echo", "ok"])).await.text, "ok\n");
        sandbox.engine.resize(terminal, TerminalSize { rows: 40, columns: 100 }).unwrap();
        sandbox.engine.close_stdin(pipe).unwrap();
        assert!(sandbox.engine.kill(pipe, SECOND).await.unwrap().complete);
        assert!(sandbox.engine.kill(terminal, SECOND).await.unwrap().complete);
        assert!(blocked.await.unwrap().unwrap().accepted < 1_000_000);
        assert!(started.elapsed() < 5 * SECOND, "{:?}", started.elapsed());
    });
}

#[test]
fn writes_stay_in_one_piece_each() {
    run(async |sandbox| {
        let script = "import sys,tty,os,itertools\ntty.setraw(0); os.write(1,b'raw')\nd=b''\nwhile len(d)<200000: d+=os.read(0,65536)\nprint('runs',len(list(itertools.groupby(d))))";
        let process = sandbox.engine.start(argv(&["python3", "-c", script]).on_terminal()).unwrap();
        sandbox.collect(process, until_text("raw")).await;
        let (first, second) = tokio::join!(
            sandbox.engine.write(process, input(vec![b'A'; 100_000])),
            sandbox.engine.write(process, input(vec![b'B'; 100_000]))
        );
        assert_eq!((first.unwrap().accepted, second.unwrap().accepted), (100_000, 100_000));
        assert!(sandbox.end_of(process).await.text.contains("runs 2"));
    });
}

#[test]
fn a_repeated_write_is_made_once() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["cat"]).with_input()).unwrap();
        let spec = WriteSpec { write_id: Some("w-1".to_owned()), ..input("once\n") };
        let (first, second) = tokio::join!(sandbox.engine.write(process, spec.clone()), sandbox.engine.write(process, spec.clone()));
        assert_eq!((first.unwrap().repeated, second.unwrap().repeated), (false, true));
        sandbox.engine.close_stdin(process).unwrap();
        assert_eq!(sandbox.end_of(process).await.text, "once\n");
        let late = sandbox.engine.write(process, spec).await.unwrap();
        assert_eq!((late.accepted, late.repeated), (5, true));
    });
}

#[test]
fn a_dropped_write_runs_to_its_end() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("sleep 0.2; wc -c").with_input()).unwrap();
        let write = sandbox.engine.write(process, input(vec![b'x'; 300_000]));
        assert!(tokio::time::timeout(Duration::from_millis(50), write).await.is_err());
        sandbox.engine.close_stdin(process).unwrap();
        assert_eq!(sandbox.end_of(process).await.text, "300000\n");
    });
}

#[test]
fn a_process_that_closed_its_input_says_so() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("exec <&-; echo closed; sleep 60").with_input()).unwrap();
        sandbox.collect(process, until_text("closed")).await;
        assert_eq!(sandbox.engine.write(process, input("x")).await.unwrap_err().code().as_str(), "stdin_closed");
        assert!(!sandbox.engine.info(process).unwrap().stdin_open);
        let gone = sandbox.engine.start(bash("exit 3").on_terminal()).unwrap();
        sandbox.end_of(gone).await;
        for bytes in ["x\n", "\x03"] {
            assert_eq!(sandbox.engine.write(gone, input(bytes)).await.unwrap_err().code().as_str(), "process_ended");
        }
    });
}

#[test]
fn bad_writes_are_refused() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["sleep", "60"]).with_input()).unwrap();
        let long = WriteSpec { write_id: Some("x".repeat(129)), ..input("x") };
        for spec in [long, input(vec![0; 5 * 1024 * 1024])] {
            assert_eq!(sandbox.engine.write(process, spec).await.unwrap_err().code().as_str(), "invalid_argument");
        }
        let waiting: Vec<_> = (0..70)
            .map(|_| {
                let engine = sandbox.engine.clone();
                tokio::spawn(async move { engine.write(process, impatient(vec![b'x'; 70_000], SECOND / 2)).await })
            })
            .collect();
        let mut refused = 0;
        for write in waiting {
            refused += usize::from(write.await.unwrap().is_err_and(|error| error.code().as_str() == "invalid_argument"));
        }
        assert!((1..=6).contains(&refused), "{refused}");
    });
}

#[test]
fn a_resize_is_seen_by_the_program() {
    run(async |sandbox| {
        let process = sandbox
            .engine
            .start(bash("trap 'stty size' WINCH; echo ready; for i in $(seq 200); do sleep 0.02; done").on_terminal())
            .unwrap();
        sandbox.collect(process, until_text("ready")).await;
        sandbox.engine.resize(process, TerminalSize { rows: 50, columns: 132 }).unwrap();
        sandbox.collect(process, until_text("50 132")).await;
        assert_eq!(sandbox.engine.kill(process, SECOND).await.unwrap().end, End::Cancelled { signal: Signal::TERM });
        let late = sandbox.engine.resize(process, TerminalSize::default()).unwrap_err();
        assert_eq!(late.code().as_str(), "process_ended");
        let pipes = sandbox.engine.start(argv(&["sleep", "60"])).unwrap();
        assert_eq!(sandbox.engine.resize(pipes, TerminalSize::default()).unwrap_err().code().as_str(), "not_a_terminal");
    });
}

#[test]
fn a_terminal_that_was_closed_by_its_program_is_still_its_terminal() {
    run(async |sandbox| {
        let script = "exec </dev/null >/dev/null 2>&1; sleep 0.3; echo back > /dev/tty; sleep 0.1";
        let update = sandbox.finish(bash(script).on_terminal()).await;
        assert_eq!((update.text.as_str(), update.end), ("back\r\n", exited(0)));
    });
}

#[test]
fn a_fresh_terminal_is_sane_whatever_the_last_program_did() {
    run(async |sandbox| {
        let shell = sandbox.engine.start(argv(&["bash", "--norc", "--noediting", "-i"]).on_terminal()).unwrap();
        sandbox.write(shell, "stty -echo -icanon raw\n").await;
        sandbox.write(shell, "stty sane\n").await;
        sandbox.write(shell, "echo vis''ible\n").await;
        sandbox.collect(shell, until_text("visible")).await;
        let modes = sandbox.finish(argv(&["stty", "-a"]).on_terminal()).await.text;
        for mode in ["echo ", "icanon ", "isig ", "onlcr "] {
            assert!(modes.contains(mode) && !modes.contains(&format!("-{mode}")), "{mode}: {modes}");
        }
        let update = sandbox.collect(shell, window(0)).await;
        assert!(update.end.is_none());
    });
}
