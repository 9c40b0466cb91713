//! Bad input gets a specific error, and nothing else changes.

use std::time::{Duration, Instant};

use crannog::{Error, ErrorCode, Input, ProcessId, Sandbox, SandboxOptions, Signal, Target};

use crate::room::Room;
use crate::run::{Run, Wait};

/// Every verb on a process that does not exist.
pub(crate) async fn an_unknown_process_is_not_found_by_any_verb(room: &Room) {
    for id in [0, 1, 999, 5_000, 100_000, u32::MAX] {
        let id = ProcessId(id);
        let sandbox = room.sandbox();
        let errors: Vec<Error> = vec![
            room.try_collect(id, Wait::ms(5_000)).await.unwrap_err(),
            room.try_write(id, "x", Wait::ms(5_000)).await.unwrap_err(),
            room.try_resize(id, 10, 10).await.unwrap_err(),
            room.try_kill(id).await.unwrap_err(),
            sandbox.close_stdin(id).await.unwrap_err(),
            sandbox.signal(id, Signal::TERM, Target::Tree).await.unwrap_err(),
            sandbox.read(id, 0, 10, None).await.unwrap_err(),
            sandbox.wait_any(&[id], Duration::from_secs(5)).await.unwrap_err(),
            sandbox.process(id).await.unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code(), ErrorCode::PtySessionNotFound, "{error:?}");
        }
    }
}

/// Starts that cannot be.
pub(crate) async fn impossible_starts_are_refused(room: &Room) {
    let before = room.list().await.len();
    let nothing: [&str; 0] = [];
    for (run, code) in [
        (Run::argv(["a\0b"]), ErrorCode::InvalidArgument),
        (Run::argv(["echo", "a\0b"]), ErrorCode::InvalidArgument),
        (Run::shell("echo \0"), ErrorCode::InvalidArgument),
        (Run::argv(nothing), ErrorCode::InvalidArgument),
        (Run::argv([""]), ErrorCode::ProgramNotFound),
        (Run::words("true").env("A=B", "x"), ErrorCode::InvalidArgument),
        (Run::words("true").env("", "x"), ErrorCode::InvalidArgument),
        (Run::words("true").env("A", "x\0"), ErrorCode::InvalidArgument),
        (Run::words("true").cwd("nowhere"), ErrorCode::WorkingDirectoryNotFound),
        (Run::words("true").cwd("a\0"), ErrorCode::InvalidArgument),
        (Run::words("true").sized(0, 80), ErrorCode::InvalidArgument),
        (Run::words("true").sized(24, 0), ErrorCode::InvalidArgument),
        (Run::words("true").sized(5_000, 80), ErrorCode::InvalidArgument),
        (Run::words("true").request_id(&"x".repeat(200)), ErrorCode::InvalidArgument),
        (Run::words("true").timeout_ms(u64::MAX / 4), ErrorCode::InvalidArgument),
    ] {
        let begin = Instant::now();
        let error = match room.try_start(run.clone()).await {
            Err(error) => error,
            Ok(update) => panic!("{run:?} was started: {update:?}"),
        };
        assert!(
            error.code() == code || (code == ErrorCode::ProgramNotFound && error.code() == ErrorCode::InvalidArgument),
            "{run:?}: {error:?}"
        );
        assert!(!error.to_string().is_empty() && begin.elapsed() < Duration::from_secs(2));
    }
    assert_eq!(room.list().await.len(), before);
    assert_eq!(room.bash("echo well").await, "well");
}

/// Verbs that do not fit the process.
pub(crate) async fn verbs_that_do_not_fit_are_refused(room: &Room) {
    let pipes = room.start(Run::words("sleep 30").window(0)).await;
    let terminal = room.start(Run::words("sleep 30").terminal().window(0)).await;
    assert_eq!(room.try_resize(pipes.process, 10, 10).await.unwrap_err().code(), ErrorCode::NotATerminal);
    for (rows, columns) in [(0, 10), (10, 0), (5_000, 10), (10, 5_000)] {
        assert_eq!(room.try_resize(terminal.process, rows, columns).await.unwrap_err().code(), ErrorCode::InvalidArgument);
    }
    let too_much = Input::new(vec![0; crannog::limits::WRITE_BYTES_MAX + 1]);
    let error = room.sandbox().write(terminal.process, too_much).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    let error = room.sandbox().write(terminal.process, Input::new("x").write_id("y".repeat(200))).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    for process in [pipes.process, terminal.process] {
        assert_eq!(room.collect(process, Wait::ms(0)).await.end, None, "nothing changed");
    }
}

/// Sandboxes that do not exist, exist already, or cannot be made.
pub(crate) async fn impossible_sandboxes_are_refused(room: &Room) {
    for reference in ["sbx_00000000000000000000000000000000", "sbx_", "", "no-such-name", "../etc"] {
        assert_eq!(Sandbox::open(room.host(), reference).await.unwrap_err().code(), ErrorCode::SandboxNotFound, "{reference}");
        assert_eq!(room.host().destroy(reference).await.unwrap_err().code(), ErrorCode::SandboxNotFound, "{reference}");
    }
    let named = Sandbox::create(room.host(), SandboxOptions::new().name("taken")).await.unwrap();
    let error = Sandbox::create(room.host(), SandboxOptions::new().name("taken")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SandboxNameTaken);
    assert_eq!(Sandbox::open(room.host(), "taken").await.unwrap().id(), named.id());
    named.destroy().await.unwrap();
    let missing = room.root().join("no-such-directory");
    let error = Sandbox::create(room.host(), SandboxOptions::new().workspace(missing)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::WorkspaceRootNotFound, "{error:?}");
    let all = Sandbox::list(room.host()).await.unwrap();
    assert_eq!(all.len(), 1, "nothing is left of what could not be made: {all:?}");
}
