//! One flooding program, shown within a budget: how fast it may print, against a reader in C that forgets what it reads, and the memory that
//! it takes on both sides.
//!
//! Two programs flood. `yes | head` is what the reference is measured with; a program that writes 64 KiB at a time leaves the reader no
//! excuse.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use crannog::{Command, Sandbox, TerminalSize, Until, Wait};

use super::{BUDGET_TOKENS, flood_text, megabytes};
use crate::bare_reader::{Flood, Through};
use crate::bench::{Bench, guest_of};
use crate::meter::Meter;
use crate::reference::figure;
use crate::report::{Row, Target};
use crate::statistics::Samples;

const TARGET_SHARE_PERCENT: f64 = 80.0;
const TARGET_MEMORY_MB: f64 = 8.0;
/// The longest window; a slower flood takes several.
const WINDOW: Duration = Duration::from_secs(30);

pub(crate) async fn run(bench: &Bench, through: Through) -> Result<Vec<Row>> {
    let bytes = bench.amount(100_000_000, 10_000_000);
    let name = format!("{} flood, {} MB", through.name(), megabytes(bytes));
    let (their_rate, their_memory, note) = reference(bench, through)?;
    let (guest, client) = memory(bench, through, bytes).await?;

    let mut rows = Vec::new();
    for (program, text) in [("yes | head", flood_text(bytes)), ("fastest writer", bench.bare_reader.producer(bytes))] {
        let Rates { ours, bare, share } = rates(bench, through, &text).await?;
        let of_reference = if rows.is_empty() { their_rate.clone() } else { Samples::default() };
        rows.push(Row::higher(format!("{name}, {program}"), "MB/s", &ours).reference(&of_reference).note(note.clone()));
        rows.push(Row::higher("  bare reader in C", "MB/s", &bare));
        rows.push(Row::higher("  share of the bare reader", "%", &share).target(Target::AtLeast(TARGET_SHARE_PERCENT)));
    }
    rows.push(Row::lower(format!("{name}: guest memory"), "MB", &guest).reference(&their_memory).target(Target::AtMost(TARGET_MEMORY_MB)));
    rows.push(Row::lower(format!("{name}: client memory"), "MB", &client).target(Target::AtMost(TARGET_MEMORY_MB)));
    Ok(rows)
}

struct Rates {
    ours: Samples,
    bare: Samples,
    /// Of each turn by itself: what else the machine does changes from turn to turn.
    share: Samples,
}

async fn rates(bench: &Bench, through: Through, text: &str) -> Result<Rates> {
    let mut rates = Rates { ours: Samples::default(), bare: Samples::default(), share: Samples::default() };
    let sandbox = bench.sandbox().await?;
    for _ in 0..bench.amount(7, 3) {
        let bare = bench.bare_reader.read(through, text)?;
        let ours = flood(&sandbox, through, text).await?;
        ensure!(ours.bytes.abs_diff(bare.bytes) < bare.bytes / 1_000, "{} bytes came, the bare reader got {}", ours.bytes, bare.bytes);
        rates.bare.push(bare.rate());
        rates.ours.push(ours.rate());
        rates.share.push(ours.rate() / bare.rate() * 100.0);
    }
    sandbox.destroy().await?;
    Ok(rates)
}

async fn flood(sandbox: &Sandbox, through: Through, text: &str) -> Result<Flood> {
    let command = Command::shell(text);
    let command = if through == Through::Terminal { command.terminal(TerminalSize::default()) } else { command };
    let wait = || Wait::at_most(WINDOW).until(Until::Exit).budget(BUDGET_TOKENS);
    let began = Instant::now();
    let mut update = sandbox.start_and_collect(command, wait()).await?;
    while update.end.is_none() {
        update = sandbox.collect(update.process, wait()).await?;
    }
    Ok(Flood { bytes: update.cursor, seconds: began.elapsed().as_secs_f64() })
}

/// What the flood adds to the guest and to this program, in sandboxes that have done nothing before.
async fn memory(bench: &Bench, through: Through, bytes: u64) -> Result<(Samples, Samples)> {
    let (mut guest_mb, mut client_mb) = (Samples::default(), Samples::default());
    let client = Meter::of_this_program();
    for _ in 0..bench.amount(3, 1) {
        let sandbox = bench.sandbox().await?;
        sandbox.exec(Command::shell("true")).await?;
        let guest = guest_of(&sandbox).await?;
        client.forget_peak()?;
        let before = [guest.resident_bytes()?, client.resident_bytes()?];
        flood(&sandbox, through, &flood_text(bytes)).await?;
        let peaks = [guest.peak_bytes()?, client.peak_bytes()?];
        guest_mb.push(megabytes(peaks[0].saturating_sub(before[0])));
        client_mb.push(megabytes(peaks[1].saturating_sub(before[1])));
        sandbox.destroy().await?;
    }
    Ok((guest_mb, client_mb))
}

/// The reference's rate and memory, and what has to be said about them. Its terminals are too slow to end 100 MB within the longest window.
fn reference(bench: &Bench, through: Through) -> Result<(Samples, Samples, String)> {
    let bytes = if through == Through::Pipe { bench.amount(100_000_000, 10_000_000) } else { 10_000_000 };
    let Some(mut session) = bench.reference("flood", &[through.name().to_owned(), bytes.to_string()])? else {
        return Ok((Samples::default(), Samples::default(), String::new()));
    };
    let sample = session.sample()?;
    ensure!(sample["complete"] == true, "the reference did not end the flood within its longest window");
    let growth = sample["growth_bytes"].as_u64().context("the reference's answer has no growth_bytes")?;
    let rate = Flood { bytes, seconds: figure(&sample, "ms")? / 1e3 }.rate();
    let note = format!("reference: {} MB once, {:.1} s of processor time", megabytes(bytes), figure(&sample, "cpu_ms")? / 1e3);
    Ok(([rate].into_iter().collect(), [megabytes(growth)].into_iter().collect(), note))
}
