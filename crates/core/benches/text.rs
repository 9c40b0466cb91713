//! How fast output is decoded, measured and cut. The promise: above 1 GiB/s for ASCII, above 500 MiB/s for mixed text.
#![allow(missing_docs)]

use std::hint::black_box;

use crannog_core::truncation::{View, truncate};
use crannog_core::utf8::{Decoder, Measure};
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};

const TEXT_BYTES: usize = 10 * 1024 * 1024;
const READ_BYTES: usize = 64 * 1024;
const BUDGET_TOKENS: i64 = 2_000;

/// A build log.
const ASCII: &str = "   Compiling serde v1.0.229 (registry)\r\ntest result: ok. 128 passed; 0 failed; finished in 0.35s\n";
/// Words of several scripts, box drawing and emoji between ASCII.
const MIXED: &str = "│ résumé naïve ▶ 完成しました 🚀 Привет, мир! ok done in 3 s ─── ñandú\n";

fn corpus(line: &str) -> String {
    line.repeat(TEXT_BYTES / line.len())
}

fn measure_all(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, text: &str) {
    let bytes = text.as_bytes();
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function(format!("decode/{name}"), |bencher| {
        let mut out = String::with_capacity(2 * READ_BYTES);
        bencher.iter(|| {
            let mut decoder = Decoder::new();
            for piece in bytes.chunks(READ_BYTES) {
                out.clear();
                decoder.decode(black_box(piece), &mut out);
            }
            out.len()
        });
    });
    group.bench_function(format!("measure/{name}"), |bencher| {
        bencher.iter(|| {
            let mut measure = Measure::new();
            bytes.chunks(READ_BYTES).for_each(|piece| measure.push(black_box(piece)));
            measure.finish()
        });
    });
    group.bench_function(format!("truncate/{name}"), |bencher| bencher.iter(|| truncate(black_box(text), Some(BUDGET_TOKENS)).1));
    group.bench_function(format!("view/{name}"), |bencher| {
        bencher.iter(|| {
            let mut view = View::new(BUDGET_TOKENS);
            bytes.chunks(READ_BYTES).for_each(|piece| view.push(black_box(piece)));
            view.finish().original_tokens
        });
    });
}

fn text(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("text");
    group.sample_size(20);
    measure_all(&mut group, "ascii", &corpus(ASCII));
    measure_all(&mut group, "mixed", &corpus(MIXED));
    group.finish();
}

criterion_group!(benches, text);
criterion_main!(benches);
