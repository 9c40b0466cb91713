//! What a terminal shows, of real programs. One engine per process: see `support`.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use crannog_core::collect::Until;
use crannog_core::error::ErrorCode;
use crannog_core::id::ProcessId;
use crannog_core::process::TerminalSize;
use crannog_core::screen::{Screen, ScreenRequest};
use support::{Sandbox, SpecExt, argv, bash, exited, resident_bytes, run, until, until_text};

async fn screen(sandbox: &Sandbox, process: ProcessId) -> Screen {
    sandbox.engine.screen(process, ScreenRequest::default()).await.unwrap()
}

async fn since(sandbox: &Sandbox, process: ProcessId, version: u64) -> Screen {
    sandbox.engine.screen(process, ScreenRequest { since: Some(version), ..ScreenRequest::default() }).await.unwrap()
}

fn texts(screen: &Screen) -> Vec<&str> {
    screen.rows.iter().map(|row| row.text.as_str()).collect()
}

#[test]
fn text_ends_where_the_cursor_put_it() {
    run(async |sandbox| {
        let text = r"printf 'one\rtwo\n\033[5;10H\033]2;the title\007\xe4\xb8\xad\xe6\x96\x87x\033[?25l'";
        let process = sandbox.engine.start(bash(text).on_terminal()).unwrap();
        sandbox.end_of(process).await;
        let screen = screen(&sandbox, process).await;
        let rows = texts(&screen);
        assert_eq!((rows.len(), rows[0], rows[4]), (24, "two", "         \u{4e2d}\u{6587}x"));
        assert_eq!((screen.cursor.row, screen.cursor.column, screen.cursor.visible), (4, 14, false));
        assert_eq!((screen.title.as_str(), screen.alternate, screen.rendered_from), ("the title", false, 0));
        assert_eq!((screen.end, screen.size), (exited(0), TerminalSize::default()));
    });
}

#[test]
fn a_version_tells_which_rows_changed_since() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["cat"]).on_terminal()).unwrap();
        sandbox.collect(process, until(Until::Input)).await;
        let first = screen(&sandbox, process).await;
        assert_eq!(screen(&sandbox, process).await.version, first.version, "nothing happened");
        sandbox.write(process, "hello\n").await;
        sandbox.collect(process, until_text("hello\r\nhello\r\n")).await;
        let second = since(&sandbox, process, first.version).await;
        assert!(second.version > first.version);
        assert_eq!(second.rows.iter().map(|row| (row.row, row.text.as_str())).collect::<Vec<_>>(), [(0, "hello"), (1, "hello")]);
        assert_eq!(since(&sandbox, process, second.version).await.rows, []);
        assert_eq!(since(&sandbox, process, second.version + 7).await.rows.len(), 24, "no such version was handed out");
    });
}

#[test]
fn a_resize_renders_the_lines_anew() {
    run(async |sandbox| {
        let line = "abcdefghij".repeat(6);
        let process = sandbox.engine.start(bash(&format!("echo {line}; cat")).on_terminal()).unwrap();
        sandbox.collect(process, until(Until::Input)).await;
        assert_eq!(texts(&screen(&sandbox, process).await)[0], line);
        sandbox.engine.resize(process, TerminalSize { rows: 10, columns: 40 }).unwrap();
        let narrow = screen(&sandbox, process).await;
        assert_eq!((texts(&narrow)[0], texts(&narrow)[1], narrow.rows.len()), (&line[..40], &line[40..], 10));
        sandbox.engine.resize(process, TerminalSize { rows: 24, columns: 80 }).unwrap();
        assert_eq!(texts(&screen(&sandbox, process).await)[0], line, "nothing was cut off for good");
    });
}

#[test]
fn full_screen_programs_draw_on_the_alternate_screen() {
    let program = "import curses\ndef main(w):\n w.addstr(3, 5, 'drawn by curses'); w.move(7, 9); w.refresh(); w.getch()\ncurses.wrapper(main)\nprint('done')";
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["python3", "-c", program]).on_terminal()).unwrap();
        sandbox.collect(process, until(Until::Input)).await;
        let drawn = screen(&sandbox, process).await;
        assert_eq!((texts(&drawn)[3], drawn.alternate), ("     drawn by curses", true));
        assert_eq!((drawn.cursor.row, drawn.cursor.column, drawn.scrollback_total), (7, 9, 0));
        sandbox.write(process, "q").await;
        sandbox.end_of(process).await;
        let left = screen(&sandbox, process).await;
        assert!(!left.alternate && texts(&left).contains(&"done") && !texts(&left)[3].contains("curses"), "{left:?}");
    });
}

#[test]
fn lines_that_scrolled_off_are_kept_and_bounded() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["seq", "5000"]).on_terminal()).unwrap();
        sandbox.end_of(process).await;
        let request = ScreenRequest { since: None, scrollback_skip: 1, scrollback_lines: 2 };
        let screen = sandbox.engine.screen(process, request).await.unwrap();
        assert_eq!(screen.scrollback_total, 1_000);
        assert_eq!((screen.scrollback.as_slice(), texts(&screen)[0]), (&["4975".to_owned(), "4976".to_owned()][..], "4978"));
        let tput = sandbox.finish(argv(&["tput", "cols"]).on_terminal()).await;
        assert_eq!(tput.text, "80\r\n");
    });
}

/// More than is rendered, on the alternate screen since before that.
#[test]
fn a_long_past_is_rendered_from_its_end() {
    run(async |sandbox| {
        let text = r"printf '\033[?1049h'; head -c 3000000 /dev/zero | tr '\0' x | fold -w 79; printf '\033[2J\033[Hlast'; cat";
        let process = sandbox.engine.start(bash(text).on_terminal()).unwrap();
        sandbox.collect(process, until_text("last")).await;
        let screen = screen(&sandbox, process).await;
        assert_eq!((texts(&screen)[0], texts(&screen)[1], screen.alternate), ("last", "", true));
        assert!(screen.rendered_from > 0 && screen.offset > 3_000_000, "{} {}", screen.rendered_from, screen.offset);
    });
}

#[test]
fn a_flood_is_not_emulated_and_costs_no_more_than_its_end() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash(r"while :; do printf '\033[31mred\033[0m\n'; done").on_terminal()).unwrap();
        for _ in 0..3 {
            sandbox.collect(process, until(Until::Bytes(100_000))).await;
            assert!(texts(&screen(&sandbox, process).await).contains(&"red"));
        }
        assert!(resident_bytes() < 200 * 1024 * 1024);
        sandbox.engine.kill(process, Duration::ZERO).await.unwrap();
    });
}

/// Each of these asks for sixty thousand characters.
#[test]
fn output_that_is_dear_to_render_is_given_up_and_others_go_on() {
    run(async |sandbox| {
        let text = r"head -c 2000000 /dev/zero | sed 's/\x00/x\x1b[65535b/g' | head -c 2000000; echo; cat";
        let process = sandbox.engine.start(bash(text).on_terminal()).unwrap();
        sandbox.collect(process, until(Until::Input)).await;
        let look = sandbox.engine.screen(process, ScreenRequest::default());
        let other = async {
            let other = sandbox.engine.start(bash("echo other")).unwrap();
            sandbox.end_of(other).await.text
        };
        let (look, other) = tokio::join!(look, other);
        assert_eq!(other, "other\n");
        assert_eq!(look.unwrap_err().code(), ErrorCode::Internal);
    });
}

#[test]
fn what_has_no_screen_says_so() {
    run(async |sandbox| {
        let pipes = sandbox.engine.start(bash("cat").with_input()).unwrap();
        let error = sandbox.engine.screen(pipes, ScreenRequest::default()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotATerminal);
        let error = sandbox.engine.recording(pipes, 0, 10).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotRecorded);
        let process = sandbox.engine.start(argv(&["cat"]).on_terminal()).unwrap();
        sandbox.engine.resize(process, TerminalSize { rows: 4_096, columns: 4_096 }).unwrap();
        let error = sandbox.engine.screen(process, ScreenRequest::default()).await.unwrap_err();
        assert_eq!((error.code(), error.context()[1].1.as_str()), (ErrorCode::Unsupported, "4096"));
    });
}
