//! What programs ask of their terminal, and who answers. One engine per process: see `support`.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use crannog_core::collect::{Collect, Until};
use crannog_core::process::StartSpec;
use crannog_core::screen::ScreenRequest;
use support::{Sandbox, SpecExt, argv, bash, exited, run, until, until_text, window};

/// Asks in raw mode, reads what comes until there is nothing for `patience_s`, and shows it.
fn asker(question: &str, patience_s: f32) -> StartSpec {
    let program = format!(
        "import os, select, sys, termios, tty\n\
         before = termios.tcgetattr(0); tty.setraw(0)\n\
         os.write(1, b'{question}')\n\
         got = b''\n\
         while select.select([0], [], [], {patience_s} if not got else 0.3)[0]: got += os.read(0, 4096)\n\
         termios.tcsetattr(0, termios.TCSADRAIN, before)\n\
         print(); print('got', repr(got))"
    );
    argv(&["python3", "-c", &program]).on_terminal()
}

async fn answer_to(sandbox: &Sandbox, question: &str) -> String {
    let update = sandbox.finish(asker(question, 5.0)).await;
    let got = update.text.lines().find_map(|line| line.strip_prefix("got b'")).unwrap_or_default();
    got.trim_end().trim_end_matches('\'').to_owned()
}

#[test]
fn programs_that_wait_for_an_answer_get_one() {
    run(async |sandbox| {
        let cases = [
            (r"\033[c", r"\x1b[?62;22c"),
            (r"\033[0c", r"\x1b[?62;22c"),
            (r"\033[>c", r"\x1b[>1;10;0c"),
            (r"\033[5n", r"\x1b[0n"),
            (r"ab\033[6n", r"\x1b[1;3R"),
            (r"\033[7;70H\033[6n\033]11;?\007", r"\x1b[7;70R\x1b]11;rgb:0000/0000/0000\x07"),
            (r"\033]10;?\033\\", r"\x1b]10;rgb:cccc/cccc/cccc\x1b\\"),
            (r"\033[?2004h\033[?2004$p", r"\x1b[?2004;1$y"),
            (r"\033[?u\033[c", r"\x1b[?62;22c"),
        ];
        for (question, answer) in cases {
            assert_eq!(answer_to(&sandbox, question).await, answer, "{question}");
        }
    });
}

#[test]
fn what_is_not_waited_for_is_not_answered() {
    run(async |sandbox| {
        // Output goes on behind the question, so it is not what the program waits for.
        let update = sandbox.finish(asker(r"\033[6ntext", 0.5)).await;
        assert!(update.text.contains("got b''"), "{}", update.text);
        // In line mode an answer would be typed into a line.
        let process = sandbox.engine.start(bash(r"printf '\033[6n\033[c'; cat").on_terminal()).unwrap();
        let update = sandbox.collect(process, until(Until::Silent(Duration::from_millis(500)))).await;
        assert_eq!(update.text, "\x1b[6n\x1b[c");
        // Without a terminal nobody is asked.
        let process = sandbox.engine.start(bash(r"printf '\033[6n\033[c'; cat").with_input()).unwrap();
        sandbox.collect(process, until(Until::Silent(Duration::from_millis(300)))).await;
        sandbox.engine.close_stdin(process).unwrap();
        let update = sandbox.end_of(process).await;
        assert_eq!((update.text.as_str(), update.end), ("\x1b[6n\x1b[c", exited(0)));
    });
}

/// A late answer would be run as a command by the shell.
#[test]
fn no_answer_is_typed_into_a_shell() {
    for shell in [&["bash", "--norc", "--noprofile", "-i"][..], &["bash", "--norc", "--noediting", "-i"], &["dash", "-i"]] {
        run(async |sandbox| {
            let process = sandbox.engine.start(argv(shell).with("PS1", "").on_terminal()).unwrap();
            sandbox.collect(process, until(Until::Input)).await;
            sandbox.write(process, b"printf '\\033[6n\\033]11;?\\007\\033[c'\n").await;
            sandbox.collect(process, window(800)).await;
            sandbox.write(process, b"echo ok\n").await;
            sandbox.collect(process, until_text("ok\r\n")).await;
            sandbox.collect(process, window(800)).await;
            let all = sandbox.collect(process, Collect { cursor: Some(0), ..window(0) }).await.text;
            assert!(!all.contains("not found") && !all.contains("rgb:") && !all.contains(";22c"), "{shell:?}: {all:?}");
            assert!(all.contains("\nok\r\n") || all.contains("\rok\r\n"), "{shell:?}: {all:?}");
            sandbox.engine.kill(process, Duration::ZERO).await.unwrap();
        });
    }
}

#[test]
fn a_question_behind_a_flood_is_answered_at_its_end() {
    run(async |sandbox| {
        let question = r"' + b'\033[c line\r\n' * 20000 + b'\033[6n";
        assert_eq!(answer_to(&sandbox, question).await, r"\x1b[24;1R");
    });
}

#[test]
fn a_terminal_of_the_follower_answers_instead() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["cat"]).on_terminal()).unwrap();
        drop(sandbox.engine.follow(process, 0, false).unwrap().owning_terminal());
        let process = sandbox.engine.start(asker(r"\033[c", 0.6)).unwrap();
        let follower = sandbox.engine.follow(process, 0, false).unwrap().owning_terminal();
        let update = sandbox.end_of(process).await;
        assert!(update.text.contains("got b''"), "{}", update.text);
        drop(follower);
        assert_eq!(answer_to(&sandbox, r"\033[c").await, r"\x1b[?62;22c");
    });
}

#[test]
fn an_editor_starts_at_once_and_leaves() {
    run(async |sandbox| {
        let began = Instant::now();
        let process = sandbox.engine.start(argv(&["vim", "-u", "NONE", "-N"]).on_terminal()).unwrap();
        let drawn = sandbox.collect(process, until(Until::Input)).await;
        assert!(drawn.text.contains("\x1b[?1049h") && drawn.waiting_for_input, "{drawn:?}");
        sandbox.write(process, "ihello\x1b").await;
        let deadline = Instant::now() + Duration::from_secs(10);
        while sandbox.engine.screen(process, ScreenRequest::default()).await.unwrap().rows[0].text != "hello" {
            assert!(Instant::now() < deadline, "the text never showed");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        sandbox.write(process, ":q!\r").await;
        let update = sandbox.end_of(process).await;
        assert_eq!(update.end, exited(0));
        assert!(update.text.contains("\x1b[?1049l"));
        assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    });
}
