//! What a command finds when it starts: nothing of the host, nothing of its neighbours, everything that was asked for.

use std::os::unix::ffi::OsStrExt as _;
use std::time::{Duration, Instant};

use crannog::ErrorCode;

use crate::marker;
use crate::need;
use crate::outside;
use crate::place::Need;
use crate::processes::{self, eventually, matching};
use crate::room::Room;
use crate::run::{Run, Wait};

/// ENV-03.
pub(crate) async fn signals_that_the_creator_ignores_are_not_ignored(room: &Room) {
    let command = "trap '' HUP INT TERM PIPE CHLD USR1; exec";
    let answer = outside::fresh_under(room, command, "grep -E 'Sig(Ign|Blk)' /proc/self/status").await;
    let text = answer["stdout"].as_str().unwrap();
    for (line, name) in text.lines().zip(["SigBlk", "SigIgn"]) {
        assert_eq!(line.split_whitespace().collect::<Vec<_>>(), [&format!("{name}:"), "0000000000000000"], "{text}");
    }
    assert_eq!(text.lines().count(), 2);
}

/// ENV-04.
pub(crate) async fn secrets_of_the_creator_do_not_leak(room: &Room) {
    let command = "export SANDBOX_TEST_SECRET=sentinel-123 OPENAI_API_KEY=sentinel-456; exec";
    let answer = outside::fresh_under(room, command, "env; cat /proc/$PPID/environ | tr '\\0' '\\n'").await;
    let text = answer["stdout"].as_str().unwrap();
    assert!(!text.contains("sentinel"), "{text}");
    for terminal in [false, true] {
        let whole = room.whole(Run::words("env").terminal_if(terminal).env("MINE", "given \u{4E2D}")).await;
        for name in ["PATH=/", "HOME=/", "TERM=", "LANG=", "MINE=given \u{4E2D}"] {
            assert!(whole.lines().iter().any(|line| line.starts_with(name)), "{name}: {:?}", whole.text);
        }
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO") || name.starts_with("NEXTEST")) {
            assert!(!whole.text.contains(&format!("{name}=")), "{name} of this test leaked");
        }
    }
}

/// ENV-07. The guest is killed, so every master that it had is closed; a copy in B would keep A's terminal alive.
pub(crate) async fn no_terminal_leaks_into_a_neighbour(room: &Room) {
    need!(room, Need::GuestProcess);
    let fresh = room.neighbour(room.place().options()).await;
    let (a, b) = (marker::sleep_seconds(), marker::sleep_seconds());
    fresh.start(Run::words(&format!("sleep {a}")).terminal().window(100)).await;
    fresh.start(Run::bash(format!("trap '' HUP; sleep {b}")).window(100)).await;
    assert!(eventually(Duration::from_secs(2), || !matching(&format!("sleep {b}")).is_empty()).await);
    outside::kill_now(fresh.guest().await);
    assert!(eventually(Duration::from_secs(3), || matching(&a).is_empty()).await, "{:?}", matching(&a));
    assert!(!matching(&b).is_empty(), "B ran meanwhile");
}

/// The kind behind ENV-07: a command has no descriptor but its three.
pub(crate) async fn a_command_has_three_descriptors(room: &Room) {
    room.start(Run::words("cat").terminal().window(0)).await;
    room.start(Run::words("cat").piped().window(0)).await;
    for terminal in [false, true] {
        let text = "import os\nprint(sorted(int(f) for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)))";
        let whole = room.whole(Run::python(text).terminal_if(terminal)).await;
        assert_eq!(whole.lines(), ["[0, 1, 2]"]);
    }
    let ids = room.whole(Run::bash("echo $(ps -o sid= -p $$) $(ps -o pgid= -p $$) $$")).await;
    let ids: Vec<&str> = ids.lines()[0].split(' ').collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2], "a session of its own: {ids:?}");
}

/// ENV-09.
pub(crate) async fn a_directory_that_went_away_is_named_and_wedges_nothing(room: &Room) {
    room.bash("mkdir w").await;
    let workspace = room.bash("pwd").await;
    let within = room.exec(Run::words("pwd").cwd("w")).await;
    assert_eq!(within.stdout_text().trim_end(), format!("{workspace}/w"));
    room.bash("rmdir w").await;
    let error = room.try_exec(Run::words("pwd").cwd("w")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::WorkingDirectoryNotFound);
    assert!(format!("{error} {:?}", error.context()).contains('w'), "{error:?}");
    let begin = Instant::now();
    assert_eq!(room.bash("pwd").await, workspace);
    assert!(begin.elapsed() < Duration::from_secs(2));
    let error = room.try_start(Run::words("pwd").cwd("/etc/passwd").terminal()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::WorkingDirectoryNotFound, "a file is no directory");
}

/// ENV-10.
pub(crate) async fn arguments_are_passed_byte_for_byte(room: &Room) {
    let arguments = ["printf", "%s\\n", "a'b\"c$HOME\n*", "", " lead", "--", "\u{FC}"];
    let output = room.exec(Run::argv(arguments)).await;
    assert_eq!(output.stdout_text(), "a'b\"c$HOME\n*\n\n lead\n--\n\u{FC}\n");
    let bytes: Vec<u8> = (1..=255).collect();
    let output = room.exec(Run::argv(["printf".as_ref(), "%s".as_ref(), std::ffi::OsStr::from_bytes(&bytes)])).await;
    assert_eq!(output.stdout, bytes);
}

/// ENV-13.
pub(crate) async fn too_large_arguments_or_environment_are_refused_or_work(room: &Room) {
    let word = "x".repeat(100_000);
    let arguments = Run::argv(std::iter::once("true").chain(std::iter::repeat_n(word.as_str(), 25)));
    let environment = (0..30).fold(Run::words("true"), |run, index| run.env(format!("BIG{index}"), &word));
    let one = Run::argv(["true", "x".repeat(300_000).as_str()]);
    for run in [arguments, environment, one] {
        match room.try_exec(run).await {
            Ok(output) => assert_eq!(output.exit_code(), Some(0)),
            Err(error) => assert_eq!(error.code(), ErrorCode::ArgumentsTooLarge, "{error:?}"),
        }
        assert_eq!(room.bash("echo next").await, "next");
    }
}

/// ENV-15.
pub(crate) async fn what_a_command_does_to_its_shell_stays_in_it(room: &Room) {
    for (text, code, stdout) in
        [("set -e; false; echo no", 1, ""), ("exit 3", 3, ""), ("exec true", 0, ""), ("kill -9 $$", 137, ""), ("echo still", 0, "still\n")]
    {
        let begin = Instant::now();
        let output = room.exec(Run::shell(text)).await;
        assert_eq!((output.exit_code(), output.stdout_text().as_str()), (Some(code), stdout), "{text}");
        assert!(begin.elapsed() < Duration::from_secs(2));
    }
    room.exec(Run::shell("cd /; export LEFT=1; umask 0; ulimit -n 10")).await;
    assert_eq!(room.bash("echo ${LEFT:-none} $(umask) $(test $(ulimit -n) -gt 10 && echo many)").await, "none 0022 many");
}

/// ENV-17.
pub(crate) async fn the_creators_mask_and_limits_distort_nothing(room: &Room) {
    let answer = outside::fresh_under(room, "umask 077; exec", "umask; touch f; stat -c %a f").await;
    assert_eq!(answer["stdout"], "0022\n644\n");
    let answer = outside::fresh_under(room, "cd /proc/self/task; exec", "pwd").await;
    assert!(!answer["stdout"].as_str().unwrap().starts_with("/proc"), "{answer}");
}

/// ENV-18.
pub(crate) async fn another_user_brings_name_group_and_home(room: &Room) {
    need!(room, Need::Root);
    let text = "id -un; id -gn; echo $HOME; cd && pwd; touch own && stat -c %U own; id -G";
    let (answer, home) = outside::fresh_with_user(room, "otter", text).await;
    assert_eq!(answer["stdout"], format!("otter\notters\n{home}\n{home}\notter\n4321\n"), "{answer}");

    let error = room.try_exec(Run::words("true").user("ghost")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::UserUnavailable);
    assert!(format!("{error} {:?}", error.context()).contains("ghost"), "{error:?}");
}

/// ENV-20.
pub(crate) async fn a_terminal_is_the_controlling_one(room: &Room) {
    let text = "tty; ps -o pid=,pgid=,sid=,tpgid= -p $$; test -t 0 && test -t 1 && test -t 2 && echo all";
    let whole = room.whole(Run::bash(text).terminal()).await;
    let lines = whole.lines();
    assert!(lines[0].starts_with("/dev/pts/"), "{lines:?}");
    let ids: Vec<&str> = lines[1].split_whitespace().collect();
    assert!(ids.len() == 4 && ids.iter().all(|id| *id == ids[0]), "{lines:?}");
    assert_eq!(lines[2], "all");
    let output = room.exec(Run::words("tty")).await;
    assert_eq!((output.stdout_text().as_str(), output.exit_code()), ("not a tty\n", Some(1)));
}

/// What a command is given wins over the sandbox's environment, which wins over the product's.
pub(crate) async fn the_nearest_environment_wins(room: &Room) {
    let options = room.place().options().env("WHO", "sandbox").env("PAGER", "sandbox-pager").env("TERM", "vt100");
    let fresh = room.neighbour(options).await;
    assert_eq!(fresh.bash("echo $WHO $PAGER $TERM $LANG").await, "sandbox sandbox-pager vt100 C.UTF-8");
    let output = fresh.exec(Run::bash("echo $WHO $LANG").env("WHO", "first").env("WHO", "last").env("LANG", "C")).await;
    assert_eq!(output.stdout_text(), "last C\n");
    assert_eq!(room.bash("echo $PAGER $GIT_PAGER $TERM ${WHO:-nobody}").await, "cat cat dumb nobody");
}

/// A program is looked up in the command's own `PATH`.
pub(crate) async fn programs_are_looked_up_in_the_commands_own_path(room: &Room) {
    room.bash("mkdir bin && printf '#!/bin/sh\\necho mine\\n' > bin/mytool && chmod +x bin/mytool").await;
    let workspace = room.bash("pwd").await;
    let error = room.try_exec(Run::words("mytool")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ProgramNotFound);
    let output = room.exec(Run::words("mytool").env("PATH", format!("/nowhere:{workspace}/bin"))).await;
    assert_eq!(output.stdout_text(), "mine\n");
    let output = room.exec(Run::words("./mytool").cwd("bin")).await;
    assert_eq!(output.stdout_text(), "mine\n");
}

/// Signals that a neighbour ignores, or a terminal's modes, are its own.
pub(crate) async fn dispositions_are_default_for_every_command(room: &Room) {
    room.start(Run::bash("trap '' INT TERM HUP PIPE; sleep 30").terminal().window(100)).await;
    for terminal in [false, true] {
        let whole = room.whole(Run::words("grep -E Sig(Blk|Ign) /proc/self/status").terminal_if(terminal)).await;
        let set: Vec<_> = whole.lines().into_iter().filter(|line| !line.ends_with("0000000000000000")).map(str::to_owned).collect();
        assert!(set.is_empty() && whole.lines().len() == 2, "{:?}", whole.text);
    }
    let whole = room.whole(Run::bash("yes | head -1; echo ${PIPESTATUS[0]}")).await;
    assert_eq!(whole.lines(), ["y", "141"], "a broken pipe ends its writer");
}

/// The guest cannot be read by what runs beside it as another user, and hides nothing of itself in the commands' environment.
pub(crate) async fn the_guest_is_its_own_session_and_has_a_clean_environment(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    let environment = std::fs::read(format!("/proc/{guest}/environ")).unwrap_or_default();
    let text = String::from_utf8_lossy(&environment);
    assert!(!text.contains("CARGO") && !text.contains("NEXTEST") && !text.contains("HOME="), "{text}");
    let descriptors = processes::descriptors(guest).unwrap_or_default();
    let terminals: Vec<_> = descriptors.iter().filter(|path| path.starts_with("/dev/pts") || path.starts_with("/dev/tty")).collect();
    assert!(terminals.is_empty(), "{terminals:?}");
    let cwd = std::fs::read_link(format!("/proc/{guest}/cwd")).unwrap();
    assert_eq!(cwd.to_str(), Some("/"), "it holds no directory of its creator");
    let update = room.start(Run::words("sleep 5").window(0)).await;
    assert_eq!(room.collect(update.process, Wait::ms(0)).await.end, None);
}
