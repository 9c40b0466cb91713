//! The table: ids, limits, retries, and what is forgotten. One engine per process: see `support`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::format_collect)]

mod support;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::process::StartSpec;
use support::{SpecExt, argv, bash, exited, input, run, run_with, window};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn ids_are_in_range_and_never_used_twice() {
    run(async |sandbox| {
        let mut seen = HashSet::new();
        for _ in 0..300 {
            let process = sandbox.engine.start(argv(&["true"])).unwrap();
            assert!((limits::PROCESS_ID_MIN..limits::PROCESS_ID_MAX_EXCLUSIVE).contains(&process.0));
            assert!(seen.insert(process));
            sandbox.end_of(process).await;
        }
        assert_eq!(sandbox.engine.list().len(), limits::PROCESSES_ENDED_KEPT);
        let shell = sandbox.engine.start(argv(&["cat"]).with_input()).unwrap();
        for old in seen {
            let error = sandbox.engine.write(old, input("rm x\n")).await.unwrap_err();
            assert!(["process_ended", "pty_session_not_found"].contains(&error.code().as_str()));
        }
        assert_eq!(sandbox.collect(shell, window(20)).await.text, "");
    });
}

#[test]
fn at_the_limit_a_start_fails_and_nothing_is_ended_for_it() {
    run_with(
        |config| config.processes_live_max = 3,
        async |sandbox| {
            let running: Vec<_> = (0..3).map(|_| sandbox.engine.start(argv(&["sleep", "60"])).unwrap()).collect();
            let error = sandbox.engine.start(argv(&["true"])).unwrap_err();
            assert_eq!(error.code().as_str(), "process_limit_reached");
            assert!(error.to_string().contains('3'));
            assert!(running.iter().all(|process| sandbox.engine.info(*process).unwrap().end.is_none()));
            sandbox.engine.kill(running[0], Duration::ZERO).await.unwrap();
            assert_eq!(sandbox.finish(argv(&["true"])).await.end, exited(0));
        },
    );
}

#[test]
fn a_repeated_start_answers_for_the_first() {
    run(async |sandbox| {
        let spec = StartSpec { request_id: Some("r-1".to_owned()), ..bash("echo x >> log") };
        let first = sandbox.engine.start(spec.clone()).unwrap();
        assert_eq!(sandbox.engine.start(spec.clone()).unwrap(), first);
        sandbox.end_of(first).await;
        assert_eq!(sandbox.engine.start(spec).unwrap(), first);
        assert_eq!(std::fs::read_to_string(sandbox.path().join("log")).unwrap(), "x\n");
        let long = StartSpec { request_id: Some("x".repeat(129)), ..argv(&["true"]) };
        assert_eq!(sandbox.engine.start(long).unwrap_err().code().as_str(), "invalid_argument");
    });
}

#[test]
fn a_listing_tells_how_each_stands() {
    run(async |sandbox| {
        let ended = sandbox.engine.start(bash("echo hello; exit 2")).unwrap();
        sandbox.end_of(ended).await;
        let running = sandbox.engine.start(argv(&["cat"]).on_terminal()).unwrap();
        let list = sandbox.engine.list();
        assert_eq!(list.iter().map(|info| info.process).collect::<Vec<_>>(), [ended, running]);
        let [first, second] = &list[..] else { panic!("{list:?}") };
        assert_eq!(
            (first.command.as_str(), first.end.clone(), first.pid, first.output_bytes),
            ("bash -c echo hello; exit 2", exited(2), None, 6)
        );
        assert!(first.duration_ms.is_some() && !first.stdin_open && first.terminal.is_none());
        assert!(
            second.pid.is_some() && second.stdin_open && second.terminal.is_some() && second.end.is_none() && second.duration_ms.is_none()
        );
        let unknown = sandbox.engine.info(ProcessId(999)).unwrap_err();
        assert_eq!(unknown.code().as_str(), "pty_session_not_found");
    });
}

#[test]
fn any_of_several_can_be_waited_for() {
    run(async |sandbox| {
        let slow = sandbox.engine.start(argv(&["sleep", "60"])).unwrap();
        let quick = sandbox.engine.start(argv(&["sleep", "0.2"])).unwrap();
        let started = Instant::now();
        assert!(sandbox.engine.wait_any(&[slow, quick], SECOND / 20).await.unwrap().is_empty());
        let ended = sandbox.engine.wait_any(&[slow, quick], 10 * SECOND).await.unwrap();
        assert_eq!(ended.iter().map(|info| info.process).collect::<Vec<_>>(), [quick]);
        assert!(started.elapsed() < 2 * SECOND);
        assert!(sandbox.engine.wait_any(&[quick], SECOND).await.unwrap()[0].end == exited(0));
        assert!(sandbox.engine.wait_any(&[slow, ProcessId(999)], SECOND).await.is_err());
        assert!(sandbox.engine.wait_any(&[], SECOND).await.is_err());
    });
}
