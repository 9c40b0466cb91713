//! Commands through the whole way: client, socket, engine, kernel.

use std::time::Duration;

use crannog_core::collect::{Collect, Until};
use crannog_core::end::End;
use crannog_core::error::ErrorCode;
use crannog_core::id::ProcessId;
use crannog_core::process::{Program, StartSpec, Stream, WriteSpec};
use crannog_core::transcript::FollowEvent;
use crannog_sys::pidfd::Identity;
use crannog_wire::{Events, GuestClient, RunSpec};

use crate::support::{PATIENCE, TestGuest, collect, printed_pid, shell, shell_with_input, until_gone};

const SUCCESS: Option<End> = Some(End::Exited { code: 0 });

fn input(text: &str) -> WriteSpec {
    WriteSpec { bytes: text.as_bytes().to_vec(), write_id: None, patience: PATIENCE }
}

#[tokio::test]
async fn a_short_command_takes_one_call() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let update = client.start(shell("echo hello; pwd"), Some(collect(0, None))).await.unwrap();
    assert!(update.text.starts_with("hello\n/"), "{}", update.text);
    assert_eq!(update.end, SUCCESS);
}

#[tokio::test]
async fn what_is_written_comes_back_and_the_input_can_be_closed() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let process = client.start(shell_with_input("cat"), None).await.unwrap().process;
    let answer = Until::Text("two".to_owned());
    let first = client.write(process, input("one\n"), Duration::ZERO, None).await.unwrap();
    assert_eq!((first.written.unwrap().accepted, first.cursor), (4, 0));
    let second = client.write(process, input("two\n"), Duration::ZERO, Some(collect(0, answer))).await.unwrap();
    assert_eq!(second.text, "one\ntwo\n");
    client.close_stdin(process).await.unwrap();
    assert_eq!(client.collect(process, collect(second.cursor, None)).await.unwrap().end, SUCCESS);
}

#[tokio::test]
async fn a_start_that_is_made_again_shows_the_same_process_from_its_beginning() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let spec = StartSpec { request_id: Some("once".to_owned()), ..shell("echo $$") };
    let window = Collect { cursor: None, ..collect(0, None) };
    let first = client.start(spec.clone(), Some(window.clone())).await.unwrap();
    let again = client.start(spec, Some(window)).await.unwrap();
    assert_eq!((again.process, again.text), (first.process, first.text));
    assert_eq!(client.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_gathered_run_answers_both_streams_and_the_end() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let gathered = client.gather(shell("echo out; echo err >&2; exit 3"), 1_000, false).await.unwrap();
    assert_eq!((gathered.stdout.as_slice(), gathered.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
    assert_eq!(gathered.ended.end, End::Exited { code: 3 });
    let large = client.gather(shell("seq 100000; seq 5 >&2"), 3 * 1024 * 1024, false).await.unwrap();
    assert_eq!((large.stdout.len(), large.stderr.len()), (588_895, 10));
}

#[tokio::test]
async fn a_streamed_run_hands_over_every_byte_in_order() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let run = RunSpec { spec: shell("seq 300000"), gather_bytes_max: None, end_with_caller: false };
    let mut events = client.run(run).await.unwrap();
    assert!(matches!(events.next().await.unwrap(), Some(FollowEvent::Started(_))));
    let mut output = Vec::new();
    let ended = loop {
        match events.next().await.unwrap().unwrap() {
            FollowEvent::Output(part) => {
                assert_eq!((part.offset, part.stream), (output.len() as u64, Stream::Stdout));
                output.extend_from_slice(&part.bytes);
            }
            FollowEvent::Ended(ended) => break ended,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ended.end, End::Exited { code: 0 });
    let expected: Vec<u8> = (1..=300_000).flat_map(|number| format!("{number}\n").into_bytes()).collect();
    assert!(output == expected, "{} of {} bytes", output.len(), expected.len());
    assert!(events.next().await.unwrap().is_none());
}

/// Starts a run that prints its kernel number and waits.
async fn start_waiting(client: &GuestClient, end_with_caller: bool) -> (Events, u32) {
    let run = RunSpec { spec: shell("echo $$; sleep 1000"), gather_bytes_max: None, end_with_caller };
    let mut events = client.run(run).await.unwrap();
    loop {
        if let Some(FollowEvent::Output(part)) = events.next().await.unwrap() {
            return (events, printed_pid(&String::from_utf8(part.bytes).unwrap()));
        }
    }
}

#[tokio::test]
async fn a_run_ends_with_its_caller_only_when_asked_to() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let (kept, kept_pid) = start_waiting(&client, false).await;
    let (ended, ended_pid) = start_waiting(&client, true).await;
    drop(kept);
    drop(ended);
    until_gone(ended_pid).await;
    assert!(Identity::of(kept_pid).is_ok());
}

#[tokio::test]
async fn a_gather_that_is_given_up_ends_its_process() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let gathering = tokio::spawn({
        let client = client.clone();
        async move { client.gather(shell("echo $$; sleep 1000"), 1_000, true).await }
    });
    let (process, pid) = loop {
        let list = client.list().await.unwrap();
        if let Some((info, pid)) = list.first().and_then(|info| Some((info, info.pid?))) {
            break (info.process, pid);
        }
    };
    gathering.abort();
    until_gone(pid).await;
    let update = client.collect(process, collect(0, None)).await.unwrap();
    assert!(matches!(update.end, Some(End::Cancelled { .. })), "{:?}", update.end);
}

#[tokio::test]
async fn refusals_say_what_and_why() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let unknown = client.collect(ProcessId(99_999), collect(0, None)).await.unwrap_err();
    assert_eq!((unknown.code(), unknown.context()["process"].as_str()), (ErrorCode::PtySessionNotFound, "99999"));
    let missing = StartSpec::new(Program::Argv(vec![b"no-such-program".to_vec()]));
    let missing = client.start(missing, None).await.unwrap_err();
    assert_eq!((missing.code(), missing.context()["program"].as_str()), (ErrorCode::ProgramNotFound, "no-such-program"));
    let beyond = client.follow(client.start(shell("true"), None).await.unwrap().process, 1 << 40, false).await;
    assert_eq!(beyond.unwrap_err().code(), ErrorCode::InvalidArgument);
}

#[tokio::test]
async fn a_wait_that_cannot_be_meant_is_refused_before_anything_is_done() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let broken = || collect(0, Until::Regex("(".to_owned()));
    assert_eq!(client.start(shell("echo started"), Some(broken())).await.unwrap_err().code(), ErrorCode::InvalidArgument);
    assert!(client.list().await.unwrap().is_empty());
    let process = client.start(shell_with_input("cat"), None).await.unwrap().process;
    let error = client.write(process, input("one\n"), Duration::ZERO, Some(broken())).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    client.close_stdin(process).await.unwrap();
    assert_eq!(client.collect(process, collect(0, None)).await.unwrap().text, "");
}

#[tokio::test]
async fn raw_bytes_can_be_read_of_one_stream_or_both() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let process = client.start(shell("printf 'a\\377'; printf b >&2"), Some(collect(0, None))).await.unwrap().process;
    let both = client.read(process, 0, 100, None).await.unwrap();
    assert_eq!((both.total, both.next, both.end), (3, 3, SUCCESS));
    let bytes = |parts: &[crannog_core::transcript::Part]| parts.iter().flat_map(|part| part.bytes.clone()).collect::<Vec<u8>>();
    let errors = client.read(process, 0, 100, Some(Stream::Stderr)).await.unwrap();
    assert_eq!(bytes(&errors.parts), b"b");
    let output = client.read(process, 0, 100, Some(Stream::Stdout)).await.unwrap();
    assert_eq!(bytes(&output.parts), b"a\xff");
}

#[tokio::test]
async fn waiting_for_any_answers_with_those_that_ended() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let slow = client.start(shell("sleep 1000"), None).await.unwrap().process;
    let quick = client.start(shell("exit 4"), None).await.unwrap().process;
    let ended = client.wait_any(&[slow, quick], PATIENCE).await.unwrap();
    assert_eq!(ended.iter().map(|info| info.process).collect::<Vec<_>>(), [quick]);
    let killed = client.kill(slow, Duration::ZERO).await.unwrap();
    assert!(killed.complete && killed.reached >= 1);
}
