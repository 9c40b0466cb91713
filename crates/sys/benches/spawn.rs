//! How long a start takes, from the call until the program runs; how long until it ended; and how long a look for
//! evidence takes. The memory of the caller must not matter: one case holds 256 MiB.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs::File;
use std::hint::black_box;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crannog_sys::cgroup::Cgroups;
use crannog_sys::evidence::{InputObject, waiting_for_input};
use crannog_sys::reaper::wait_for;
use crannog_sys::spawn::{Command, spawn};
use crannog_sys::terminal::Terminal;
use crannog_sys::{pidfd::PidFd, process_group, process_tree};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

fn null() -> OwnedFd {
    File::options().read(true).write(true).open("/dev/null").unwrap().into()
}

fn program(path: &std::ffi::CStr) -> Command {
    let mut command = Command::new(vec![path.to_owned()], vec![path.to_owned()], [null(), null(), null()]);
    command.new_session = true;
    command
}

/// Measures the call alone; the end of the program is waited for outside of the clock.
fn time_starts(command: &Command, rounds: u64) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..rounds {
        let start = Instant::now();
        let child = spawn(command).unwrap();
        total += start.elapsed();
        wait_for(child.pid).unwrap();
    }
    total
}

fn starts(criterion: &mut Criterion) {
    let command = program(c"/bin/true");
    let mut group = criterion.benchmark_group("spawn");
    group.bench_function("start", |bencher| bencher.iter_custom(|rounds| time_starts(&command, rounds)));
    group.bench_function("start and end", |bencher| bencher.iter(|| wait_for(spawn(&command).unwrap().pid).unwrap()));
    if let Some(cgroups) = Cgroups::detect() {
        let cgroup = cgroups.create(&format!("crannog-bench-{}", std::process::id())).unwrap();
        let mut inside = program(c"/bin/true");
        inside.cgroup = Some(cgroup.directory().unwrap());
        group.bench_function("start in a cgroup", |bencher| bencher.iter_custom(|rounds| time_starts(&inside, rounds)));
        cgroup.remove().unwrap();
    }
    let ballast = vec![1_u8; 256 << 20];
    group.bench_function("start holding 256 MiB", |bencher| bencher.iter_custom(|rounds| time_starts(&command, rounds)));
    black_box(ballast);
    group.finish();
}

fn looks(criterion: &mut Criterion) {
    let (terminal, peer) = Terminal::open(24, 80).unwrap();
    let mut command = program(c"/bin/cat");
    command.stdio = [peer.try_clone().unwrap(), peer.try_clone().unwrap(), peer];
    command.controlling_terminal = true;
    let child = spawn(&command).unwrap();
    let object = InputObject::Terminal { rdev: terminal.device().unwrap() };
    while waiting_for_input(&[child.pid], object).blocked.is_none() {
        std::thread::yield_now();
    }
    criterion.bench_function("evidence/one thread", |bencher| bencher.iter(|| waiting_for_input(&[child.pid], object)));
    criterion.bench_function("evidence/members of a group", |bencher| bencher.iter(|| process_group::members(child.pid).unwrap()));
    criterion.bench_function("evidence/all processes", |bencher| bencher.iter(|| process_tree::snapshot().unwrap()));
    criterion.bench_function("terminal/open", |bencher| {
        bencher.iter_batched(|| (), |()| Terminal::open(24, 80).unwrap(), BatchSize::PerIteration);
    });
    PidFd::from(child.pidfd.unwrap()).send_signal(libc::SIGKILL).unwrap();
    wait_for(child.pid).unwrap();
}

criterion_group!(benches, starts, looks);
criterion_main!(benches);
