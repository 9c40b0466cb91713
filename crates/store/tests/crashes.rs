//! Many processes share the file and are killed at any point: what they had finished is there, whole, and the next one can go on.
//!
//! The test runs its own executable again as the worker, told by an environment variable.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crannog_core::id::SandboxId;
use crannog_store::{Options, Record, State, Store};

const WORKER_PATH: &str = "CRANNOG_STORE_TEST_PATH";
const WORKER_NUMBER: &str = "CRANNOG_STORE_TEST_WORKER";
const WORKERS: u32 = 8;
const KILLS: u32 = 40;

fn record(id: u128) -> Record {
    Record {
        id: SandboxId::from_bits(id),
        name: Some(format!("n{id}")),
        backend: "local".to_owned(),
        state: State::Creating,
        lease_generation: 1,
        lease_ms: None,
        lease_expires_ms: None,
        workspace: "/w".into(),
        workspace_owned: false,
        runtime: "/r".into(),
        guest: None,
        creator: None,
        cgroup: None,
        environment: vec![(b"LONG".to_vec(), vec![b'x'; 3000])],
        created_ms: 0,
        options: Options::default(),
    }
}

/// Works until it is killed, saying aloud what is done.
fn work(path: &Path, worker: u128) -> ! {
    let store = Store::open(path).unwrap();
    for round in 0_u128.. {
        let sandbox = record(worker << 64 | u128::from(std::process::id()) << 32 | round);
        store.insert_creating(&sandbox).unwrap();
        assert!(store.mark_ready(&sandbox).unwrap());
        let mut out = std::io::stdout();
        writeln!(out, "made {}", sandbox.id).and_then(|()| out.flush()).unwrap();
        if round % 2 == 1 {
            assert!(store.remove(&sandbox.id).unwrap());
            writeln!(out, "removed {}", sandbox.id).and_then(|()| out.flush()).unwrap();
        }
    }
    unreachable!("the loop has no end")
}

fn start(path: &Path, worker: u32) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "finished_work_survives_kills_at_any_point", "--nocapture"]);
    command.env(WORKER_PATH, path).env(WORKER_NUMBER, worker.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a worker and reads what it said it had done.
fn kill(mut child: Child, made: &mut HashSet<String>, removed: &mut HashSet<String>) {
    child.kill().unwrap();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        match line.unwrap().split_once(' ') {
            Some(("made", id)) => made.insert(id.to_owned()),
            Some(("removed", id)) => removed.insert(id.to_owned()),
            _ => false,
        };
    }
    child.wait().unwrap();
}

#[test]
fn finished_work_survives_kills_at_any_point() {
    if let Some(path) = std::env::var_os(WORKER_PATH) {
        work(Path::new(&path), std::env::var(WORKER_NUMBER).unwrap().parse().unwrap());
    }
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("store/crannog.db");
    let (mut made, mut removed) = (HashSet::new(), HashSet::new());
    let mut workers: Vec<Child> = (0..WORKERS).map(|worker| start(&path, worker)).collect();
    // Any sequence of pauses will do; this one differs from run to run, and is told.
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let mut state = seed;
    for round in 0..KILLS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(state >> 33 & 0x7fff));
        let victim = workers.remove((state >> 48) as usize % workers.len());
        kill(victim, &mut made, &mut removed);
        workers.push(start(&path, round));
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while made.len() < 100 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
        let victim = workers.remove(0);
        kill(victim, &mut made, &mut removed);
        workers.push(start(&path, 0));
    }
    for worker in workers {
        kill(worker, &mut made, &mut removed);
    }

    let store = Store::open(&path).unwrap();
    let listed = store.list().unwrap();
    let present: HashSet<String> = listed.iter().map(|record| record.id.to_string()).collect();
    assert!(made.len() >= 100, "the workers got {} records made", made.len());
    for id in made.difference(&removed) {
        // A worker killed between its removal and its word of it leaves one record fewer than it told of, never another one.
        let round = u128::from_str_radix(id.strip_prefix(SandboxId::PREFIX).unwrap(), 16).unwrap() & 0xffff_ffff;
        assert!(present.contains(id) || round % 2 == 1, "{id} was made and is not there");
    }
    assert!(removed.is_disjoint(&present));
    assert!(listed.iter().all(|record| record.environment[0].1.len() == 3000));
    let checked: String = rusqlite::Connection::open(&path).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(checked, "ok");
}

#[test]
fn many_openers_of_a_file_that_is_not_there_yet_all_succeed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("store/crannog.db");
    std::thread::scope(|scope| {
        let openers: Vec<_> = (0..16)
            .map(|number| {
                scope.spawn({
                    let path = &path;
                    move || Store::open(path).unwrap().insert_creating(&record(number)).unwrap()
                })
            })
            .collect();
        for opener in openers {
            opener.join().unwrap();
        }
    });
    assert_eq!(Store::open(&path).unwrap().list().unwrap().len(), 16);
}
