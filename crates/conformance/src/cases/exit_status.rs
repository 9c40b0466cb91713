//! How a process ended, told truthfully.

use std::time::{Duration, Instant};

use crannog::{End, ErrorCode, Signal};
use futures_util::future::join_all;

use crate::room::Room;
use crate::run::Run;

/// EXIT-01.
pub(crate) async fn death_by_signal_is_128_and_the_number(room: &Room) {
    for (number, code) in [(9, 137), (15, 143), (11, 139), (6, 134), (2, 130), (1, 129), (13, 141)] {
        let text = format!("kill -{number} $$; sleep 1");
        let output = room.exec(Run::bash(&text)).await;
        let whole = room.whole(Run::bash(&text).terminal()).await;
        for end in [output.end, whole.end.unwrap()] {
            assert_eq!(end.exit_code(), Some(code), "{end:?}");
            assert!(matches!(end, End::Signalled { signal, .. } if signal == Signal::from_number(number).unwrap()), "{end:?}");
        }
    }
}

/// Every exit code, none taken for another.
pub(crate) async fn every_exit_code_is_told_as_it_is(room: &Room) {
    for codes in (0..=255_u8).collect::<Vec<_>>().chunks(16) {
        let runs = codes.iter().map(|code| async move {
            let run = Run::shell(format!("exit {code}")).terminal_if(code % 2 == 0);
            assert_eq!(room.whole(run).await.end, Some(End::Exited { code: *code }));
        });
        join_all(runs).await;
    }
}

/// EXIT-03.
pub(crate) async fn a_shell_that_cannot_run_something_says_127_or_126(room: &Room) {
    let output = room.exec(Run::shell("nosuchcmd_zz")).await;
    assert_eq!(output.exit_code(), Some(127));
    assert!(output.stderr_text().contains("not found"), "{output:?}");
    for text in ["/etc/passwd", "/tmp"] {
        let output = room.exec(Run::shell(text)).await;
        assert_eq!((output.exit_code(), output.stderr.is_empty()), (Some(126), false), "{text}");
    }
}

/// EXIT-04.
pub(crate) async fn a_program_that_cannot_start_is_an_error_and_no_exit(room: &Room) {
    room.bash("mkdir empty; printf '#!/no/such/interpreter\\n' > lost; chmod +x lost; touch data").await;
    let before = room.list().await.len();
    let not_found = [ErrorCode::ProgramNotFound];
    let refused = [ErrorCode::ProgramNotExecutable];
    for (program, codes) in [
        ("/nonexistent/bin", not_found),
        ("./nothing-here", not_found),
        ("nosuchcmd_zz", not_found),
        ("/etc/passwd", refused),
        ("./empty", refused),
        ("./data", refused),
        ("./lost", not_found),
    ] {
        for terminal in [false, true] {
            let begin = Instant::now();
            let error = room.try_start(Run::argv([program]).terminal_if(terminal)).await.expect_err(program);
            assert!(codes.contains(&error.code()), "{program}: {error:?}");
            let error = room.try_exec(Run::argv([program])).await.expect_err(program);
            assert!(codes.contains(&error.code()), "{program}: {error:?}");
            assert!(format!("{error} {:?}", error.context()).contains(program), "the program is named: {error:?}");
            assert!(begin.elapsed() < Duration::from_secs(1));
        }
    }
    assert_eq!(room.list().await.len(), before, "no process is left of a start that failed");
}

/// EXIT-06.
pub(crate) async fn a_core_dump_does_not_change_the_code(room: &Room) {
    for text in ["ulimit -c unlimited 2>/dev/null; kill -SEGV $$", "kill -SEGV $$", "kill -QUIT $$; kill -ABRT $$"] {
        let output = room.exec(Run::bash(text)).await;
        let expected = if text.contains("ABRT") { 134 } else { 139 };
        assert_eq!(output.exit_code(), Some(expected), "{output:?}");
    }
    let dumped = room.bash("ls | grep -c '^core' || true").await;
    assert!(dumped == "0" || dumped == "1", "at most the one that was asked for: {dumped}");
}

/// An exit code that looks like a signal's is still an exit, and a timeout is neither.
pub(crate) async fn ends_that_look_alike_are_told_apart(room: &Room) {
    let exited = room.exec(Run::bash("exit 137")).await;
    assert_eq!(exited.end, End::Exited { code: 137 });
    let timed_out = room.exec(Run::bash("exit 124")).await;
    assert_eq!(timed_out.end, End::Exited { code: 124 });
    let timed_out = room.exec(Run::bash("sleep 30").timeout_ms(200)).await;
    assert_eq!(timed_out.end, End::TimedOut { after_ms: 200 });
    let own_answer = room.exec(Run::bash("trap 'exit 0' TERM; while :; do sleep 0.05; done").timeout_ms(300)).await;
    assert_eq!(own_answer.end, End::TimedOut { after_ms: 300 }, "a handler that exits with 0 does not hide the timeout");
    let inner = room.exec(Run::bash("bash -c 'kill -9 $$'; exit $?")).await;
    assert_eq!(inner.end, End::Exited { code: 137 }, "the signal ended a child, not the command");
}

/// A stopped and continued process did not end.
pub(crate) async fn a_stop_is_no_end(room: &Room) {
    let first = room.start(Run::bash("(sleep 0.4; kill -CONT $$) & kill -STOP $$; echo on; exit 8").window(200)).await;
    assert_eq!(first.end, None);
    let whole = room.finish(first).await;
    assert_eq!((whole.text.as_str(), whole.exit_code()), ("on\n", Some(8)));
}
