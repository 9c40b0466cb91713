//! Every word arrives as it was said, and nothing that a foreign side can send does harm.

#![allow(clippy::unwrap_used)]

use std::time::Duration;

use crannog_core::collect::{Collect, Reason, Until};
use crannog_core::end::End;
use crannog_core::error::ErrorCode;
use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::process::{Connection, ProcessInfo, Program, ResourceLimits, StartSpec, Stdin, Stream, TerminalSize, Update, Written};
use crannog_core::signal::Signal;
use crannog_core::transcript::{Ended, FollowEvent, Killed, Part, TranscriptPart, Usage};
use crannog_wire::message::{Hello, RunSpec, Tracking};
use crannog_wire::proto;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use prost::Message;

/// Encodes a word, sends its bytes, and reads it back.
fn send<Word, Sent>(word: &Word) -> Word
where
    Word: Clone + TryFrom<Sent>,
    Word::Error: std::fmt::Debug,
    Sent: From<Word> + Message + Default,
{
    let bytes = Sent::from(word.clone()).encode_to_vec();
    Word::try_from(Sent::decode(bytes.as_slice()).unwrap()).unwrap()
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(1_u8.., 1..40)
}

fn signal() -> impl Strategy<Value = Signal> {
    (1..=31).prop_map(|number| Signal::from_number(number).unwrap())
}

fn size() -> impl Strategy<Value = TerminalSize> {
    let side = 1..=limits::TERMINAL_SIDE_MAX;
    (side.clone(), side).prop_map(|(rows, columns)| TerminalSize { rows, columns })
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        any::<u8>().prop_map(|code| End::Exited { code }),
        (signal(), any::<bool>()).prop_map(|(signal, core_dumped)| End::Signalled { signal, core_dumped }),
        any::<u64>().prop_map(|after_ms| End::TimedOut { after_ms }),
        Just(End::OutOfMemory),
        signal().prop_map(|signal| End::Cancelled { signal }),
        ".*".prop_map(|reason| End::Lost { reason }),
    ]
}

fn stream() -> impl Strategy<Value = Stream> {
    prop_oneof![Just(Stream::Stdout), Just(Stream::Stderr)]
}

fn until() -> impl Strategy<Value = Until> {
    prop_oneof![
        Just(Until::Exit),
        ".*".prop_map(Until::Text),
        ".*".prop_map(Until::Regex),
        (0..1_000_000_u64).prop_map(|ms| Until::Silent(Duration::from_millis(ms))),
        Just(Until::Input),
        any::<u64>().prop_map(Until::Bytes),
    ]
}

fn collect() -> impl Strategy<Value = Collect> {
    let until = vec(until(), 0..=limits::UNTIL_CONDITIONS_MAX);
    (option::of(any::<u64>()), 0..1_000_000_u64, until, option::of(any::<u64>())).prop_map(|(cursor, window_ms, until, budget)| Collect {
        cursor,
        window: Duration::from_millis(window_ms),
        until,
        budget,
    })
}

fn program() -> impl Strategy<Value = Program> {
    prop_oneof![vec(bytes(), 1..5).prop_map(Program::Argv), bytes().prop_map(Program::Shell)]
}

fn connection() -> impl Strategy<Value = Connection> {
    prop_oneof![size().prop_map(Connection::Terminal), Just(Connection::Pipes(Stdin::Piped)), Just(Connection::Pipes(Stdin::Closed)),]
}

fn resources() -> impl Strategy<Value = ResourceLimits> {
    let number = || option::of(any::<u64>());
    (number(), number(), number(), number(), number()).prop_map(|(memory_bytes, cpu_seconds, open_files, file_bytes, processes)| {
        ResourceLimits { memory_bytes, cpu_seconds, open_files, file_bytes, processes }
    })
}

prop_compose! {
    fn spec()(
        program in program(),
        connection in connection(),
        environment in vec(("[A-Z_]{1,9}", bytes()), 0..4),
        cwd in option::of(bytes()),
        user in option::of("[a-z]{1,8}"),
        limits in resources(),
        timeout_ms in option::of(0..1_000_000_u64),
        hold_for_follower: bool,
        request_id in option::of("[a-z0-9]{1,128}"),
        record: bool,
    ) -> StartSpec {
        let environment = environment.into_iter().map(|(name, value)| (name.into_bytes(), value)).collect();
        let timeout = timeout_ms.map(Duration::from_millis);
        StartSpec { program, connection, environment, cwd, user, limits, timeout, hold_for_follower, request_id, record }
    }
}

prop_compose! {
    fn update()(
        (process, start, cursor, omitted_bytes, lost_bytes) in any::<(u32, u64, u64, u64, u64)>(),
        (text, other) in (".*", option::of(vec(any::<u8>(), 0..30))),
        original_token_count in option::of(any::<u64>()),
        end in option::of(end()),
        (waiting_for_input, echo, descendants_alive) in any::<(bool, Option<bool>, bool)>(),
        reason in prop::sample::select(vec![Reason::Window, Reason::Exit, Reason::Text, Reason::Regex, Reason::Silent, Reason::Input, Reason::Bytes]),
        written in option::of(any::<(u64, bool, bool)>()),
    ) -> Update {
        let written = written.map(|(accepted, line_too_long, repeated)| Written { accepted, line_too_long, repeated });
        let raw = other.unwrap_or_else(|| text.clone().into_bytes());
        Update {
            process: ProcessId(process), text, raw, start, cursor, omitted_bytes, lost_bytes, original_token_count, end,
            waiting_for_input, echo, descendants_alive, reason, written,
        }
    }
}

prop_compose! {
    fn info()(
        (process, age_ms, output_bytes, lost_bytes) in any::<(u32, u64, u64, u64)>(),
        command in ".*",
        (pid, duration_ms) in any::<(Option<u32>, Option<u64>)>(),
        terminal in option::of(size()),
        end in option::of(end()),
        (stdin_open, descendants_alive) in any::<(bool, bool)>(),
    ) -> ProcessInfo {
        ProcessInfo {
            process: ProcessId(process), command, pid, terminal, stdin_open, age_ms, duration_ms, end, output_bytes, lost_bytes,
            descendants_alive,
        }
    }
}

fn part() -> impl Strategy<Value = Part> {
    (any::<u64>(), stream(), vec(any::<u8>(), 1..40)).prop_map(|(offset, stream, bytes)| Part { offset, stream, bytes })
}

prop_compose! {
    fn ended()(end in end(), numbers in any::<[u64; 6]>(), descendants_alive: bool) -> Ended {
        let [duration_ms, stdout_omitted_bytes, stderr_omitted_bytes, user_us, system_us, memory_peak_bytes] = numbers;
        let usage = Usage { user_us, system_us, memory_peak_bytes };
        Ended { end, duration_ms, descendants_alive, stdout_omitted_bytes, stderr_omitted_bytes, usage }
    }
}

fn event() -> impl Strategy<Value = FollowEvent> {
    prop_oneof![
        any::<u32>().prop_map(|process| FollowEvent::Started(ProcessId(process))),
        part().prop_map(FollowEvent::Output),
        any::<u64>().prop_map(FollowEvent::Lost),
        ended().prop_map(FollowEvent::Ended),
    ]
}

proptest! {
    #[test]
    fn requests_arrive_as_they_were_sent(spec in spec(), collect in collect(), gather_bytes_max: Option<u64>, end_with_caller: bool) {
        prop_assert_eq!(&send::<_, proto::StartSpec>(&spec), &spec);
        prop_assert_eq!(&send::<_, proto::Collect>(&collect), &collect);
        let run = RunSpec { spec, gather_bytes_max, end_with_caller };
        prop_assert_eq!(&send::<_, proto::RunRequest>(&run), &run);
    }

    #[test]
    fn answers_arrive_as_they_were_sent(update in update(), info in info(), event in event(), parts in vec(part(), 0..4), end in end(), numbers in any::<(u64, u64, u64, u32, bool)>()) {
        prop_assert_eq!(&send::<_, proto::Update>(&update), &update);
        prop_assert_eq!(&send::<_, proto::ProcessInfo>(&info), &info);
        prop_assert_eq!(&send::<_, proto::FollowEvent>(&event), &event);
        let (next, lost_bytes, total, reached, complete) = numbers;
        let read = TranscriptPart { parts, next, lost_bytes, total, end: Some(end.clone()) };
        prop_assert_eq!(&send::<_, proto::ReadReply>(&read), &read);
        let killed = Killed { end, reached, complete };
        prop_assert_eq!(&send::<_, proto::KillReply>(&killed), &killed);
    }

    #[test]
    fn any_bytes_are_refused_or_within_the_limits(bytes in vec(any::<u8>(), 0..200)) {
        let bytes = bytes.as_slice();
        if let Ok(Ok(collect)) = proto::Collect::decode(bytes).map(Collect::try_from) {
            prop_assert!(collect.until.len() <= limits::UNTIL_CONDITIONS_MAX);
        }
        if let Ok(Ok(size)) = proto::TerminalSize::decode(bytes).map(TerminalSize::try_from) {
            prop_assert!((1..=limits::TERMINAL_SIDE_MAX).contains(&size.rows) && (1..=limits::TERMINAL_SIDE_MAX).contains(&size.columns));
        }
        if let Ok(Ok(spec)) = proto::StartSpec::decode(bytes).map(StartSpec::try_from) {
            prop_assert!(spec.environment.iter().all(|(name, _)| !name.is_empty()));
        }
        let _ = proto::Update::decode(bytes).map(Update::try_from);
        let _ = proto::FollowEvent::decode(bytes).map(FollowEvent::try_from);
    }
}

#[test]
fn a_hello_arrives_as_it_was_sent() {
    for tracking in [Tracking::Lineage, Tracking::Cgroup("/crannog/sbx_1".into())] {
        let hello = Hello {
            guest_version: "0.1.0".to_owned(),
            sandbox: "sbx_1".to_owned(),
            tracking,
            pid: 7,
            uptime: Duration::from_millis(12),
            processes_live: 3,
            lease_remaining: Some(Duration::from_secs(9)),
            lease_generation: 4,
        };
        assert_eq!(send::<_, proto::HelloReply>(&hello), hello);
    }
}

/// The refusal of a start that differs from a right one by `change`.
fn refused(change: impl FnOnce(&mut proto::StartSpec)) -> (ErrorCode, Option<&'static str>) {
    let mut spec = proto::StartSpec::from(StartSpec::new(Program::Argv(vec![b"true".to_vec()])));
    change(&mut spec);
    let error = StartSpec::try_from(spec).unwrap_err();
    (error.code(), error.field())
}

#[test]
fn a_start_beyond_the_limits_is_refused_by_name() {
    use proto::start_spec::Program;
    let argv = |arguments: Vec<Vec<u8>>| Some(Program::Argv(proto::Argv { arguments }));
    let variable = |name: &[u8], value: &[u8]| vec![proto::Variable { name: name.to_vec(), value: value.to_vec() }];
    let invalid = |field| (ErrorCode::InvalidArgument, Some(field));

    assert_eq!(refused(|spec| spec.program = None), invalid("program"));
    assert_eq!(refused(|spec| spec.program = argv(vec![])), invalid("argv"));
    assert_eq!(refused(|spec| spec.program = argv(vec![vec![]])), invalid("argv"));
    assert_eq!(refused(|spec| spec.program = argv(vec![b"a\0b".to_vec()])), invalid("argv"));
    assert_eq!(refused(|spec| spec.program = Some(Program::Shell(b"\0".to_vec()))), invalid("shell"));
    assert_eq!(refused(|spec| spec.environment = variable(b"", b"x")), invalid("environment"));
    assert_eq!(refused(|spec| spec.environment = variable(b"A=B", b"x")), invalid("environment"));
    assert_eq!(refused(|spec| spec.environment = variable(b"A", b"x\0")), invalid("environment"));
    assert_eq!(refused(|spec| spec.cwd = Some(b"\0".to_vec())), invalid("cwd"));
    assert_eq!(refused(|spec| spec.terminal = Some(proto::TerminalSize { rows: 0, columns: 80 })), invalid("rows"));
    assert_eq!(refused(|spec| spec.terminal = Some(proto::TerminalSize { rows: 24, columns: 70_000 })), invalid("columns"));
    assert_eq!(refused(|spec| spec.timeout_ms = Some(u64::MAX)), invalid("timeout_ms"));
    assert_eq!(refused(|spec| spec.request_id = Some("x".repeat(129))), invalid("request_id"));
    assert_eq!(refused(|spec| spec.request_id = Some(String::new())), invalid("request_id"));
    let large = vec![b"x".repeat(limits::ARGUMENT_BYTES_MAX)];
    assert_eq!(refused(|spec| spec.program = argv(large)), (ErrorCode::ArgumentsTooLarge, None));
}

#[test]
fn secrets_do_not_show_in_debug() {
    let mut spec = StartSpec::new(Program::Shell(b"true".to_vec()));
    spec.environment = vec![(b"TOKEN".to_vec(), b"hunter2".to_vec())];
    let shown = format!("{:?}", proto::StartSpec::from(spec));
    assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");
    let write = proto::WriteRequest { data: b"hunter2".to_vec(), ..Default::default() };
    assert!(!format!("{write:?}").contains("hunter2"));
}
