//! 64 terminals that flood at once, while one caller polls each in turn within a budget and another runs commands beside them.

use std::cell::Cell;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use crannog::{Command, ProcessId, Sandbox, SandboxOptions, TerminalSize, Wait};
use serde_json::Value;

use super::{BUDGET_TOKENS, flood_text, megabytes};
use crate::bench::{Bench, guest_of, ms_since};
use crate::reference::figure;
use crate::report::Row;
use crate::statistics::Samples;

const SESSIONS: u32 = 64;
/// Bytes of each of the reference's floods: it keeps several times as much in memory.
const REFERENCE_BYTES: u64 = 1_000_000;

pub(crate) async fn run(bench: &Bench) -> Result<Vec<Row>> {
    let theirs = reference(bench)?;
    let bytes = bench.amount(20_000_000, 1_000_000);
    let sandbox = bench.sandbox_with(SandboxOptions::new().processes_live_max(SESSIONS * 2)).await?;
    sandbox.exec(Command::shell("true")).await?;
    let guest = guest_of(&sandbox).await?;
    let before = guest.resident_bytes()?;
    let began = Instant::now();
    let mut processes = Vec::new();
    for _ in 0..SESSIONS {
        let command = Command::shell(flood_text(bytes)).terminal(TerminalSize::default());
        processes.push(sandbox.start(command).await?.process);
    }
    let over = Cell::new(false);
    let (collected, executed) = tokio::join!(
        async {
            let collected = poll(&sandbox, &processes).await;
            over.set(true);
            collected
        },
        execute_until(&sandbox, &over),
    );
    let ((total, collects), execs) = (collected?, executed?);
    let seconds = began.elapsed().as_secs_f64();
    let growth = megabytes(guest.peak_bytes()?.saturating_sub(before));
    sandbox.destroy().await?;

    let rate: Samples = [megabytes(total) / seconds].into_iter().collect();
    Ok(vec![
        Row::higher("64 terminals flooding: all together", "MB/s", &rate).reference(&theirs.rate).note(theirs.note),
        Row::lower("  collect of one meanwhile", "ms", &collects).note(worst(&collects)),
        Row::lower("  exec true meanwhile", "ms", &execs).reference(&theirs.execs).note(worst(&execs)),
        Row::once("  guest memory, all together", "MB", growth),
    ])
}

/// Polls every process in turn until all have ended; answers the bytes they printed and how long each poll took.
async fn poll(sandbox: &Sandbox, processes: &[ProcessId]) -> Result<(u64, Samples)> {
    let (mut total, mut collects) = (0, Samples::default());
    let mut running = processes.to_vec();
    while !running.is_empty() {
        let mut still_running = Vec::new();
        for process in running {
            let began = Instant::now();
            let update = sandbox.collect(process, Wait::at_most(Duration::ZERO).budget(BUDGET_TOKENS)).await?;
            collects.push(ms_since(began));
            if update.end.is_some() {
                total += update.cursor;
            } else {
                still_running.push(process);
            }
        }
        running = still_running;
    }
    Ok((total, collects))
}

async fn execute_until(sandbox: &Sandbox, over: &Cell<bool>) -> Result<Samples> {
    let mut execs = Samples::default();
    while !over.get() {
        let began = Instant::now();
        let output = sandbox.exec(Command::shell("true")).await?;
        execs.push(ms_since(began));
        ensure!(output.success(), "true failed beside the floods: {:?}", output.end);
    }
    Ok(execs)
}

fn worst(samples: &Samples) -> String {
    samples.largest().map(|worst| format!("worst {worst:.1} ms")).unwrap_or_default()
}

#[derive(Default)]
struct Theirs {
    rate: Samples,
    execs: Samples,
    note: String,
}

fn reference(bench: &Bench) -> Result<Theirs> {
    let arguments = [SESSIONS.to_string(), REFERENCE_BYTES.to_string()];
    let Some(mut session) = bench.reference("crowd", &arguments)? else { return Ok(Theirs::default()) };
    let sample = session.sample()?;
    let complete = figure(&sample, "complete")?;
    let rate = complete * megabytes(REFERENCE_BYTES) / (figure(&sample, "ms")? / 1e3);
    let execs = sample["exec_ms"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let note = format!("reference: {} MB each, {complete} of {SESSIONS} ended within its longest window", megabytes(REFERENCE_BYTES));
    Ok(Theirs { rate: [rate].into_iter().collect(), execs, note })
}
