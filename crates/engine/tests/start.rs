//! Starting: what a command finds around it, and what is refused. One engine per process: see `support`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::format_collect)]

mod support;

use crannog_core::process::{Connection, Program, ResourceLimits, StartSpec, TerminalSize};
use support::{SpecExt, argv, bash, exited, run, run_with};

fn shell(text: &str) -> StartSpec {
    StartSpec::new(Program::Shell(text.as_bytes().to_vec()))
}

#[test]
fn arguments_are_passed_byte_for_byte() {
    run(async |sandbox| {
        let update = sandbox.finish(argv(&["printf", "%s\\n", "a'b\"c$HOME\n*", "", " lead", "--", "ü"])).await;
        assert_eq!(update.text, "a'b\"c$HOME\n*\n\n lead\n--\nü\n");
        let update = sandbox.finish(StartSpec::new(Program::Argv(vec![b"printf".to_vec(), b"%s".to_vec(), b"\xff\xfe".to_vec()]))).await;
        assert_eq!(update.raw, b"\xff\xfe");
    });
}

#[test]
fn a_shell_takes_any_text() {
    run(async |sandbox| {
        for (text, code, output) in [
            ("set -e; false; echo no", 1, ""),
            ("exit 3", 3, ""),
            ("exec true", 0, ""),
            ("echo still", 0, "still\n"),
            ("-x", 127, ""),
            ("nosuchcmd_zz", 127, ""),
            ("/etc/passwd", 126, ""),
            ("/tmp", 126, ""),
        ] {
            let process = sandbox.engine.start(shell(text)).unwrap();
            let gathered = sandbox.engine.gather(process, 1024).await.unwrap();
            assert_eq!((gathered.stdout.as_slice(), Some(gathered.ended.end)), (output.as_bytes(), exited(code)), "{text}");
        }
        assert_eq!(sandbox.finish(shell("kill -9 $$")).await.end.unwrap().exit_code(), Some(137));
    });
}

#[test]
fn a_failure_to_start_is_told_apart() {
    run(async |sandbox| {
        let program = |path: &str| argv(&[path]);
        let mut elsewhere = argv(&["pwd"]);
        elsewhere.cwd = Some(b"missing/dir".to_vec());
        let mut nobody = argv(&["true"]);
        nobody.user = Some("ghost-zz".to_owned());
        let mut nul = argv(&["true"]);
        nul.environment.push((b"A".to_vec(), b"x\0".to_vec()));
        let directory = sandbox.path().to_str().unwrap().to_owned();
        for (spec, code, named) in [
            (program("/nonexistent/bin"), "program_not_found", "/nonexistent/bin"),
            (program("nosuchcmd_zz"), "program_not_found", "nosuchcmd_zz"),
            (program(""), "program_not_found", ""),
            (program("/etc/passwd"), "program_not_executable", "/etc/passwd"),
            (program(&directory), "program_not_executable", directory.as_str()),
            (elsewhere, "working_directory_not_found", "missing/dir"),
            (nobody, "user_unavailable", "ghost-zz"),
            (nul, "invalid_argument", "A"),
            (argv(&[]), "invalid_argument", ""),
            (argv(&["true", "a\0b"]), "invalid_argument", ""),
        ] {
            for on_terminal in [true, false] {
                let spec = if on_terminal { spec.clone().on_terminal() } else { spec.clone() };
                let error = sandbox.engine.start(spec).unwrap_err();
                assert_eq!(error.code().as_str(), code);
                assert!(error.to_string().contains(named), "{error}");
            }
        }
        assert!(sandbox.engine.list().is_empty());
        assert_eq!(sandbox.engine.processes_live(), 0);
        assert_eq!(sandbox.finish(argv(&["true"])).await.end, exited(0));
    });
}

#[test]
fn too_many_arguments_are_refused_clearly() {
    run(async |sandbox| {
        let big = "x".repeat(100_000);
        let mut arguments = vec!["true"];
        arguments.extend(std::iter::repeat_n(big.as_str(), 100));
        assert_eq!(sandbox.engine.start(argv(&arguments)).unwrap_err().code().as_str(), "arguments_too_large");
        arguments.truncate(30);
        assert_eq!(sandbox.engine.start(argv(&arguments)).unwrap_err().code().as_str(), "arguments_too_large");
        let one = "x".repeat(200_000);
        assert_eq!(sandbox.engine.start(argv(&["true", &one])).unwrap_err().code().as_str(), "arguments_too_large");
        assert_eq!(sandbox.finish(argv(&["true"])).await.end, exited(0));
    });
}

#[test]
fn a_directory_that_went_away_wedges_nothing() {
    run(async |sandbox| {
        let place = sandbox.path().join("w");
        std::fs::create_dir(&place).unwrap();
        let within = |text: &str| StartSpec { cwd: Some(text.as_bytes().to_vec()), ..argv(&["pwd"]) };
        assert_eq!(sandbox.finish(within("w")).await.text.trim_end(), place.to_str().unwrap());
        std::fs::remove_dir(&place).unwrap();
        assert!(sandbox.engine.start(within("w")).unwrap_err().to_string().contains("/w"));
        assert_eq!(sandbox.finish(argv(&["pwd"])).await.text.trim_end(), sandbox.path().to_str().unwrap());
    });
}

#[test]
fn the_environment_is_clean_and_complete() {
    // Set for this test's own process, which is the engine's.
    let ours = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "environment_within_a_host_with_secrets", "--nocapture"])
        .env("OPENAI_API_KEY", "sentinel-456")
        .env("CRANNOG_TEST_ENVIRONMENT", "1")
        .env_remove("TERM")
        .status()
        .unwrap();
    assert!(ours.success());
}

#[test]
fn environment_within_a_host_with_secrets() {
    if std::env::var_os("CRANNOG_TEST_ENVIRONMENT").is_none() {
        return;
    }
    run_with(
        |config| config.environment = vec![(b"FROM_SANDBOX".to_vec(), b"1".to_vec()), (b"BOTH".to_vec(), b"1".to_vec())],
        async |sandbox| {
            let plain = sandbox.finish(argv(&["env"]).with("BOTH", "2").with("PAGER", "less")).await.text;
            let terminal = sandbox.finish(argv(&["env"]).on_terminal()).await.text;
            assert!(!plain.contains("sentinel") && !terminal.contains("sentinel"));
            let home = format!("HOME={}", sandbox.path().display());
            for line in ["FROM_SANDBOX=1", "BOTH=2", "PAGER=less", "TERM=dumb", "GIT_PAGER=cat", "LANG=C.UTF-8", &home] {
                assert!(plain.lines().any(|found| found == line), "{line} in {plain}");
            }
            assert!(terminal.lines().any(|line| line == "TERM=xterm-256color"), "{terminal}");
            let size = sandbox.finish(bash("tput cols; stty size").on_terminal()).await;
            assert_eq!((size.text.as_str(), size.end), ("80\r\n24 80\r\n", exited(0)));
        },
    );
}

#[test]
fn nothing_of_the_host_process_distorts_a_command() {
    run(async |sandbox| {
        let script = "grep -E '^Sig(Ign|Blk)' /proc/self/status; umask; ls -l /proc/self/fd | grep -c ' -> '; ulimit -c; ulimit -n";
        let update = sandbox.finish(bash(script)).await;
        // `ls` itself opens the directory as a fourth descriptor.
        assert_eq!(update.text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0022\n4\n0\n1024\n");
    });
}

#[test]
fn a_terminal_is_a_controlling_terminal_and_pipes_have_none() {
    run(async |sandbox| {
        let script = "tty; ps -o pid=,pgid=,sid=,tpgid= -p $$; test -t 0 && test -t 1 && test -t 2 && echo all; bash --norc -ic 'echo hi'";
        let update = sandbox.finish(bash(script).on_terminal()).await;
        let lines: Vec<&str> = update.text.lines().collect();
        assert!(lines[0].starts_with("/dev/pts/"), "{lines:?}");
        let ids: Vec<&str> = lines[1].split_whitespace().collect();
        assert!(ids.len() == 4 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(&lines[2..], ["all", "hi"]);
        let none = sandbox.finish(bash("tty; cat </dev/tty; echo rc=$?")).await;
        for part in ["not a tty\n", "No such device or address", "rc=1\n"] {
            assert!(none.text.contains(part), "{none:?}");
        }
    });
}

#[test]
fn sizes_of_terminals_are_checked() {
    run(async |sandbox| {
        for (rows, columns, ok) in [(50, 132, true), (0, 80, false), (24, 0, false), (4096, 4096, true), (24, 4097, false)] {
            let spec = StartSpec { connection: Connection::Terminal(TerminalSize { rows, columns }), ..argv(&["stty", "size"]) };
            match sandbox.engine.start(spec) {
                Ok(process) => assert_eq!(sandbox.end_of(process).await.text, format!("{rows} {columns}\r\n")),
                Err(error) => assert!(!ok && error.code().as_str() == "invalid_argument"),
            }
        }
    });
}

#[test]
fn resource_limits_hold() {
    run(async |sandbox| {
        let limits = ResourceLimits { open_files: Some(64), file_bytes: Some(4096), memory_bytes: Some(1 << 30), ..Default::default() };
        let spec = StartSpec { limits, ..bash("ulimit -n; ulimit -v; head -c 10000 /dev/zero > f; stat -c %s f") };
        let update = sandbox.finish(spec).await;
        assert!(update.text.starts_with("64\n1048576\n") && update.text.ends_with("4096\n"), "{}", update.text);
        let limits = ResourceLimits { cpu_seconds: Some(1), ..Default::default() };
        let end = sandbox.finish(StartSpec { limits, ..bash("while :; do :; done") }).await.end.unwrap();
        assert_eq!(end.exit_code(), Some(128 + 24), "{end:?}");
    });
}

#[test]
fn another_user_has_its_own_identity_and_home() {
    run(async |sandbox| {
        if sandbox.finish(argv(&["id", "-u"])).await.text != "0\n" {
            return println!("not root; nothing is tested");
        }
        let as_user = |text: &str, user: &str| StartSpec { user: Some(user.to_owned()), cwd: Some(b"/".to_vec()), ..bash(text) };
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
        let entry: Vec<&str> = passwd.lines().find(|line| line.starts_with("nobody:")).unwrap().split(':').collect();
        let expected = format!("nobody\n{}\n{}\nnobody\n", entry[5], entry[2]);
        assert_eq!(sandbox.finish(as_user("id -un; echo $HOME; id -u; echo $LOGNAME", "nobody")).await.text, expected);
        assert_eq!(sandbox.finish(as_user("id -un; echo $HOME; id -u; echo $LOGNAME", entry[2])).await.text, expected);
        assert_eq!(sandbox.finish(as_user("id -G", "nobody")).await.text, format!("{}\n", entry[3]));
    });
}
