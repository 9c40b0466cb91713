//! The compatible surface on real processes: what its clients rely on, and the defects that they need not fear here.

#![allow(clippy::unwrap_used)]

mod common;

use std::time::{Duration, Instant};

use common::{eventually, lines, tagged, with_sandbox};
use crannog::compat::{CompatError, CompatSession, ErrorClass, PtyExecUpdate, PtyStart, Shell, Value};
use crannog::{Command, Sandbox};

fn words(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

fn start(text: &str, tty: bool, yield_time_s: f64) -> PtyStart {
    PtyStart { tty, yield_time_s: Some(yield_time_s), ..PtyStart::shell(text) }
}

fn text(update: &PtyExecUpdate) -> &str {
    std::str::from_utf8(&update.output).unwrap()
}

fn class(error: &CompatError) -> ErrorClass {
    error.record().unwrap().class()
}

async fn with_session<Test: Future<Output = ()>>(test: impl FnOnce(CompatSession) -> Test) {
    with_sandbox(|sandbox: Sandbox| test(CompatSession::new(sandbox))).await;
}

#[tokio::test]
async fn exec_answers_streams_and_code_and_takes_a_code_for_no_error() {
    with_session(|session| async move {
        let run = async |parts: &[&str], shell: Shell| session.exec(&words(parts), None, &shell, None).await.unwrap();
        let result = run(&["echo out; echo err >&2; exit 3"], Shell::Session).await;
        assert_eq!((&*result.stdout, &*result.stderr, result.exit_code), (&b"out\n"[..], &b"err\n"[..], 3));
        assert!(!result.ok());
        assert_eq!(run(&["kill -9 $$"], Shell::Session).await.exit_code, -9);
        assert_eq!(run(&["no_such_command_zz"], Shell::Session).await.exit_code, 127);
        assert_eq!(run(&["printf", "%s|", "a b", "$HOME"], Shell::Session).await.stdout, b"a b|$HOME|");
        assert_eq!(run(&["printf", "%s|", "a b", "$HOME"], Shell::None).await.stdout, b"a b|$HOME|");
        assert_eq!(run(&["echo $0"], Shell::Argv(words(&["bash", "-c"]))).await.stdout, b"bash\n");
        assert_eq!(run(&["cat"], Shell::Session).await.stdout, b"", "input is nobody's");
    })
    .await;
}

#[tokio::test]
async fn the_working_directory_changes_no_meaning() {
    with_session(|session| async move {
        let root = session.sandbox().workspace().to_str().unwrap().to_owned();
        let run = async |text: &str| session.exec(&words(&[text]), None, &Shell::Session, None).await.unwrap();
        assert_eq!(run("sleep 0 & pwd").await.stdout, format!("{root}\n").into_bytes());
        assert_eq!(run("").await.exit_code, 0);
        run(&format!("printf '#!/bin/sh\\necho ran $1\\n' > run.sh; chmod +x {root}/run.sh")).await;
        assert_eq!(run(&format!("{root}/run.sh {root}/x")).await.stdout, format!("ran {root}/x\n").into_bytes());
        let argv = words(&["echo", &format!("{root}/../x")]);
        let plain = session.exec(&argv, None, &Shell::None, None).await.unwrap();
        assert_eq!(plain.stdout, format!("{root}/../x\n").into_bytes());
    })
    .await;
}

#[tokio::test]
async fn a_timeout_ends_the_whole_tree_and_nobody_else() {
    with_session(|session| async move {
        let id = session.sandbox().id().clone();
        let bystander = session.sandbox().start(Command::shell("sleep 1001 & wait")).await.unwrap();
        eventually("the bystander runs", async || tagged(&id).len() == 2).await;
        let began = Instant::now();
        let text = words(&["setsid sleep 1001 & sleep 1001 & wait"]);
        let error = session.exec(&text, Some(Duration::from_millis(300)), &Shell::Session, None).await.unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(error.to_string(), "command timed out");
        let record = error.record().unwrap();
        assert_eq!(record.class(), ErrorClass::ExecTimeout);
        assert_eq!(record.context["timeout_s"], Value::Number(0.3));
        assert_eq!(record.context["command_str"], Value::Text("sh -c setsid sleep 1001 & sleep 1001 & wait".to_owned()));
        eventually("only the bystander is left", async || tagged(&id).len() == 2).await;
        assert!(session.sandbox().process(bystander.process).await.unwrap().end.is_none());
    })
    .await;
}

#[tokio::test]
async fn the_shortest_and_the_longest_timeouts_are_taken() {
    with_session(|session| async move {
        let run = async |text: &str, timeout| session.exec(&words(&[text]), Some(timeout), &Shell::Session, None).await;
        assert_eq!(class(&run("sleep 1008", Duration::ZERO).await.unwrap_err()), ErrorClass::ExecTimeout);
        assert!(run("true", Duration::MAX).await.unwrap().ok());
    })
    .await;
}

#[tokio::test]
async fn a_dropped_exec_ends_what_it_started() {
    with_session(|session| async move {
        let id = session.sandbox().id().clone();
        let text = words(&["setsid sleep 1002 & sleep 1002; true"]);
        let exec = session.exec(&text, None, &Shell::Session, None);
        assert!(tokio::time::timeout(Duration::from_millis(500), exec).await.is_err());
        eventually("nothing is left", async || tagged(&id).is_empty()).await;
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_run_is_a_transport_error() {
    with_session(|session| async move {
        let run = async |parts: &[&str], user| session.exec(&words(parts), None, &Shell::None, user).await.unwrap_err();
        for (parts, user, reason) in [
            (&["/nonexistent/bin"][..], None, "program_not_found"),
            (&["/etc/passwd"], None, "program_not_executable"),
            (&["true"], Some("ghost_zz"), "user_unavailable"),
        ] {
            let error = run(parts, user).await;
            let record = error.record().unwrap();
            assert_eq!((record.class(), record.message.as_str()), (ErrorClass::ExecTransport, "exec transport error"));
            assert_eq!(record.context["reason"], Value::Text(reason.to_owned()));
        }
        std::fs::remove_dir_all(session.sandbox().workspace()).unwrap();
        let error = run(&["true"], None).await;
        assert_eq!(class(&error), ErrorClass::WorkspaceRootNotFound);
    })
    .await;
}

#[tokio::test]
async fn an_interactive_command_is_started_written_to_and_finished() {
    with_session(|session| async move {
        let update = session.pty_exec_start(&start("read line; echo got:$line", true, 0.25)).await.unwrap();
        let id = i64::from(update.process_id.unwrap());
        assert_eq!((text(&update), update.exit_code), ("", None));
        let update = session.pty_write_stdin(id, "hello\n", Some(10.0), None).await.unwrap();
        assert_eq!((update.process_id, update.exit_code), (None, Some(0)));
        assert_eq!(text(&update), "hello\r\ngot:hello\r\n");
        assert_eq!(update.written.unwrap().accepted, 6);
        for id in [id, 7, -1, i64::MAX] {
            let error = session.pty_write_stdin(id, "", None, None).await.unwrap_err();
            assert_eq!(error.to_string(), format!("PTY session not found: {id}"));
            assert_eq!(class(&error), ErrorClass::PtySessionNotFound);
        }
    })
    .await;
}

#[tokio::test]
async fn a_command_that_ends_within_the_window_closes_it() {
    with_session(|session| async move {
        let began = Instant::now();
        let update = session.pty_exec_start(&start("echo done; exit 4", false, 10.0)).await.unwrap();
        assert_eq!((update.process_id, update.exit_code, text(&update)), (None, Some(4), "done\n"));
        assert!(began.elapsed() < Duration::from_secs(5));
        // A child that holds the output is no reason to wait.
        let update = session.pty_exec_start(&start("sleep 1003 & echo left", false, 20.0)).await.unwrap();
        assert_eq!((update.exit_code, text(&update)), (Some(0), "left\n"));
        assert!(began.elapsed() < Duration::from_secs(10));
    })
    .await;
}

#[tokio::test]
async fn output_alone_never_closes_a_window_and_an_empty_write_waits_five_seconds() {
    with_session(|session| async move {
        let began = Instant::now();
        let update = session.pty_exec_start(&start("echo now; sleep 1004", false, 0.0)).await.unwrap();
        assert!((Duration::from_millis(250)..Duration::from_secs(3)).contains(&began.elapsed()));
        assert_eq!(text(&update), "now\n");
        let began = Instant::now();
        let id = update.process_id.unwrap().into();
        let update = session.pty_write_stdin(id, "", Some(0.25), None).await.unwrap();
        assert!((Duration::from_secs(5)..Duration::from_secs(8)).contains(&began.elapsed()));
        assert_eq!((text(&update), update.process_id.is_some(), update.written), ("", true, None));
    })
    .await;
}

#[tokio::test]
async fn without_a_terminal_there_is_no_input_but_polling() {
    with_session(|session| async move {
        let update = session.pty_exec_start(&start("sleep 0.6; echo out; echo err >&2", false, 0.25)).await.unwrap();
        let id = update.process_id.unwrap().into();
        let error = session.pty_write_stdin(id, "x", None, None).await.unwrap_err();
        assert_eq!(error.to_string(), "stdin is not available for this process");
        assert!(error.record().is_none());
        let update = session.pty_write_stdin(id, "", None, None).await.unwrap();
        assert_eq!((text(&update), update.exit_code), ("out\nerr\n", Some(0)));
    })
    .await;
}

#[tokio::test]
async fn control_keys_end_with_minus_the_signal() {
    with_session(|session| async move {
        for (key, code) in [("\u{3}", -2), ("\u{1c}", -3)] {
            let update = session
                .pty_exec_start(&PtyStart { tty: true, shell: Shell::None, ..start("", true, 0.25) }.with_parts(&["sleep", "1005"]))
                .await
                .unwrap();
            let update = session.pty_write_stdin(update.process_id.unwrap().into(), key, Some(10.0), None).await.unwrap();
            assert_eq!((update.exit_code, update.process_id), (Some(code), None));
        }
        let update = session.pty_exec_start(&start("cat", true, 0.25)).await.unwrap();
        let update = session.pty_write_stdin(update.process_id.unwrap().into(), "\u{4}", Some(10.0), None).await.unwrap();
        assert_eq!(update.exit_code, Some(0));
    })
    .await;
}

trait WithParts {
    fn with_parts(self, parts: &[&str]) -> Self;
}

impl WithParts for PtyStart {
    fn with_parts(self, parts: &[&str]) -> Self {
        Self { parts: words(parts), ..self }
    }
}

#[tokio::test]
async fn a_budget_cuts_and_says_how_much_there_was() {
    with_session(|session| async move {
        let command = PtyStart { max_output_tokens: Some(50), ..start("seq 1 10000", false, 10.0) };
        let update = session.pty_exec_start(&command).await.unwrap();
        assert!(update.output.len() <= 200, "{} bytes", update.output.len());
        assert!(text(&update).starts_with("Total output lines: 10000\n\n1\n"), "{}", text(&update));
        assert!(text(&update).ends_with("10000\n"));
        assert_eq!(update.original_token_count, Some(48_894_u64.div_ceil(4)));
        let command = PtyStart { max_output_tokens: Some(-3), ..start("echo x", false, 10.0) };
        let update = session.pty_exec_start(&command).await.unwrap();
        assert_eq!((text(&update), update.original_token_count), ("", Some(1)));
        let command = PtyStart { max_output_tokens: Some(0), ..start("true", false, 10.0) };
        assert_eq!(session.pty_exec_start(&command).await.unwrap().original_token_count, None);
    })
    .await;
}

#[tokio::test]
async fn a_character_survives_the_other_stream_and_the_end_of_a_window() {
    with_session(|session| async move {
        let command = start(r"printf '\344\270'; echo e >&2; sleep 0.8; printf '\255\n'; printf '\303'", false, 0.25);
        let first = session.pty_exec_start(&command).await.unwrap();
        let second = session.pty_write_stdin(first.process_id.unwrap().into(), "", None, None).await.unwrap();
        assert_eq!(second.exit_code, Some(0));
        // How much of stderr the first window shows while stdout has half a character is the view's choice; nothing is torn or lost.
        assert!(text(&first).starts_with('e'));
        assert_eq!([text(&first), text(&second)].concat(), "e\n\u{4e2d}\n\u{fffd}");
    })
    .await;
}

#[tokio::test]
async fn a_program_that_does_not_read_holds_up_nobody() {
    with_session(|session| async move {
        let update = session.pty_exec_start(&start("stty raw -echo; echo ready; sleep 1006", true, 1.0)).await.unwrap();
        assert_eq!(text(&update).trim_end(), "ready");
        let id = update.process_id.unwrap().into();
        let (input, writer) = ("x".repeat(1_000_000), session.clone());
        let write = tokio::spawn(async move { writer.pty_write_stdin(id, &input, Some(2.0), None).await });
        let began = Instant::now();
        for _ in 0..5 {
            assert!(session.exec(&words(&["true"]), None, &Shell::Session, None).await.unwrap().ok());
        }
        assert!(began.elapsed() < Duration::from_secs(3));
        let update = write.await.unwrap().unwrap();
        let accepted = update.written.unwrap().accepted;
        assert!((1..1_000_000).contains(&accepted), "{accepted}");
        assert!(update.process_id.is_some());
    })
    .await;
}

#[tokio::test]
async fn writing_to_an_ended_session_answers_its_last_words() {
    with_session(|session| async move {
        let update = session.pty_exec_start(&start("sleep 0.6; echo bye; exit 9", true, 0.25)).await.unwrap();
        let id = update.process_id.unwrap();
        eventually("it ends", async || {
            let infos = session.sandbox().processes().await.unwrap();
            infos.iter().any(|info| info.process.0 == id && info.end.is_some())
        })
        .await;
        let update = session.pty_write_stdin(id.into(), "x\n", None, None).await.unwrap();
        assert_eq!((text(&update), update.exit_code, update.process_id), ("bye\r\n", Some(9), None));
    })
    .await;
}

#[tokio::test]
async fn concurrent_polls_take_turns_and_dropped_ones_lose_nothing() {
    with_session(|session| async move {
        let command = start("for i in $(seq 20); do echo line$i; sleep 0.05; done; exit 5", false, 0.25);
        let first = session.pty_exec_start(&command).await.unwrap();
        let id = first.process_id.unwrap().into();
        for _ in 0..3 {
            let poll = session.pty_write_stdin(id, "", None, None);
            assert!(tokio::time::timeout(Duration::from_millis(80), poll).await.is_err());
        }
        let polls = [0, 1].map(|_| {
            let session = session.clone();
            tokio::spawn(async move { session.pty_write_stdin(id, "", None, None).await.unwrap() })
        });
        let mut joined = text(&first).to_owned();
        for poll in polls {
            let update = poll.await.unwrap();
            assert_eq!((update.exit_code, update.process_id), (Some(5), None), "both learn the end");
            joined.push_str(text(&update));
        }
        assert_eq!(joined, lines(20));
    })
    .await;
}

#[tokio::test]
async fn unread_output_is_bounded_and_counted() {
    with_session(|session| async move {
        let command = PtyStart { max_output_tokens: Some(100), ..start("yes | head -c 50000000; echo end", false, 30.0) };
        let update = session.pty_exec_start(&command).await.unwrap();
        assert_eq!(update.exit_code, Some(0));
        assert!(text(&update).ends_with("y\nend\n"));
        assert_eq!(update.original_token_count, Some(50_000_004_u64.div_ceil(4)));
    })
    .await;
}

#[tokio::test]
async fn the_65th_session_ends_the_least_recently_used() {
    with_session(|session| async move {
        let starts: Vec<_> = (0..64)
            .map(|_| {
                let session = session.clone();
                tokio::spawn(async move {
                    session.pty_exec_start(&start("echo mine; sleep 1007", true, 0.25)).await.unwrap().process_id.unwrap()
                })
            })
            .collect();
        let mut ids = Vec::new();
        for started in starts {
            ids.push(i64::from(started.await.unwrap()));
        }
        let used = ids[0];
        let poll = session.clone();
        let waiting = tokio::spawn(async move { poll.pty_write_stdin(used, "", Some(0.0), None).await.unwrap() });
        // Its first step, which marks the session as waited on, is done before this one goes on.
        tokio::task::yield_now().await;
        let newest = session.pty_exec_start(&start("echo new; sleep 1007", true, 0.25)).await.unwrap();
        assert_eq!(text(&newest), "new\r\n");
        assert!(waiting.await.unwrap().process_id.is_some(), "one that is waited on is not taken");
        let polls = ids.into_iter().map(|id| {
            let session = session.clone();
            tokio::spawn(async move { (id, session.pty_write_stdin(id, "\u{15}", Some(0.0), None).await) })
        });
        let mut evicted = Vec::new();
        for poll in polls.collect::<Vec<_>>() {
            match poll.await.unwrap() {
                (_, Ok(update)) => assert!(update.process_id.is_some()),
                (id, Err(error)) => {
                    assert_eq!(error.to_string(), format!("PTY session not found: {id}"));
                    assert_eq!(error.record().unwrap().context["evicted"], Value::Bool(true));
                    evicted.push(id);
                }
            }
        }
        assert_eq!(evicted.len(), 1);
        let process = crannog::ProcessId(u32::try_from(evicted[0]).unwrap());
        let kept = session.sandbox().read(process, 0, 1000, None).await.unwrap();
        assert_eq!(kept.parts[0].bytes, b"mine\r\n", "its transcript can still be read");
        session.pty_terminate_all().await.unwrap();
        let error = session.pty_write_stdin(newest.process_id.unwrap().into(), "", None, None).await.unwrap_err();
        assert_eq!(class(&error), ErrorClass::PtySessionNotFound);
        assert_eq!(tagged(session.sandbox().id()), Vec::<u32>::new());
    })
    .await;
}
