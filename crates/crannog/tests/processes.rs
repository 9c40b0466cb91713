//! Every call on processes once through the whole way: library, wire, guest, kernel. What the calls mean in every corner is the
//! conformance suite's matter.

#![allow(clippy::unwrap_used)]

mod common;

use std::time::Duration;

use common::{eventually, tagged, with_sandbox};
use crannog::{
    Command, End, ErrorCode, FollowEvent, Input, Operation, ProcessId, Reason, Sandbox, Signal, Stream, Target, TerminalSize, Until, Wait,
};

const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_process_is_started_written_to_resized_signalled_and_killed() {
    with_sandbox(|sandbox| async move {
        let size = TerminalSize { rows: 30, columns: 100 };
        let text = "trap 'stty size' WINCH; trap 'echo usr; ' USR1; stty -echo; echo ready; while :; do read line && echo got:$line; done";
        let wait = || Wait::at_most(LONG).until(Until::Text("ready".to_owned()));
        let started = sandbox.start_and_collect(Command::argv(["bash", "-c", text]).terminal(size), wait()).await.unwrap();
        let process = started.process;
        assert_eq!((started.reason, started.end.as_ref()), (Reason::Text, None));
        let after = |text: &str, cursor| Wait::at_most(LONG).until(Until::Text(text.to_owned())).from_cursor(cursor);

        let update = sandbox.write_and_collect(process, "hi\n", after("got:hi", started.cursor)).await.unwrap();
        assert_eq!(update.written.unwrap().accepted, 3);
        assert_eq!(sandbox.write(process, Input::new("x\n").write_id("once")).await.unwrap().accepted, 2);
        assert!(sandbox.write(process, Input::new("x\n").write_id("once")).await.unwrap().repeated);
        sandbox.resize(process, TerminalSize { rows: 50, columns: 132 }).await.unwrap();
        sandbox.write(process, "\n").await.unwrap();
        let update = sandbox.collect(process, after("50 132", update.cursor)).await.unwrap();
        assert_eq!(update.reason, Reason::Text);
        sandbox.signal(process, Signal::parse("USR1").unwrap(), Target::Tree).await.unwrap();
        sandbox.write(process, "\n").await.unwrap();
        sandbox.collect(process, after("usr", update.cursor)).await.unwrap();

        let info = sandbox.process(process).await.unwrap();
        assert_eq!(info.terminal, Some(TerminalSize { rows: 50, columns: 132 }));
        let killed = sandbox.kill(process, Some(Duration::from_millis(200))).await.unwrap();
        assert!(killed.complete && killed.reached >= 1);
        assert!(matches!(killed.end, End::Cancelled { .. }), "{:?}", killed.end);
        let error = sandbox.write(process, "x").await.unwrap_err();
        assert_eq!((error.code(), error.operation()), (ErrorCode::ProcessEnded, Operation::WriteProcess));
    })
    .await;
}

#[tokio::test]
async fn piped_input_is_closed_and_streams_are_read_apart() {
    with_sandbox(|sandbox| async move {
        let started = sandbox.start(Command::shell("cat; echo end >&2").stdin_piped()).await.unwrap();
        let process = started.process;
        sandbox.write(process, "one\n").await.unwrap();
        sandbox.close_stdin(process).await.unwrap();
        let ended = sandbox.wait_any(&[process], LONG).await.unwrap();
        assert_eq!(ended[0].end, Some(End::Exited { code: 0 }));
        let read = async |stream| {
            let part = sandbox.read(process, 0, 1000, stream).await.unwrap();
            part.parts.into_iter().flat_map(|part| part.bytes).collect::<Vec<u8>>()
        };
        assert_eq!(read(Some(Stream::Stdout)).await, b"one\n");
        assert_eq!(read(Some(Stream::Stderr)).await, b"end\n");
        assert_eq!(read(None).await, b"one\nend\n");
        assert_eq!(sandbox.write(process, "x").await.unwrap_err().code(), ErrorCode::ProcessEnded);
    })
    .await;
}

#[tokio::test]
async fn a_follow_streams_from_any_offset_to_the_end() {
    with_sandbox(|sandbox| async move {
        let process = sandbox.start(Command::shell("for i in 1 2 3; do echo $i; sleep 0.1; done; exit 7")).await.unwrap().process;
        let mut follow = sandbox.follow(process, 2, false).await.unwrap();
        let (mut bytes, mut end) = (Vec::new(), None);
        while let Some(event) = follow.next().await.unwrap() {
            match event {
                FollowEvent::Output(part) => bytes.extend(part.bytes),
                FollowEvent::Ended(ended) => end = Some(ended.end),
                FollowEvent::Started(id) => assert_eq!(id, process),
                FollowEvent::Lost(lost) => panic!("{lost} bytes lost"),
            }
        }
        assert_eq!((&*bytes, end), (&b"2\n3\n"[..], Some(End::Exited { code: 7 })));
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_dropped_ends_its_tree() {
    with_sandbox(|sandbox| async move {
        let mut run = sandbox.run(Command::shell("setsid sleep 1010 & echo up; sleep 1010; true")).await.unwrap();
        loop {
            if let Some(FollowEvent::Output(part)) = run.next().await.unwrap() {
                assert_eq!(part.bytes, b"up\n");
                break;
            }
        }
        let id = sandbox.id().clone();
        assert!(tagged(&id).len() >= 2);
        drop(run);
        eventually("the tree is gone", async || tagged(&id).is_empty()).await;
    })
    .await;
}

#[tokio::test]
async fn a_run_to_a_slow_reader_loses_nothing() {
    with_sandbox(|sandbox| async move {
        let mut run = sandbox.run(Command::shell("head -c 150000000 /dev/zero")).await.unwrap();
        let mut total = 0_u64;
        while let Some(event) = run.next().await.unwrap() {
            match event {
                FollowEvent::Output(part) => {
                    assert_eq!(part.offset, total);
                    total += part.bytes.len() as u64;
                    if total < 30_000_000 {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                }
                FollowEvent::Lost(lost) => panic!("{lost} bytes lost"),
                FollowEvent::Started(_) | FollowEvent::Ended(_) => {}
            }
        }
        assert_eq!(total, 150_000_000);
    })
    .await;
}

#[tokio::test]
async fn a_long_output_keeps_its_ends_and_counts_its_middle() {
    with_sandbox(|sandbox| async move {
        let output = sandbox.exec_with(Command::shell("seq 1 100000; seq 1 10 >&2"), 1000).await.unwrap();
        assert!(output.success());
        assert_eq!(output.stdout.len() as u64 + output.stdout_omitted_bytes, 588_895);
        assert!(output.stdout.len() <= 1000 && output.stdout.starts_with(b"1\n2\n") && output.stdout.ends_with(b"\n100000\n"));
        assert_eq!((output.stderr_omitted_bytes, output.stderr.len()), (0, 21));
        let output = sandbox.exec(Command::shell("echo partial; sleep 1011").timeout(Duration::from_millis(300))).await.unwrap();
        assert_eq!((&*output.stdout, output.end.kind(), output.exit_code()), (&b"partial\n"[..], "timed_out", Some(124)));
    })
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_told_by_code() {
    with_sandbox(|sandbox| async move {
        let nobody = ProcessId(1);
        let code = |error: crannog::Error| {
            assert!(error.hint().is_some(), "{error}");
            error.code()
        };
        let wait = || Wait::at_most(Duration::ZERO);
        assert_eq!(code(sandbox.collect(nobody, wait()).await.unwrap_err()), ErrorCode::PtySessionNotFound);
        assert_eq!(code(sandbox.process(nobody).await.unwrap_err()), ErrorCode::PtySessionNotFound);
        assert_eq!(code(sandbox.start(Command::argv(["/nonexistent"])).await.unwrap_err()), ErrorCode::ProgramNotFound);
        assert_eq!(code(sandbox.exec(Command::argv(["/etc/passwd"])).await.unwrap_err()), ErrorCode::ProgramNotExecutable);
        assert_eq!(code(sandbox.exec(Command::shell("pwd").cwd("nowhere")).await.unwrap_err()), ErrorCode::WorkingDirectoryNotFound);
        assert_eq!(code(sandbox.exec(Command::shell("id").user("ghost_zz")).await.unwrap_err()), ErrorCode::UserUnavailable);
        let process = sandbox.start(Command::shell("sleep 1012")).await.unwrap().process;
        assert_eq!(code(sandbox.write(process, "x").await.unwrap_err()), ErrorCode::StdinClosed);
        assert_eq!(code(sandbox.resize(process, TerminalSize::default()).await.unwrap_err()), ErrorCode::NotATerminal);
        let error = sandbox.start(Command::argv(["a\0b"])).await.unwrap_err();
        assert_eq!((error.code(), error.retryable()), (ErrorCode::InvalidArgument, Some(false)));
        let regex = wait().until(Until::Regex("(".to_owned()));
        assert_eq!(sandbox.collect(process, regex).await.unwrap_err().code(), ErrorCode::InvalidArgument);
    })
    .await;
}

#[tokio::test]
async fn a_new_client_goes_on_where_the_old_one_was_cut_off() {
    let place = common::Place::new();
    let sandbox = place.sandbox().await;
    let process = sandbox.start(Command::shell("for i in $(seq 30); do echo line$i; sleep 0.02; done")).await.unwrap().process;
    let mut text = String::new();
    let mut cursor = 0;
    loop {
        let client = Sandbox::open(&place.host, sandbox.id().as_str()).await.unwrap();
        // Cut off in the middle; whatever it had got is gone with it.
        let cut = client.collect(process, Wait::at_most(LONG).from_cursor(cursor));
        let _ = tokio::time::timeout(Duration::from_millis(30), cut).await;
        let update = client.collect(process, Wait::at_most(Duration::from_millis(60)).from_cursor(cursor)).await.unwrap();
        text.push_str(&update.text);
        cursor = update.cursor;
        if update.end.is_some() {
            break;
        }
    }
    assert_eq!(text, common::lines(30));
    sandbox.destroy().await.unwrap();
    place.assert_empty().await;
}
