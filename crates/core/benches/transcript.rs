//! How fast a flood is taken in once the archive is full, and how fast a long window is shown. The promise: above 2 GB/s taken in,
//! and a window of 64 MiB shown in less than the 250 ms of the shortest compatible collect.
#![allow(missing_docs)]

use std::hint::black_box;

use crannog_core::log::{Limits, MemoryArchive, NoArchive, OutputLog};
use crannog_core::process::Stream;
use crannog_core::view::ViewBuilder;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const READ_BYTES: usize = 64 * 1024;
const STEP_BYTES: usize = 1024 * 1024;
const WINDOW_BYTES: usize = 64 * 1024 * 1024;
const BUDGET_TOKENS: u64 = 10_000;

fn lines() -> Vec<u8> {
    "test result: ok. 128 passed; 0 failed; finished in 0.35s\n".bytes().cycle().take(READ_BYTES).collect()
}

fn push(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("push");
    let lines = lines();
    group.throughput(Throughput::Bytes(READ_BYTES as u64));
    group.bench_function("flood", |bencher| {
        let mut log = OutputLog::new(Limits::default(), NoArchive);
        bencher.iter(|| log.push(Stream::Stdout, black_box(&lines)));
    });
    group.throughput(Throughput::Bytes(80));
    group.bench_function("lines of two streams", |bencher| {
        let mut log = OutputLog::new(Limits::default(), NoArchive);
        bencher.iter(|| {
            log.push(Stream::Stdout, black_box(&lines[..40]));
            log.push(Stream::Stderr, black_box(&lines[..40]));
        });
    });
    group.finish();
}

fn view(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("view");
    group.sample_size(10).throughput(Throughput::Bytes(WINDOW_BYTES as u64));
    let lines = lines();
    let mut log = OutputLog::new(Limits::default(), MemoryArchive::default());
    for _ in 0..WINDOW_BYTES / READ_BYTES {
        log.push(Stream::Stdout, &lines);
    }
    group.bench_function("64 MiB", |bencher| {
        bencher.iter(|| {
            let mut builder = ViewBuilder::new(0, Some(BUDGET_TOKENS));
            loop {
                match builder.step(&mut log, STEP_BYTES) {
                    Ok(None) => {}
                    view => break black_box(view),
                }
            }
        });
    });
    group.finish();
}

criterion_group!(benches, push, view);
criterion_main!(benches);
