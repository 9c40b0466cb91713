//! Real programs that wait for input, and others that only look like it.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

mod support;

use crannog_sys::evidence::{Evidence, InputObject, Sleeper, context_switches, waiting_for_input};
use crannog_sys::pipe;
use crannog_sys::process_group;
use crannog_sys::process_tree::snapshot;
use crannog_sys::spawn::{Spawned, spawn};
use crannog_sys::terminal::Terminal;
use support::{c, command, end, eventually};

const ENVIRONMENT: [&str; 3] = ["PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm", "HOME=/tmp"];

struct OnTerminal {
    child: Spawned,
    terminal: Terminal,
}

impl OnTerminal {
    fn start(argv: &[&str]) -> Self {
        let (terminal, peer) = Terminal::open(24, 80).unwrap();
        let mut command = command(argv);
        command.stdio = [peer.try_clone().unwrap(), peer.try_clone().unwrap(), peer];
        command.environment = ENVIRONMENT.map(c).to_vec();
        command.new_session = true;
        command.controlling_terminal = true;
        Self { child: spawn(&command).unwrap(), terminal }
    }

    fn evidence(&self) -> Evidence {
        let group = self.terminal.foreground_group().unwrap().unwrap_or_default();
        waiting_for_input(&process_group::members(group).unwrap(), InputObject::Terminal { rdev: self.terminal.device().unwrap() })
    }

    fn waits(&self, what: &str) -> Sleeper {
        eventually(what, || {
            self.drain();
            self.evidence().blocked
        })
    }

    /// A program must not stand still because nobody reads what it prints.
    fn drain(&self) {
        let mut buffer = [0; 4096];
        while rustix::io::read(&self.terminal, &mut buffer).is_ok_and(|length| length > 0) {}
    }

    fn type_text(&self, text: &str) {
        assert_eq!(rustix::io::write(&self.terminal, text.as_bytes()).unwrap(), text.len());
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        end(&self.child);
    }
}

fn has(program: &str) -> bool {
    let found = ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|directory| std::path::Path::new(directory).join(program).exists());
    if !found {
        eprintln!("no {program} here: nothing to test");
    }
    found
}

#[test]
fn a_reader_of_the_terminal_waits() {
    let cat = OnTerminal::start(&["cat"]);
    let before = cat.waits("cat waits");
    assert_eq!((before.pid, before.tid, before.timed), (cat.child.pid, cat.child.pid, false));
    cat.type_text("line\n");
    eventually("it has run since", || context_switches(before.pid, before.tid).filter(|switches| *switches > before.switches));
    let after = cat.waits("cat waits again");
    assert!(after.switches > before.switches);
}

#[test]
fn a_child_in_the_foreground_that_reads_waits() {
    let shell = OnTerminal::start(&["sh", "-c", "cat; true"]);
    let sleeper = shell.waits("the child of the shell waits");
    assert_ne!(sleeper.pid, shell.child.pid);
}

#[test]
fn a_prompt_on_the_controlling_terminal_waits() {
    let prompt = OnTerminal::start(&["sh", "-c", "exec 3</dev/tty </dev/null; read -r line <&3; echo $line"]);
    prompt.waits("a reader of /dev/tty waits");
}

#[test]
fn an_interactive_shell_waits() {
    if !has("bash") {
        return;
    }
    let shell = OnTerminal::start(&["bash", "--norc", "--noprofile", "-i"]);
    shell.waits("bash waits at its prompt");
    shell.type_text("sleep 60\n");
    eventually("a program runs in the foreground", || (shell.terminal.foreground_group().unwrap() != Some(shell.child.pid)).then_some(()));
    let group = shell.terminal.foreground_group().unwrap().unwrap();
    eventually("it sleeps", || snapshot().unwrap().get(group).filter(|process| process.state == b'S').copied());
    assert_eq!(shell.evidence(), Evidence { blocked: None, readable: true });
    shell.type_text("\x03");
    shell.waits("bash waits again");
}

#[test]
fn an_interpreter_waits() {
    if !has("python3") {
        return;
    }
    let python = OnTerminal::start(&["python3", "-q", "-i"]);
    python.waits("the interpreter waits");
}

#[test]
fn poll_select_and_epoll_are_seen_through() {
    if !has("python3") {
        return;
    }
    let programs = [
        ("import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()", false),
        ("import select; p = select.poll(); p.register(0, select.POLLIN); p.poll(3600000)", true),
        ("import select; select.select([0], [], [])", false),
        ("import select; select.select([0], [], [], 3600)", true),
        ("import select; e = select.epoll(); e.register(0, select.EPOLLIN); e.poll()", false),
        ("import select; e = select.epoll(); e.register(0, select.EPOLLIN); e.poll(3600)", true),
        ("import threading, sys; threading.Thread(target=sys.stdin.readline).start(); threading.Event().wait()", false),
    ];
    for (program, timed) in programs {
        let python = OnTerminal::start(&["python3", "-c", program]);
        assert_eq!(python.waits(program).timed, timed, "{program}");
    }
}

#[test]
fn those_who_wait_for_something_else_do_not_count() {
    let mut programs = vec![vec!["sleep", "60"]];
    if has("python3") {
        programs.extend([
            vec!["python3", "-c", "import select, os; r, w = os.pipe(); select.select([r], [], [])"],
            vec!["python3", "-c", "import select, os; p = select.poll(); p.register(os.pipe()[0], select.POLLIN); p.poll()"],
            vec!["python3", "-c", "import os; os.read(os.pipe()[0], 1) if os.fork() else os.pause() if hasattr(os, 'pause') else __import__('signal').pause()"],
        ]);
    }
    for program in programs {
        let running = OnTerminal::start(&program);
        // Several times asleep in the same call, so that it is past its start.
        let mut seen = (0, 0);
        eventually("it sleeps for good", || {
            running.drain();
            let switches = context_switches(running.child.pid, running.child.pid)?;
            let asleep = snapshot().unwrap().get(running.child.pid)?.state == b'S';
            seen = if asleep && switches == seen.0 { (switches, seen.1 + 1) } else { (switches, 0) };
            (seen.1 > 25).then_some(())
        });
        assert_eq!(running.evidence(), Evidence { blocked: None, readable: true }, "{program:?}");
    }
}

#[test]
fn a_stopped_reader_does_not_wait() {
    let cat = OnTerminal::start(&["cat"]);
    cat.waits("cat waits");
    let pid = rustix::process::Pid::from_raw(i32::try_from(cat.child.pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    eventually("it is stopped", || snapshot().unwrap().get(cat.child.pid).filter(|process| process.state == b'T').copied());
    assert_eq!(cat.evidence().blocked, None);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    cat.waits("cat waits again");
}

#[test]
fn a_reader_of_a_pipe_waits_for_that_pipe_only() {
    let ours = pipe::input().unwrap();
    let other = pipe::input().unwrap();
    let object = pipe::identity(&ours.ours).unwrap();
    let mut cat = command(&["cat"]);
    cat.stdio[0] = ours.theirs;
    let child = spawn(&cat).unwrap();
    drop(cat);
    eventually("cat waits", || waiting_for_input(&[child.pid], object).blocked);
    let elsewhere = pipe::identity(&other.ours).unwrap();
    assert_eq!(waiting_for_input(&[child.pid], elsewhere), Evidence { blocked: None, readable: true });
    end(&child);
    assert_eq!(waiting_for_input(&[child.pid], object), Evidence::default(), "nobody is left to look at");
}

#[test]
fn our_end_of_a_pipe_does_not_block_and_theirs_does() {
    for (pipe, reads) in [(pipe::input().unwrap(), false), (pipe::output().unwrap(), true)] {
        let flags = |fd: &std::os::fd::OwnedFd| rustix::fs::fcntl_getfl(fd).unwrap();
        assert!(flags(&pipe.ours).contains(rustix::fs::OFlags::NONBLOCK));
        assert!(!flags(&pipe.theirs).contains(rustix::fs::OFlags::NONBLOCK));
        let (reader, writer) = if reads { (&pipe.ours, &pipe.theirs) } else { (&pipe.theirs, &pipe.ours) };
        rustix::io::write(writer, b"x").unwrap();
        assert_eq!(rustix::io::read(reader, &mut [0; 2]).unwrap(), 1);
        assert!(pipe::set_capacity(&pipe.ours, 8192).unwrap() >= 8192);
    }
}
