//! `true` from start to end, with its output, in a sandbox that is there.

use std::time::Instant;

use anyhow::{Result, ensure};
use crannog::Command;

use crate::bench::{Bench, ms_since};
use crate::report::{Row, Target};
use crate::statistics::Samples;

const TARGET_MS: f64 = 2.0;
/// Samples of crannog for one of the reference.
const BATCH: usize = 10;

pub(crate) async fn run(bench: &Bench) -> Result<Vec<Row>> {
    let shell = measure(bench, "shell", &Command::shell("true")).await?;
    let argv = measure(bench, "argv", &Command::argv(["true"])).await?;
    Ok(vec![shell, argv])
}

async fn measure(bench: &Bench, form: &str, command: &Command) -> Result<Row> {
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    let mut reference = bench.reference("exec", &[form.to_owned()])?;
    let sandbox = bench.sandbox().await?;
    sandbox.exec(command.clone()).await?;
    for _ in 0..bench.amount(50, 8) {
        for _ in 0..BATCH {
            let began = Instant::now();
            let output = sandbox.exec(command.clone()).await?;
            ours.push(ms_since(began));
            ensure!(output.success(), "true failed: {:?}", output.end);
        }
        if let Some(reference) = &mut reference {
            theirs.push(reference.figure("ms")?);
        }
    }
    sandbox.destroy().await?;
    Ok(Row::lower(format!("exec true, {form}"), "ms", &ours).reference(&theirs).target(Target::AtMost(TARGET_MS)))
}
