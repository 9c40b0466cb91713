//! The protocol between a client and a guest without processes: refusals, broken lines, callers that go away, flow control.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::atomic::Ordering;
use std::time::Duration;

use crannog_core::collect::Collect;
use crannog_core::error::ErrorCode;
use crannog_core::id::ProcessId;
use crannog_core::process::{Program, StartSpec, WriteSpec};
use crannog_core::screen::{RecordingState, ScreenRequest};
use crannog_core::signal::{Signal, Target};
use crannog_core::transcript::FollowEvent;
use crannog_wire::message::RunSpec;
use crannog_wire::{Events, WireError};
use support::{EVENT_BYTES, EVENTS, Exchange, Fake};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

const PROCESS: ProcessId = ProcessId(1_000);

fn collect_from(cursor: Option<u64>) -> Collect {
    Collect { cursor, window: Duration::from_secs(5), until: Vec::new(), budget: None }
}

fn spec() -> StartSpec {
    StartSpec::new(Program::Argv(vec![b"true".to_vec()]))
}

#[tokio::test]
async fn a_refusal_arrives_with_its_code_and_context() {
    let client = Exchange::new(Fake::new()).client();
    assert_eq!(client.hello().await.unwrap().sandbox, "sbx_fake");
    let error = client.renew(4, None).await.unwrap_err();
    assert_eq!((error.code(), error.retryable()), (ErrorCode::LeaseFenced, false));
    assert_eq!(error.context()["generation"], "5");
    assert_eq!(client.close_stdin(PROCESS).await.unwrap_err().code(), ErrorCode::StdinClosed);
}

#[tokio::test]
async fn what_is_beyond_the_limits_is_refused_by_the_guest() {
    let client = Exchange::new(Fake::new()).client();
    let error = client.renew(9, Some(Duration::from_millis(1))).await.unwrap_err();
    assert_eq!((error.code(), error.context()["argument"].as_str()), (ErrorCode::InvalidArgument, "ttl_ms"));
    let many = vec![PROCESS; 1_025];
    assert_eq!(client.wait_any(&many, Duration::ZERO).await.unwrap_err().context()["argument"], "processes");
    let large = WriteSpec { bytes: vec![0; 5 * 1024 * 1024], write_id: None, patience: Duration::ZERO };
    assert_eq!(client.write(PROCESS, large, Duration::ZERO, None).await.unwrap_err().context()["argument"], "data");
    let read = client.read(PROCESS, 0, usize::MAX, None).await.unwrap();
    assert_eq!(read.next, 1024 * 1024, "a read is cut to what one answer may have");
    let mut large = spec();
    large.environment = vec![(b"A".to_vec(), vec![b'x'; 20 * 1024 * 1024])];
    assert_eq!(client.start(large, None).await.unwrap_err().code(), ErrorCode::ArgumentsTooLarge);
}

#[tokio::test]
async fn a_panic_is_answered_and_hurts_no_other_call() {
    let exchange = Exchange::new(Fake::new());
    let client = exchange.client();
    let error = client.collect(ProcessId(666), collect_from(Some(0))).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal);
    assert_eq!(client.collect(PROCESS, collect_from(Some(0))).await.unwrap().text, "collected");
    assert_eq!(exchange.connections(), 1);
}

#[tokio::test]
async fn a_collect_with_a_cursor_survives_a_cut_line() {
    let fake = Fake::new();
    let exchange = Exchange::new(fake.clone());
    let client = exchange.client();
    fake.answering.send_replace(false);
    let asked = tokio::spawn(async move { client.collect(PROCESS, collect_from(Some(7))).await });
    fake.until_waiting(1).await;
    exchange.cut();
    fake.until_called("collect", 2).await;
    fake.answering.send_replace(true);
    assert_eq!(asked.await.unwrap().unwrap().text, "collected");
}

#[tokio::test]
async fn a_collect_with_the_guests_cursor_is_not_repeated() {
    let fake = Fake::new();
    let exchange = Exchange::new(fake.clone());
    let client = exchange.client();
    fake.answering.send_replace(false);
    let asked = tokio::spawn(async move { client.collect(PROCESS, collect_from(None)).await });
    fake.until_waiting(1).await;
    exchange.cut();
    let error = asked.await.unwrap().unwrap_err();
    assert!(matches!(error, WireError::Unreachable { .. }), "{error:?}");
    assert_eq!(fake.count("collect"), 1);
}

#[tokio::test]
async fn a_start_that_is_repeated_keeps_its_id() {
    let fake = Fake::new();
    let exchange = Exchange::new(fake.clone());
    let client = exchange.client();
    fake.answering.send_replace(false);
    let asked = tokio::spawn(async move { client.start(spec(), None).await });
    fake.until_waiting(1).await;
    exchange.cut();
    fake.until_called("start", 2).await;
    fake.answering.send_replace(true);
    asked.await.unwrap().unwrap();
    assert_eq!(fake.request_ids.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_guest_that_is_not_there_is_said_to_be_unreachable_and_found_when_it_comes() {
    let fake = Fake::new();
    let exchange = Exchange::new(fake.clone());
    let client = exchange.client();
    exchange.closed.store(true, Ordering::SeqCst);
    let error = client.signal(PROCESS, Target::Tree, Signal::TERM).await.unwrap_err();
    assert_eq!((error.code(), error.retryable()), (ErrorCode::GuestUnreachable, true));
    assert_eq!(fake.count("signal"), 0);
    exchange.closed.store(false, Ordering::SeqCst);
    client.signal(PROCESS, Target::Tree, Signal::TERM).await.unwrap();
    assert_eq!(fake.count("signal"), 1);
}

#[tokio::test]
async fn a_call_that_is_given_up_is_given_up_by_the_guest() {
    let fake = Fake::new();
    let client = Exchange::new(fake.clone()).client();
    fake.answering.send_replace(false);
    let asked = tokio::spawn(async move { client.collect(PROCESS, collect_from(Some(0))).await });
    fake.until_waiting(1).await;
    asked.abort();
    fake.until_waiting(0).await;
}

#[tokio::test(start_paused = true)]
async fn a_guest_that_does_not_answer_is_given_up_after_the_deadline() {
    let fake = Fake::new();
    let client = Exchange::new(fake.clone()).client();
    fake.answering.send_replace(false);
    let error = client.collect(PROCESS, collect_from(Some(0))).await.unwrap_err();
    assert!(matches!(error, WireError::TimedOut { waited_ms: 15_000, .. }), "{error:?}");
}

/// Reads `events` to the end and checks that nothing is missing or doubled.
async fn read_all(events: &mut Events, mut offset: u64) {
    while let Some(event) = events.next().await.unwrap() {
        match event {
            FollowEvent::Output(part) => {
                assert_eq!(part.offset, offset);
                offset += part.bytes.len() as u64;
            }
            FollowEvent::Ended(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(offset, EVENTS * EVENT_BYTES as u64);
}

#[tokio::test]
async fn a_reader_that_lags_holds_the_guest_back_and_no_other_call() {
    let fake = Fake::new();
    let client = Exchange::new(fake.clone()).client();
    let mut events = client.follow(PROCESS, 0, false).await.unwrap();
    assert!(matches!(events.next().await.unwrap(), Some(FollowEvent::Started(_))));
    // Once the window is full the guest is not asked for more, however many other calls are answered.
    let mut pulled = 0;
    loop {
        for _ in 0..20 {
            client.collect(PROCESS, collect_from(Some(0))).await.unwrap();
        }
        let now = fake.pulled.load(Ordering::SeqCst);
        if now == pulled {
            break;
        }
        pulled = now;
    }
    assert!(pulled > 0 && pulled < EVENTS / 2, "{pulled} events of {EVENTS} were taken");
    read_all(&mut events, 0).await;
}

#[tokio::test]
async fn a_follow_goes_on_where_it_was_when_the_line_is_cut() {
    let fake = Fake::new();
    let exchange = Exchange::new(fake.clone());
    let mut events = exchange.client().follow(PROCESS, 0, false).await.unwrap();
    assert!(matches!(events.next().await.unwrap(), Some(FollowEvent::Started(_))));
    assert!(matches!(events.next().await.unwrap(), Some(FollowEvent::Output(_))));
    exchange.cut();
    read_all(&mut events, EVENT_BYTES as u64).await;
    assert_eq!(exchange.connections(), 1);
}

#[tokio::test]
async fn a_gathered_run_is_asked_for_again_as_a_whole() {
    let fake = Fake::new();
    let exchange = Exchange::new(fake.clone());
    let client = exchange.client();
    fake.answering.send_replace(false);
    let asked = tokio::spawn(async move { client.gather(spec(), 1, false).await });
    fake.until_waiting(1).await;
    exchange.cut();
    fake.until_called("run", 2).await;
    fake.answering.send_replace(true);
    assert_eq!(asked.await.unwrap().unwrap().stdout.len() as u64, EVENTS * EVENT_BYTES as u64);
}

#[tokio::test]
async fn dropping_the_events_of_a_run_tells_the_guest() {
    let fake = Fake::new();
    let client = Exchange::new(fake.clone()).client();
    let run = RunSpec { spec: spec(), gather_bytes_max: None, end_with_caller: true };
    let mut events = client.run(run).await.unwrap();
    events.next().await.unwrap();
    drop(events);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while !fake.stream_dropped.load(Ordering::SeqCst) {
        assert!(tokio::time::Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn screens_and_recordings_cross_the_wire() {
    let fake = Fake::new();
    let client = Exchange::new(fake.clone()).client();
    let screen = client.screen(PROCESS, ScreenRequest { since: Some(6), scrollback_skip: 2, scrollback_lines: 3 }).await.unwrap();
    assert_eq!((screen.version, screen.scrollback_total, screen.scrollback.len()), (7, 5, 3));
    assert_eq!((screen.rows[0].row, screen.rows[0].text.as_str(), screen.cursor.column), (3, "shown", 5));
    assert_eq!((screen.title.as_str(), screen.alternate, screen.offset, screen.rendered_from), ("title", true, 9, 4));
    let refused = client.screen(PROCESS, ScreenRequest { scrollback_lines: 1_001, ..ScreenRequest::default() }).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidArgument);
    let part = client.recording(PROCESS, 5, 7).await.unwrap();
    assert_eq!((part.bytes.as_slice(), part.total, part.state), (&b"xxxxxxx"[..], 12, RecordingState::Cut));
    client.attach(PROCESS, 0).await.unwrap();
    fake.until_called("attach 0", 1).await;
}

#[tokio::test]
async fn bytes_that_are_not_the_protocol_hurt_nobody_else() {
    let fake = Fake::new();
    let exchange = Exchange::new(fake.clone());
    let client = exchange.client();
    client.hello().await.unwrap();
    for noise in
        [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 10_000], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"]
    {
        let mut line = UnixStream::from_std(exchange.line()).unwrap();
        // The guest may hang up before all is written.
        let _ = line.write_all(noise).await;
        let mut rest = Vec::new();
        let closed = tokio::time::timeout(Duration::from_secs(10), line.read_to_end(&mut rest)).await;
        assert!(closed.is_ok(), "the guest hangs up on noise");
    }
    client.hello().await.unwrap();
    assert_eq!(exchange.connections(), 1);
}
