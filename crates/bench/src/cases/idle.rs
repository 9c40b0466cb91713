//! A thousand terminals whose programs wait for input: what each costs the guest in memory, and all of them in processor time.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use crannog::{Command, Sandbox, SandboxOptions, TerminalSize};

use super::megabytes;
use crate::bench::{Bench, guest_of, ms_since};
use crate::reference::figure;
use crate::report::{Row, Target};
use crate::statistics::Samples;

const PROCESSES: u32 = 1_000;
const TARGET_IDLE_MB: f64 = 3.0;
const TARGET_EACH_KB: f64 = 64.0;
const TARGET_CPU_PERCENT: f64 = 1.0;
/// Longer than any thread or timer of the guest lives without work.
const SETTLE: Duration = Duration::from_secs(2);
/// How long processor time is counted.
const WATCHED: Duration = Duration::from_secs(10);
/// What the reference is asked for. It has never started more than a few, and none of the later ones answers.
const REFERENCE_WANTED: u32 = 16;

pub(crate) async fn run(bench: &Bench) -> Result<Vec<Row>> {
    let theirs = reference(bench)?;
    let sandbox = bench.sandbox_with(SandboxOptions::new().processes_live_max(PROCESSES + 8)).await?;
    sandbox.exec(Command::shell("true")).await?;
    let guest = guest_of(&sandbox).await?;
    tokio::time::sleep(SETTLE).await;
    let (idle, idle_proportional) = (guest.resident_bytes()?, guest.proportional_bytes()?);

    let starts = start_all(&sandbox).await?;
    tokio::time::sleep(SETTLE).await;
    let full = guest.resident_bytes()?;
    let (began, before) = (Instant::now(), guest.cpu()?);
    tokio::time::sleep(WATCHED).await;
    let cpu_percent = guest.cpu()?.saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64() * 100.0;
    ensure!(sandbox.info().await?.processes_live == Some(PROCESSES), "some of the idle processes ended");
    sandbox.destroy().await?;

    let each_kb = megabytes(full.saturating_sub(idle)) * 1e3 / f64::from(PROCESSES);
    Ok(vec![
        Row::once("idle guest, resident", "MB", megabytes(idle))
            .target(Target::AtMost(TARGET_IDLE_MB))
            .note(format!("proportional {:.2} MB", megabytes(idle_proportional))),
        Row::once("each of 1,000 idle terminals: guest memory", "kB", each_kb)
            .target(Target::AtMost(TARGET_EACH_KB))
            .reference(&theirs.each_kb)
            .note(theirs.note),
        Row::once("1,000 idle terminals: processor time", "% of one", cpu_percent).target(Target::AtMost(TARGET_CPU_PERCENT)),
        Row::lower("start of one of 1,000 terminals", "ms", &starts),
    ])
}

async fn start_all(sandbox: &Sandbox) -> Result<Samples> {
    let mut starts = Samples::default();
    for _ in 0..PROCESSES {
        let began = Instant::now();
        sandbox.start(Command::argv(["cat"]).terminal(TerminalSize::default())).await?;
        starts.push(ms_since(began));
    }
    Ok(starts)
}

#[derive(Default)]
struct Theirs {
    each_kb: Samples,
    note: String,
}

fn reference(bench: &Bench) -> Result<Theirs> {
    let Some(mut session) = bench.reference("idle", &[REFERENCE_WANTED.to_string()])? else { return Ok(Theirs::default()) };
    let sample = session.sample()?;
    let (started, growth) = (figure(&sample, "started")?, figure(&sample, "growth_bytes")?);
    let cpu_ms = figure(&sample, "cpu_ms")?;
    let note = format!("reference: {started} of {REFERENCE_WANTED} started, then nothing more; {cpu_ms:.0} ms of processor time in 10 s");
    Ok(Theirs { each_kb: [growth / 1e3 / started].into_iter().collect(), note })
}
