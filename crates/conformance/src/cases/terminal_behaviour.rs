//! What a terminal is to the programs on it, as far as no rendered screen is needed.

use std::time::{Duration, Instant};

use crannog::{End, ErrorCode, Until};

use crate::need;
use crate::place::Need;
use crate::room::Room;
use crate::run::{Run, Wait};

/// TERM-01.
pub(crate) async fn line_feeds_become_two_characters_on_a_terminal_only(room: &Room) {
    for (terminal, expected) in [(true, &b"a\r\nb\r\n"[..]), (false, b"a\nb\n")] {
        let whole = room.whole(Run::bash(r"printf 'a\nb\n'").terminal_if(terminal)).await;
        assert_eq!((whole.raw.as_slice(), whole.exit_code()), (expected, Some(0)));
    }
}

/// TERM-03.
pub(crate) async fn a_full_screen_editor_starts_and_leaves(room: &Room) {
    need!(room, Need::Program("vim"));
    let begin = Instant::now();
    let first = room.start(Run::words("vim -u NONE -N").terminal().window(1_500)).await;
    assert!(first.end.is_none() && first.text.contains("\u{1b}[?1049h"), "{:?}", first.text);
    let update = room.write(first.process, ":q!\r", Wait::ms(2_000)).await;
    assert_eq!(update.end, Some(End::Exited { code: 0 }));
    assert!(update.text.contains("\u{1b}[?1049l"), "{:?}", update.text);
    assert!(begin.elapsed() < Duration::from_secs(6), "{:?}", begin.elapsed());
}

/// TERM-06. Without a screen nobody answers; the asking program's own limit ends it, and nothing hangs.
pub(crate) async fn a_program_that_asks_for_attributes_hangs_nothing(room: &Room) {
    for query in ["\\033[c", "\\033[0c"] {
        let text = format!(
            "stty -echo -icanon min 0 time 10; printf '{query}'; answer=$(dd bs=64 count=1 2>/dev/null); stty sane; echo; echo \"[${{#answer}}]\""
        );
        let begin = Instant::now();
        let whole = room.whole(Run::bash(text).terminal().window(5_000)).await;
        assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
        assert_eq!(whole.exit_code(), Some(0), "{whole:?}");
        let length: usize = whole.lines().last().unwrap().trim_matches(['[', ']']).parse().unwrap();
        assert!(length == 0 || length >= 4, "no answer, or a whole one: {whole:?}");
    }
}

/// TERM-08.
pub(crate) async fn answers_to_a_query_never_become_commands(room: &Room) {
    let shell = room.start(Run::words("bash --norc --noprofile -i").terminal().until(Until::Input)).await;
    let query = r"printf '\033[6n\033]11;?\007\033[c'";
    let asked = room.write(shell.process, format!("{query}\n"), Wait::ms(800)).await;
    let update = room.write(shell.process, "echo ok\n", Wait::ms(800)).await;
    let text = asked.text + &update.text;
    let exact = text.split(['\r', '\n']).any(|line| line == "ok" || line.ends_with("\u{1b}[?2004l") || line.ends_with("lok"));
    assert!(exact && text.split("\r\n").any(|line| line.trim_start_matches("\u{1b}[?2004l\r") == "ok"), "{text:?}");
    assert!(!text.contains("command not found") && !text.contains("rgb:"), "{text:?}");
}

/// TERM-09.
pub(crate) async fn query_bytes_on_pipes_are_only_output(room: &Room) {
    let first = room.start(Run::bash(r"printf '\033[6n\033[c'; cat | wc -c >&2").piped().window(500)).await;
    assert_eq!(first.raw, b"\x1b[6n\x1b[c");
    room.close_stdin(first.process).await;
    let whole = room.finish(first).await;
    assert_eq!(whole.raw, b"\x1b[6n\x1b[c0\n", "cat received nothing");
}

/// TERM-11.
pub(crate) async fn a_resize_is_seen_and_harmless_after_the_end(room: &Room) {
    let run = Run::bash("trap 'stty size' WINCH; echo up; for i in $(seq 20); do sleep 0.1; done").terminal();
    let first = room.start(run.until_text("up")).await;
    room.try_resize(first.process, 50, 132).await.unwrap();
    let whole = room.finish(first).await;
    assert!(whole.lines().contains(&"50 132"), "{:?}", whole.text);
    match room.try_resize(whole.process, 10, 10).await {
        Ok(()) => {}
        Err(error) => assert_eq!(error.code(), ErrorCode::ProcessEnded, "{error:?}"),
    }
    assert_eq!(room.bash("echo alive").await, "alive");
    let sized = room.whole(Run::words("stty size").sized(33, 101)).await;
    assert_eq!(sized.lines(), ["33 101"]);
    let default = room.whole(Run::words("stty size").terminal()).await;
    assert_eq!(default.lines(), ["24 80"]);
}

/// TERM-13. The guest's own environment is empty, whoever starts it.
pub(crate) async fn a_terminal_has_a_known_type(room: &Room) {
    need!(room, Need::Program("tput"));
    let whole = room.whole(Run::bash("echo \"[$TERM]\"; tput cols; clear >/dev/null; echo rc=$?").terminal()).await;
    let lines = whole.lines();
    assert!(lines[0].len() > 2, "{lines:?}");
    assert!(lines[1].parse::<u32>().unwrap() > 0, "{lines:?}");
    assert_eq!(lines[2], "rc=0", "{lines:?}");
}

/// TERM-15.
pub(crate) async fn a_pager_that_is_asked_for_runs_and_can_be_left(room: &Room) {
    need!(room, Need::Program("less"));
    repository(room).await;
    let run = Run::words("git log").terminal().env("GIT_PAGER", "less").env("PAGER", "less").env("LESS", "");
    let first = room.start(run.window(5_000).until_text("msg40").until(Until::Input)).await;
    assert_eq!(first.end, None, "{first:?}");
    let update = room.write(first.process, "q", Wait::ms(3_000)).await;
    assert_eq!(update.end, Some(End::Exited { code: 0 }), "{:?}", update.text);
}

/// Without a terminal no pager is started.
pub(crate) async fn without_a_terminal_nothing_is_paged(room: &Room) {
    repository(room).await;
    let output = room.exec(Run::words("git log --format=%s").timeout_ms(10_000)).await;
    assert_eq!((output.stdout_text().lines().count(), output.exit_code()), (40, Some(0)));
}

/// TERM-16.
pub(crate) async fn a_commit_without_a_message_returns_and_can_be_left(room: &Room) {
    need!(room, Need::Program("vim"));
    repository(room).await;
    let first = room.start(Run::words("git commit --allow-empty").terminal().env("EDITOR", "vim -u NONE -N").window(3_000)).await;
    if first.end.is_none() {
        let update = room.write(first.process, "\x1b:q!\r", Wait::ms(5_000)).await;
        assert_eq!(update.end, Some(End::Exited { code: 1 }), "{:?}", update.text);
    } else {
        assert_ne!(first.end, Some(End::Exited { code: 0 }));
    }
    let again = room.start(Run::words("git commit --allow-empty").terminal().env("EDITOR", "vim -u NONE -N").window(500)).await;
    room.kill(again.process).await;
    assert_eq!(room.bash("ls .git | grep -c lock || true").await, "0", "the repository is not left locked");
    room.bash("git commit -q --allow-empty -m after").await;
}

/// TERM-19.
pub(crate) async fn modes_that_a_program_changed_do_not_outlive_it(room: &Room) {
    let shell = room.start(Run::words("bash --norc --noediting -i").terminal().until(Until::Input)).await;
    room.write(shell.process, "stty -echo -icanon raw\n", Wait::ms(500)).await;
    room.write(shell.process, "stty sane\n", Wait::ms(500)).await;
    let update = room.write(shell.process, "echo visi''ble\n", Wait::text("visible")).await;
    assert!(update.text.contains("visible"), "{:?}", update.text);
    let modes = room.whole(Run::words("stty -a").terminal()).await;
    let words: Vec<&str> = modes.text.split([' ', ';', '\r', '\n']).collect();
    for mode in ["echo", "icanon", "isig", "onlcr", "icrnl", "ixon"] {
        assert!(words.contains(&mode) && !words.contains(&format!("-{mode}").as_str()), "{mode}: {:?}", modes.text);
    }
}

/// A terminal is not 8-bit dirty: erasing in line mode takes a whole character.
pub(crate) async fn erasing_takes_a_whole_character(room: &Room) {
    let first = room.start(Run::bash("read x; printf '%s' \"$x\" | od -An -tx1").terminal().until(Until::Input)).await;
    let update = room.write(first.process, "a\u{4E2D}\x7fb\r", Wait::ms(3_000)).await;
    assert!(update.text.ends_with(" 61 62\r\n"), "{:?}", update.text);
}

/// A sudden hang-up of one terminal leaves the others.
pub(crate) async fn terminals_do_not_share_their_fate(room: &Room) {
    let one = room.start(Run::words("cat").terminal().window(0)).await;
    let two = room.start(Run::words("cat").terminal().window(0)).await;
    room.kill(one.process).await;
    let update = room.write(two.process, "here\n", Wait::text("here\r\nhere")).await;
    assert!(update.text.contains("here\r\nhere"), "{:?}", update.text);
}

/// A repository with forty commits in the workspace.
async fn repository(room: &Room) {
    room.bash(
        "git init -q . && git config user.email a@example.org && git config user.name a && \
         for i in $(seq 40); do git commit -q --allow-empty -m msg$i; done",
    )
    .await;
}
