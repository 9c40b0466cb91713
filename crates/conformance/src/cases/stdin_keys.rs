//! Input and control keys, with and without a terminal.

use std::time::{Duration, Instant};

use crannog::{End, ErrorCode, Signal};

use crate::marker;
use crate::need;
use crate::outside;
use crate::place::Need;
use crate::processes::{eventually, matching};
use crate::room::Room;
use crate::run::{Run, Wait};

/// KEY-02.
pub(crate) async fn ctrl_c_without_a_terminal_interrupts_the_group(room: &Room) {
    let text = "trap 'echo got; exit 42' INT; echo ready; while :; do sleep 0.1; done";
    let first = room.start(Run::bash(text).until_text("ready")).await;
    let update = room.write(first.process, b"\x03", Wait::ms(3_000)).await;
    assert_eq!((update.text.as_str(), update.end), ("got\n", Some(End::Exited { code: 42 })));
    assert_eq!(update.written.map(|written| written.accepted), Some(1));
}

/// KEY-04.
pub(crate) async fn ctrl_d_ends_input_only_at_the_start_of_a_line(room: &Room) {
    let first = room.start(Run::words("cat").terminal().until(crannog::Until::Input)).await;
    let update = room.write(first.process, b"abc\x04", Wait::ms(500)).await;
    assert_eq!((update.text.as_str(), update.end), ("abcabc", None));
    let update = room.write(first.process, b"\x04", Wait::ms(1_000)).await;
    assert_eq!(update.end, Some(End::Exited { code: 0 }));
}

/// KEY-05.
pub(crate) async fn ctrl_z_is_not_an_end(room: &Room) {
    let leader = room.start(Run::words("sleep 100").terminal().window(100)).await;
    let update = room.write(leader.process, b"\x1a", Wait::ms(500)).await;
    assert_eq!((update.text.as_str(), update.end), ("^Z", None));
    assert!(room.kill(leader.process).await.complete);

    let shell = room.start(Run::words("bash --norc -i").terminal().until(crannog::Until::Input)).await;
    room.write(shell.process, "sleep 100\n", Wait::ms(400)).await;
    let update = room.write(shell.process, b"\x1a", Wait::text("Stopped")).await;
    assert!(update.text.contains("Stopped"), "{:?}", update.text);
    let update = room.write(shell.process, "echo al''ive\n", Wait::text("alive\r\n")).await;
    assert!(update.text.contains("alive\r\n") && update.end.is_none(), "{:?}", update.text);
}

/// KEY-07.
pub(crate) async fn a_write_after_the_end_is_refused(room: &Room) {
    for terminal in [true, false] {
        let first = room.start(Run::bash("exit 3").terminal_if(terminal).piped_unless(terminal).window(5_000)).await;
        assert_eq!(first.end, Some(End::Exited { code: 3 }));
        for bytes in [&b"x\n"[..], b"\x03"] {
            let error = room.try_write(first.process, bytes, Wait::ms(200)).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::ProcessEnded, "{error:?}");
        }
        assert_eq!(room.bash("echo well").await, "well");
    }
}

/// The kind behind KEY-07: input goes on and on while the process ends. Never success for bytes that nobody could read after the end
/// was reported, and never harm.
pub(crate) async fn writes_around_an_exit_do_no_harm(room: &Room) {
    for round in 0..20 {
        let terminal = round % 2 == 0;
        let first = room.start(Run::bash("read x; exit 6").terminal_if(terminal).piped_unless(terminal).window(0)).await;
        let mut ended = false;
        for _ in 0..50 {
            match room.try_write(first.process, "line\n", Wait::ms(1)).await {
                Ok(update) => {
                    assert!(!ended, "a write was taken after the end had been reported");
                    ended = update.end.is_some();
                }
                Err(error) => assert!(matches!(error.code(), ErrorCode::ProcessEnded | ErrorCode::StdinClosed), "round {round}: {error:?}"),
            }
        }
        assert_eq!(room.finish(first).await.exit_code(), Some(6));
    }
}

/// KEY-10.
pub(crate) async fn a_password_prompt_on_the_terminal_is_asked_and_not_echoed(room: &Room) {
    let text = "read -s -p 'Password: ' p </dev/tty; echo; echo got:$p";
    let first = room.start(Run::bash(text).terminal().until(crannog::Until::Input)).await;
    assert!(first.text.ends_with("Password: "), "{:?}", first.text);
    assert_eq!((first.waiting_for_input, first.echo), (true, Some(false)));
    let update = room.write(first.process, "s3cret\n", Wait::ms(3_000)).await;
    assert_eq!(update.text, "\r\ngot:s3cret\r\n");
}

/// KEY-11. The caller that makes the sandbox runs on a terminal itself.
pub(crate) async fn without_a_terminal_dev_tty_fails_and_the_callers_terminal_stays_clean(room: &Room) {
    let outer = outside::fresh_on_terminal(room, "cat </dev/tty; echo rc=$?");
    let whole = room.whole(outer).await;
    let answer = outside::parse(whole.raw.as_slice());
    assert_eq!(answer["stdout"], "rc=1\n", "{answer}");
    assert!(answer["stderr"].as_str().unwrap().contains("No such device or address"), "{answer}");
    assert!(answer["duration_ms"].as_u64().unwrap() < 1_000);
    assert_eq!(whole.lines().len(), 1, "nothing but the answer on the caller's terminal: {:?}", whole.text);
}

/// KEY-14.
pub(crate) async fn a_background_reader_is_stopped_and_the_call_returns(room: &Room) {
    let begin = Instant::now();
    let first = room.start(Run::argv(["bash", "--norc", "-ic", "cat & wait; echo after"]).terminal().window(3_000)).await;
    assert!(begin.elapsed() <= Duration::from_secs(4));
    assert!(first.end.is_some() || first.text.to_lowercase().contains("stopped"), "{:?}", first.text);
    room.kill(first.process).await;
    let own: Vec<_> = crate::processes::of_sandbox(room.id()).into_iter().filter(|seen| seen.command == "cat").collect();
    assert!(own.is_empty(), "{own:?}");
}

/// KEY-15.
pub(crate) async fn a_carriage_return_ends_a_line(room: &Room) {
    let first = room.start(Run::bash("read x; echo \"got:[$x]\"").terminal().until(crannog::Until::Input)).await;
    let update = room.write(first.process, "abc\r", Wait::ms(3_000)).await;
    assert_eq!(update.text, "abc\r\ngot:[abc]\r\n");
}

/// KEY-18.
pub(crate) async fn ctrl_c_loses_no_output_that_nobody_collected(room: &Room) {
    let first = room.start(Run::bash("seq 1 2000; echo MARK; sleep 100").terminal().window(0).budget(100_000)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    room.write(first.process, b"\x03", Wait::ms(0)).await;
    let whole = room.finish(first).await;
    assert!(whole.text.contains("\r\n2000\r\nMARK\r\n"), "{:?}", whole.text.get(whole.text.len().saturating_sub(60)..));
    assert_eq!(whole.exit_code(), Some(130));
}

/// KEY-19.
pub(crate) async fn the_terminal_controls_its_process(room: &Room) {
    let first = room.start(Run::python("import time; print('up', flush=True); time.sleep(60)").terminal().until_text("up")).await;
    room.write(first.process, b"\x03", Wait::ms(0)).await;
    let whole = room.finish(first).await;
    assert!(whole.text.contains("KeyboardInterrupt"));
    assert_eq!(whole.exit_code(), Some(130));

    let whole = room.whole(Run::argv(["bash", "--norc", "-ic", "echo hi; ps -o tpgid=,pgid= -p $$"]).terminal()).await;
    assert!(!whole.text.contains("no job control"), "{:?}", whole.text);
    let numbers: Vec<&str> = whole.lines().last().unwrap().split_whitespace().collect();
    assert!(numbers.len() == 2 && numbers[0] == numbers[1], "{:?}", whole.text);
}

/// KEY-21.
pub(crate) async fn closing_the_input_completes_it(room: &Room) {
    let first = room.start(Run::words("sort").piped().window(0)).await;
    let update = room.write(first.process, "b\na\n", Wait::ms(300)).await;
    assert_eq!((update.text.as_str(), update.end), ("", None));
    let begin = Instant::now();
    room.close_stdin(first.process).await;
    let update = room.collect(first.process, Wait::ms(5_000)).await;
    assert!(begin.elapsed() < Duration::from_secs(1));
    assert_eq!((update.text.as_str(), update.end), ("a\nb\n", Some(End::Exited { code: 0 })));

    let sleep = room.start(Run::words("sleep 50").piped().window(0)).await;
    room.close_stdin(sleep.process).await;
    let error = room.try_write(sleep.process, "x", Wait::ms(100)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::StdinClosed, "{error:?}");
}

/// A process that was given no input takes none but the interrupt, and says so.
pub(crate) async fn a_process_without_input_refuses_it(room: &Room) {
    let first = room.start(Run::words("sleep 50").window(0)).await;
    for bytes in [&b"x"[..], b"\x03\x03", b"\x04"] {
        let error = room.try_write(first.process, bytes, Wait::ms(100)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::StdinClosed, "{bytes:?}: {error:?}");
    }
    assert_eq!(room.collect(first.process, Wait::ms(0)).await.end, None);
    let update = room.write(first.process, b"\x03", Wait::ms(3_000)).await;
    assert_eq!(update.end.as_ref().and_then(End::exit_code), Some(128 + Signal::INT.number()));
}

/// No bytes are no input: nothing is sent, nothing fails.
pub(crate) async fn an_empty_write_is_a_collect(room: &Room) {
    for terminal in [true, false] {
        let first = room.start(Run::words("cat").terminal_if(terminal).piped_unless(terminal).window(0)).await;
        let update = room.write(first.process, "", Wait::ms(150)).await;
        assert_eq!((update.text.as_str(), update.end), ("", None));
        assert_eq!(update.written.map_or(0, |written| written.accepted), 0);
    }
}

/// Ctrl-\ quits, and the interrupt reaches a foreground pipeline as a whole.
pub(crate) async fn control_keys_reach_the_whole_foreground_group(room: &Room) {
    let (one, two) = (marker::sleep_seconds(), marker::sleep_seconds());
    let shell = room.start(Run::words("bash --norc --noprofile -i").terminal().until(crannog::Until::Input)).await;
    room.write(shell.process, format!("sleep {one} | sleep {two}\n"), Wait::ms(0)).await;
    assert!(eventually(Duration::from_secs(3), || !matching(&one).is_empty() && !matching(&two).is_empty()).await);
    room.write(shell.process, b"\x03", Wait::ms(0)).await;
    assert!(eventually(Duration::from_secs(2), || matching(&one).is_empty() && matching(&two).is_empty()).await);
    let quit = room.start(Run::words("sleep 100").terminal().window(100)).await;
    let update = room.write(quit.process, b"\x1c", Wait::ms(3_000)).await;
    assert_eq!(update.end.as_ref().and_then(End::exit_code), Some(131), "{update:?}");
}

/// A prompt is never guessed: this is the editor of the case's own words, driven by a real interpreter.
pub(crate) async fn an_interpreter_is_driven_through_several_windows(room: &Room) {
    need!(room, Need::Program("python3"));
    let python = room.start(Run::words("python3 -q -i").terminal().until(crannog::Until::Input)).await;
    assert!(python.text.contains(">>> "), "{:?}", python.text);
    let update = room.write(python.process, "chr(0x4e2d) + chr(0x1f600)\n", Wait::input()).await;
    assert!(update.text.contains("'\u{4E2D}\u{1F600}'\r\n>>> ") && update.waiting_for_input, "{:?}", update.text);
    let update = room.write(python.process, "import time; time.sleep(50)\n", Wait::ms(400).until(crannog::Until::Input)).await;
    assert!(!update.waiting_for_input && update.reason == crannog::Reason::Window, "{update:?}");
    let update = room.write(python.process, b"\x03", Wait::input()).await;
    assert!(update.text.contains("KeyboardInterrupt") && update.text.ends_with(">>> "), "{:?}", update.text);
    room.write(python.process, "exit(5)\n", Wait::ms(0)).await;
    assert_eq!(room.finish(room.collect(python.process, Wait::ms(0)).await).await.exit_code(), Some(5));
}
