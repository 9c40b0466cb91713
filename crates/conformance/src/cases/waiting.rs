//! What ends a wait early, and what may not.

use std::time::{Duration, Instant};

use crannog::{End, ErrorCode, Reason, Until};
use futures_util::future::join_all;

use crate::need;
use crate::place::Need;
use crate::room::Room;
use crate::run::{Run, Wait};

/// Programs that wait for input, each in its own way.
const READERS: [(&str, &str); 12] = [
    ("the shell's read", "bash -c 'read x'"),
    ("a plain copy", "cat"),
    ("an interactive shell", "bash --norc --noprofile -i"),
    ("a plain shell", "sh -i"),
    ("the interpreter's input", "python3 -c 'input()'"),
    ("a prompt", "python3 -c 'input(\"name? \")'"),
    ("a password", "python3 -c 'import getpass; getpass.getpass()'"),
    ("select", "python3 -c 'import select; select.select([0], [], [])'"),
    ("select with a limit", "python3 -c 'import select; select.select([0], [], [], 60)'"),
    ("poll", "python3 -c 'import select; p = select.poll(); p.register(0, 1); p.poll()'"),
    ("epoll", "python3 -c 'import select; p = select.epoll(); p.register(0, 1); p.poll()'"),
    ("a thread", "python3 -c 'import threading, sys; threading.Thread(target=sys.stdin.readline).start()'"),
];

/// On a terminal and on a pipe, every kind of reader is seen waiting, and soon.
pub(crate) async fn every_kind_of_reader_is_seen_waiting(room: &Room) {
    for terminal in [true, false] {
        let checks = READERS.iter().map(|(name, command)| async move {
            let run = Run::shell(command).terminal_if(terminal).piped_unless(terminal).window(20_000).until(Until::Input);
            let update = room.start(run).await;
            assert!(update.waiting_for_input && update.reason == Reason::Input, "{name}, terminal {terminal}: {update:?}");
            room.kill(update.process).await;
        });
        join_all(checks).await;
    }
}

/// Who computes, sleeps, waits for a child or for something else is not waiting for input.
pub(crate) async fn who_does_something_else_is_not_waiting_for_input(room: &Room) {
    let others = [
        "sleep 30",
        "while :; do :; done",
        "python3 -c 'import time; time.sleep(30)'",
        "python3 -c 'import socket; a, b = socket.socketpair(); a.recv(1)'",
        "python3 -c 'import os; r, w = os.pipe(); os.read(r, 1)'",
        "python3 -c 'import select, os; r, w = os.pipe(); select.select([r], [], [], 30)'",
        "mkfifo /tmp/fifo-$$; exec 3<>/tmp/fifo-$$; rm /tmp/fifo-$$; read x <&3",
        "sleep 30 | cat",
    ];
    for terminal in [true, false] {
        let checks = others.iter().map(|text| async move {
            let run = Run::shell(text).terminal_if(terminal).piped_unless(terminal).window(900).until(Until::Input);
            let update = room.start(run).await;
            assert!(!update.waiting_for_input && update.reason == Reason::Window, "{text}, terminal {terminal}: {update:?}");
            room.kill(update.process).await;
        });
        join_all(checks).await;
    }
}

/// A background job that is stopped for reading does not count; the shell at its prompt does.
pub(crate) async fn after_input_the_wait_is_for_the_next_prompt(room: &Room) {
    let shell = room.start(Run::words("bash --norc --noprofile -i").terminal().until(Until::Input)).await;
    for round in 0..20 {
        let update = room.write(shell.process, format!("sleep 0.0{round}; echo do''ne{round}\n"), Wait::input()).await;
        assert!(update.text.contains(&format!("done{round}\r\n")), "the old prompt was taken for the new one: {:?}", update.text);
        assert!(update.waiting_for_input);
    }
}

/// Echo is reported as the program set it.
pub(crate) async fn echo_off_is_reported(room: &Room) {
    let first =
        room.start(Run::bash("read -p 'name: ' n; read -s -p 'word: ' p; echo; read -p 'more: ' m").terminal().until(Until::Input)).await;
    assert_eq!((first.text.as_str(), first.echo), ("name: ", Some(true)));
    let second = room.write(first.process, "me\n", Wait::input()).await;
    assert_eq!((second.text.as_str(), second.echo), ("me\r\nword: ", Some(false)));
    let third = room.write(first.process, "secret\n", Wait::input()).await;
    assert_eq!((third.text.as_str(), third.echo), ("\r\nmore: ", Some(true)));
    let pipe = room.start(Run::words("cat").piped().until(Until::Input)).await;
    assert_eq!(pipe.echo, None);
}

/// A text and a pattern are found although they come in pieces, in several windows, over both kinds of connection.
pub(crate) async fn a_text_is_found_across_its_pieces(room: &Room) {
    let text = "for c in s e r v e r ' ' o n ' ' 8 0 8 0 ' ' \u{4E2D}; do printf %s \"$c\"; sleep 0.02; done; sleep 30";
    for (until, reason) in [
        (Until::Text("server on 8080".into()), Reason::Text),
        (Until::Regex(r"on (\d{4}) \p{Han}".into()), Reason::Regex),
        (Until::Regex(r"^server.*\b80+80\b".into()), Reason::Regex),
    ] {
        for terminal in [true, false] {
            let begin = Instant::now();
            let update = room.start(Run::bash(text).terminal_if(terminal).window(20_000).until(until.clone())).await;
            assert_eq!(update.reason, reason, "{until:?}: {update:?}");
            assert!(begin.elapsed() < Duration::from_secs(5) && update.end.is_none());
            room.kill(update.process).await;
        }
    }
}

/// A condition that holds already ends the wait at once, even without a window; one that held before the cursor does not.
pub(crate) async fn a_condition_counts_from_the_cursor(room: &Room) {
    let first = room.start(Run::bash("echo ready; sleep 30").until_text("ready")).await;
    let again = room.collect(first.process, Wait::ms(0).from(0).until(Until::Text("ready".into()))).await;
    assert_eq!(again.reason, Reason::Text);
    let after = room.collect(first.process, Wait::ms(300).from(again.cursor).until(Until::Text("ready".into()))).await;
    assert_eq!((after.reason, after.text.as_str()), (Reason::Window, ""));
}

/// Silence begins with output and ends with it.
pub(crate) async fn silence_is_counted_from_the_last_byte(room: &Room) {
    let text = "sleep 0.6; for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; sleep 30";
    let begin = Instant::now();
    let update = room.start(Run::bash(text).window(20_000).until(Until::Silent(Duration::from_millis(400)))).await;
    assert_eq!((update.reason, update.text.as_str()), (Reason::Silent, "1\n2\n3\n4\n5\n6\n"));
    assert!((Duration::from_millis(1_400)..Duration::from_secs(6)).contains(&begin.elapsed()), "{:?}", begin.elapsed());
}

/// So many bytes, whatever they are.
pub(crate) async fn bytes_are_counted(room: &Room) {
    let run = Run::bash(r"printf '\344\270'; sleep 0.3; printf '\255xyz'; sleep 30");
    let update = room.start(run.window(20_000).until(Until::Bytes(5))).await;
    assert_eq!((update.reason, update.text.as_str()), (Reason::Bytes, "\u{4E2D}xyz"));
}

/// The end of the process ends every wait, whatever it waited for; the window ends it otherwise, and not earlier.
pub(crate) async fn the_end_and_the_window_end_every_wait(room: &Room) {
    let conditions =
        || [Until::Text("never".into()), Until::Regex("never".into()), Until::Silent(Duration::from_secs(20)), Until::Bytes(1 << 40)];
    for until in conditions() {
        let update = room.start(Run::bash("sleep 0.3; echo hi; exit 2").window(20_000).until(until.clone())).await;
        assert_eq!((update.reason, update.end), (Reason::Exit, Some(End::Exited { code: 2 })), "{until:?}");
    }
    for until in conditions() {
        let begin = Instant::now();
        let update = room.start(Run::bash("echo hi; sleep 30").window(400).until(until.clone())).await;
        assert_eq!((update.reason, update.text.as_str()), (Reason::Window, "hi\n"), "{until:?}");
        assert!((Duration::from_millis(400)..Duration::from_secs(2)).contains(&begin.elapsed()), "{:?}", begin.elapsed());
    }
}

/// Without a condition output does not end a window.
pub(crate) async fn without_a_condition_only_the_end_closes_a_window(room: &Room) {
    let begin = Instant::now();
    let update = room.start(Run::bash("for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.1; done").window(10_000)).await;
    assert_eq!(update.text, "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    assert!((Duration::from_millis(900)..Duration::from_secs(4)).contains(&begin.elapsed()));
}

/// A pattern that would blow up a backtracking engine is matched in linear time, on a flood.
pub(crate) async fn a_costly_pattern_costs_others_nothing(room: &Room) {
    need!(room, Need::GuestProcess);
    let first = room.start(Run::bash("yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").terminal().window(0).budget(10)).await;
    let slow = room.collect(first.process, Wait::ms(1_500).until(Until::Regex("(a+)+b".into())).budget(10));
    let other = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let begin = Instant::now();
        assert_eq!(room.bash("echo ok").await, "ok");
        begin.elapsed()
    };
    let (update, took) = tokio::join!(slow, other);
    assert_eq!(update.reason, Reason::Window);
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// What cannot be waited for is refused before anything is waited for.
pub(crate) async fn impossible_conditions_are_refused(room: &Room) {
    let first = room.start(Run::words("sleep 30").window(0)).await;
    for until in [
        Until::Regex("(".into()),
        Until::Regex("a{1000}{1000}{1000}".into()),
        Until::Regex("x".repeat(5_000)),
        Until::Text(String::new()),
        Until::Text("x".repeat(5_000)),
    ] {
        let begin = Instant::now();
        let error = room.try_collect(first.process, Wait::ms(10_000).until(until.clone())).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument, "{until:?}: {error:?}");
        assert!(begin.elapsed() < Duration::from_secs(2));
        let error = room.try_start(Run::words("sleep 30").window(10_000).until(until)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
    }
    let many = (0..20).fold(Wait::ms(0), |wait, index| wait.until(Until::Text(format!("{index}"))));
    assert_eq!(room.try_collect(first.process, many).await.unwrap_err().code(), ErrorCode::InvalidArgument);
    assert_eq!(room.list().await.len(), 1, "a start with an impossible wait starts nothing");
}
