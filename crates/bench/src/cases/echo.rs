//! A line to a program in a terminal and its answer back, waited for by its text.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use crannog::{Command, Reason, TerminalSize, Until, Wait};

use crate::bench::{Bench, ms_since};
use crate::report::{Row, Target};
use crate::statistics::Samples;

const TARGET_MS: f64 = 0.5;
/// Samples of crannog for one of the reference, which takes a third of a second.
const BATCH: usize = 50;
/// Never reached.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn run(bench: &Bench) -> Result<Vec<Row>> {
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    let mut reference = bench.reference("echo", &[])?;
    let sandbox = bench.sandbox().await?;
    let cat = Command::argv(["cat"]).terminal(TerminalSize::default());
    let cat = sandbox.start_and_collect(cat, Wait::at_most(PATIENCE).until(Until::Input)).await?.process;
    let mut line = 0;
    for _ in 0..bench.amount(20, 4) {
        for _ in 0..BATCH {
            line += 1;
            // Once from the terminal's echo and once from the program: the program's answer is what is waited for.
            let answer = Until::Text(format!("{line}\r\n{line}\r\n"));
            let began = Instant::now();
            let update = sandbox.write_and_collect(cat, format!("{line}\n").as_str(), Wait::at_most(PATIENCE).until(answer)).await?;
            ours.push(ms_since(began));
            ensure!(update.reason == Reason::Text, "the answer to line {line} did not come: {update:?}");
        }
        if let Some(reference) = &mut reference {
            theirs.push(reference.figure("ms")?);
        }
    }
    sandbox.destroy().await?;
    Ok(vec![Row::lower("terminal echo round trip", "ms", &ours).reference(&theirs).target(Target::AtMost(TARGET_MS))])
}
