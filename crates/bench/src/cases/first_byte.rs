//! From a start to the first byte that the caller has in hand.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use crannog::{Command, TerminalSize, Until, Wait};

use crate::bare_reader::Through;
use crate::bench::{Bench, ms_since};
use crate::report::Row;
use crate::statistics::Samples;

/// Samples of crannog for one of the reference.
const BATCH: usize = 10;
/// Never reached.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn run(bench: &Bench) -> Result<Vec<Row>> {
    Ok(vec![measure(bench, Through::Pipe).await?, measure(bench, Through::Terminal).await?])
}

async fn measure(bench: &Bench, through: Through) -> Result<Row> {
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    let mut reference = bench.reference("first-byte", &[through.name().to_owned()])?;
    let sandbox = bench.sandbox().await?;
    let command = Command::shell("echo hi");
    let command = if through == Through::Terminal { command.terminal(TerminalSize::default()) } else { command };
    for _ in 0..bench.amount(30, 5) {
        for _ in 0..BATCH {
            let began = Instant::now();
            let update = sandbox.start_and_collect(command.clone(), Wait::at_most(PATIENCE).until(Until::Bytes(1))).await?;
            ours.push(ms_since(began));
            ensure!(update.text.contains("hi"), "the first window has no output: {update:?}");
            // Otherwise its end would be measured with the next start.
            sandbox.wait_any(&[update.process], PATIENCE).await?;
        }
        if let Some(reference) = &mut reference {
            theirs.push(reference.figure("ms")?);
        }
    }
    sandbox.destroy().await?;
    Ok(Row::lower(format!("start to first byte, {}", through.name()), "ms", &ours)
        .reference(&theirs)
        .note("the reference answers at the end of the process"))
}
