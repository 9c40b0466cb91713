//! Starts of real programs: what the child gets, and each way to fail.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::io::{PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;

use crannog_sys::reaper::{WaitStatus, wait_for};
use crannog_sys::spawn::{Command, Credentials, Resource, SpawnReason, SpawnStep, search_path, spawn};
use support::{c, command, end, eventually, null, piped, run};

const DONE: WaitStatus = WaitStatus::Exited(0);

fn failure(command: &Command) -> (SpawnStep, SpawnReason) {
    let error = spawn(command).expect_err("the start must fail");
    (error.step, error.reason())
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

#[test]
fn arguments_environment_and_code_arrive() {
    let (mut command, reader) = piped(&["sh", "-c", "echo \"$0|$1|$A|$B\"; exit 7", "zero", "one two"]);
    command.environment = vec![c("A=1"), c("B=x y")];
    assert_eq!(run((command, reader)), ("zero|one two|1|x y\n".to_owned(), WaitStatus::Exited(7)));
}

#[test]
fn nothing_of_our_environment_leaks() {
    assert_eq!(run(piped(&["env"])), (String::new(), DONE));
}

#[test]
fn a_signal_is_not_an_exit_code() {
    let (text, status) = run(piped(&["sh", "-c", "kill -KILL $$"]));
    assert_eq!((text.as_str(), status), ("", WaitStatus::Signalled { signal: 9, core: false }));
}

#[test]
fn a_missing_program_is_named() {
    assert_eq!(failure(&command(&["no-such-program"])), (SpawnStep::Exec, SpawnReason::ProgramNotFound));
    assert_eq!(failure(&command(&["/no/such/program"])), (SpawnStep::Exec, SpawnReason::ProgramNotFound));
    assert_eq!(failure(&command(&[""])), (SpawnStep::Exec, SpawnReason::ProgramNotFound));
}

#[test]
fn a_file_that_may_not_be_executed_is_remembered_over_missing_ones() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("tool"), "#!/bin/sh\n").unwrap();
    let path = c(&format!("/nowhere:{}:/nowhere/else", directory.path().display()));
    let mut command = command(&["tool"]);
    command.search_path = search_path(c"tool", &path);
    assert_eq!(failure(&command), (SpawnStep::Exec, SpawnReason::NotExecutable));
    command.search_path = vec![c("/tmp")];
    assert_eq!(failure(&command), (SpawnStep::Exec, SpawnReason::NotExecutable));
}

#[test]
fn a_later_directory_of_the_path_is_used() {
    let directory = tempfile::tempdir().unwrap();
    let tool = directory.path().join("tool");
    fs::write(&tool, "#!/bin/sh\necho found\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let (mut command, reader) = piped(&["tool"]);
    command.search_path = search_path(c"tool", &c(&format!("/etc/passwd:/nowhere:{}", directory.path().display())));
    assert_eq!(run((command, reader)), ("found\n".to_owned(), DONE));
}

#[test]
fn a_script_without_interpreter_line_is_run_by_the_shell() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script");
    fs::write(&script, "echo \"$0 $1\"\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let path = script.to_str().unwrap();
    assert_eq!(run(piped(&[path, "argument"])), (format!("{path} argument\n"), DONE));
}

#[test]
fn the_search_path_follows_execvp() {
    assert_eq!(search_path(c"ls", c"/a::/b/"), [c("/a/ls"), c("./ls"), c("/b/ls")]);
    assert_eq!(search_path(c"./ls", c"/a"), [c("./ls")]);
    assert!(search_path(c"", c"/a").is_empty());
}

#[test]
fn too_long_arguments_are_named() {
    let long = "x".repeat(200 * 1024);
    assert_eq!(failure(&command(&["true", &long])), (SpawnStep::Exec, SpawnReason::ArgumentsTooLong));
}

#[test]
fn the_working_directory_is_entered_or_named() {
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().canonicalize().unwrap();
    let (mut by_path, reader) = piped(&["pwd"]);
    by_path.cwd = Some(c(real.to_str().unwrap()));
    assert_eq!(run((by_path, reader)), (format!("{}\n", real.display()), DONE));

    let (mut by_descriptor, reader) = piped(&["pwd"]);
    by_descriptor.cwd = Some(c("/nowhere"));
    by_descriptor.directory = Some(fs::File::open(&real).unwrap().into());
    assert_eq!(run((by_descriptor, reader)), (format!("{}\n", real.display()), DONE));

    let mut missing = command(&["true"]);
    missing.cwd = Some(c("/nowhere"));
    assert_eq!(failure(&missing), (SpawnStep::Directory, SpawnReason::DirectoryNotFound));
    missing.cwd = Some(c("/etc/passwd"));
    assert_eq!(failure(&missing), (SpawnStep::Directory, SpawnReason::DirectoryNotFound));
}

#[test]
fn another_user_is_become_or_refused() {
    let user = Credentials { uid: 65_534, gid: 65_533, groups: vec![7, 9] };
    let (mut command, reader) = piped(&["sh", "-c", "id -u; id -g; grep Groups /proc/self/status"]);
    command.user = Some(user);
    if is_root() {
        let (text, _) = run((command, reader));
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(words[..2], ["65534", "65533"]);
        assert!(words.contains(&"7") && words.contains(&"9"), "{text}");
    } else {
        assert_eq!(failure(&command), (SpawnStep::Groups, SpawnReason::UserForbidden));
    }
}

#[test]
fn a_directory_is_entered_with_the_rights_of_the_user() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = command(&["true"]);
    command.cwd = Some(c(directory.path().to_str().unwrap()));
    command.user = Some(Credentials { uid: 65_534, gid: 65_534, groups: Vec::new() });
    assert_eq!(failure(&command), (SpawnStep::Directory, SpawnReason::DirectoryForbidden));
    command.directory = Some(fs::File::open(directory.path()).unwrap().into());
    assert_eq!(wait_for(spawn(&command).unwrap().pid).unwrap().0, DONE, "what we opened is entered with our rights");
}

#[test]
fn a_user_change_in_the_child_leaves_us_dumpable() {
    if !is_root() {
        return;
    }
    let before = rustix::process::dumpable_behavior().unwrap();
    let mut command = command(&["true"]);
    command.user = Some(Credentials { uid: 65_534, gid: 65_534, groups: Vec::new() });
    wait_for(spawn(&command).unwrap().pid).unwrap();
    assert_eq!(rustix::process::dumpable_behavior().unwrap(), before);
}

#[test]
fn limits_umask_and_privileges_are_set() {
    let script = "ulimit -Sn; ulimit -Hn; umask; grep NoNewPrivs /proc/self/status; cat /proc/self/oom_score_adj";
    let (mut command, reader) = piped(&["sh", "-c", script]);
    command.limits = vec![(Resource::Nofile, 64, 96), (Resource::Core, 0, u64::MAX)];
    command.umask = 0o027;
    command.no_new_privs = true;
    command.oom_score_adj = Some(500);
    let (text, _) = run((command, reader));
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["64", "96", "0027", "NoNewPrivs:", "1", "500"]);
}

#[test]
fn an_impossible_limit_is_named() {
    let mut command = command(&["true"]);
    command.limits = vec![(Resource::Nofile, 10, 5)];
    assert_eq!(failure(&command).0, SpawnStep::Limit);
}

#[test]
fn contradictions_are_refused_before_anything_starts() {
    let mut terminal = command(&["true"]);
    terminal.controlling_terminal = true;
    let mut tied = command(&["true"]);
    tied.detached = true;
    tied.parent_death_signal = Some(9);
    let mut clash = command(&["true"]);
    clash.keep_fds = vec![(null(), 5), (null(), 5)];
    let mut standard = command(&["true"]);
    standard.keep_fds = vec![(null(), 2)];
    let nameless = Command::new(vec![c("/bin/true")], Vec::new(), [null(), null(), null()]);
    for command in [terminal, tied, clash, standard, nameless] {
        assert_eq!(failure(&command).0, SpawnStep::Prepare);
    }
}

#[test]
fn something_that_is_no_terminal_can_not_control() {
    let mut command = command(&["true"]);
    command.new_session = true;
    command.controlling_terminal = true;
    assert_eq!(failure(&command).0, SpawnStep::ControllingTerminal);
}

/// The descriptors of a child that lists its own; `ls` has one more for the listing.
fn descriptors_of(keep: Vec<(OwnedFd, i32)>) -> Vec<i32> {
    let (mut command, reader) = piped(&["sh", "-c", "ls /proc/$$/fd; true"]);
    command.keep_fds = keep;
    let (text, _) = run((command, reader));
    let mut list: Vec<i32> = text.split_whitespace().map(|fd| fd.parse().unwrap()).collect();
    list.sort_unstable();
    list
}

#[test]
fn no_descriptor_leaks() {
    let leaky = rustix::io::dup(null()).unwrap();
    rustix::io::fcntl_setfd(&leaky, rustix::io::FdFlags::empty()).unwrap();
    assert_eq!(descriptors_of(Vec::new()), [0, 1, 2]);
    assert_eq!(descriptors_of(vec![(null(), 3), (null(), 17)]), [0, 1, 2, 3, 17]);
    let own_number = null();
    let number = own_number.as_raw_fd();
    assert_eq!(descriptors_of(vec![(own_number, number)]), [0, 1, 2, number]);
}

#[test]
fn descriptors_may_change_places() {
    let directory = tempfile::tempdir().unwrap();
    let open = |name: &str| -> OwnedFd {
        let path = directory.path().join(name);
        fs::write(&path, name).unwrap();
        fs::File::open(path).unwrap().into()
    };
    let (first, second) = (open("first"), open("second"));
    let (a, b) = (first.as_raw_fd(), second.as_raw_fd());
    let (mut command, reader) = piped(&["sh", "-c", &format!("cat /proc/$$/fd/{a}; echo; cat /proc/$$/fd/{b}")]);
    command.keep_fds = vec![(first, b), (second, a)];
    assert_eq!(run((command, reader)), ("second\nfirst".to_owned(), DONE));
}

#[test]
fn a_detached_program_is_not_ours_and_runs() {
    let (mut command, mut reader): (Command, PipeReader) = piped(&["sh", "-c", "echo $PPID; exec sleep 60"]);
    command.detached = true;
    command.new_session = true;
    let child = spawn(&command).unwrap();
    drop(command);
    let mut first = [0; 16];
    let length = reader.read(&mut first).unwrap();
    let parent: u32 = std::str::from_utf8(&first[..length]).unwrap().trim().parse().unwrap();
    assert_ne!(parent, std::process::id());
    assert!(wait_for(child.pid).is_err(), "it must not be our child");
    let pidfd = child.pidfd.unwrap();
    rustix::process::pidfd_send_signal(&pidfd, rustix::process::Signal::KILL).unwrap();
    eventually("init reaps the detached program", || (!fs::exists(format!("/proc/{}", child.pid)).unwrap()).then_some(()));
}

#[test]
fn a_detached_program_that_can_not_start_is_named() {
    let mut command = command(&["no-such-program"]);
    command.detached = true;
    assert_eq!(failure(&command), (SpawnStep::Exec, SpawnReason::ProgramNotFound));
}

#[test]
fn the_death_signal_is_set() {
    let mut command = command(&["sleep", "60"]);
    command.parent_death_signal = Some(9);
    let child = std::thread::spawn(move || spawn(&command).unwrap()).join().unwrap();
    // The thread that started it has ended, which is what the signal is about.
    assert_eq!(wait_for(child.pid).unwrap().0, WaitStatus::Signalled { signal: 9, core: false });
}

#[test]
fn a_session_has_its_own_group() {
    let mut command = command(&["sleep", "60"]);
    command.new_session = true;
    let child = spawn(&command).unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.pid).unwrap()).unwrap();
    assert_eq!(rustix::process::getsid(Some(pid)).unwrap(), pid);
    assert_eq!(rustix::process::getpgid(Some(pid)).unwrap(), pid);
    end(&child);
}

#[test]
fn starts_from_many_threads_do_not_meet() {
    let run_many = |number: usize| {
        for round in 0..20 {
            let word = format!("{number}-{round}");
            assert_eq!(run(piped(&["echo", &word])), (format!("{word}\n"), DONE));
        }
    };
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || run_many(number));
        }
    });
}
