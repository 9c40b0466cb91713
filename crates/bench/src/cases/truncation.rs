//! 10 MB of text within a budget: the rule alone, and as a caller has it, with everything that is kept read back from memory and disk.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use crannog::{Command, Wait};
use crannog_core::truncation::truncate;

use super::BUDGET_TOKENS;
use crate::bench::{Bench, ms_since};
use crate::reference::figure;
use crate::report::Row;
use crate::statistics::Samples;

const TEXT_BYTES: usize = 10_000_000;
/// A build's log with what people put into it.
const LINE: &str = "   Compiling naïve-résumé v1.0.229 ─── ok ✓ 完成しました 128 passed; 0 failed; finished in 0.35s\n";
/// Samples of crannog for one of the reference.
const BATCH: usize = 10;

pub(crate) async fn run(bench: &Bench) -> Result<Vec<Row>> {
    let text = LINE.repeat(TEXT_BYTES / LINE.len());
    let path = bench.directory().join("text");
    fs::write(&path, &text).with_context(|| format!("write {}", path.display()))?;
    let mut reference = bench.reference("truncation", &[path.display().to_string()])?;

    let sandbox = bench.sandbox().await?;
    let printer = sandbox.start(Command::argv(["cat".as_ref(), path.as_os_str()])).await?.process;
    sandbox.wait_any(&[printer], Duration::from_secs(30)).await?;

    let (mut rule, mut view, mut theirs) = (Samples::default(), Samples::default(), Samples::default());
    let budget = i64::try_from(BUDGET_TOKENS).context("the budget is small")?;
    let (expected, _) = truncate(&text, Some(budget));
    for _ in 0..bench.amount(5, 1) {
        for _ in 0..BATCH {
            let began = Instant::now();
            let shown = truncate(std::hint::black_box(&text), Some(budget));
            rule.push(ms_since(began));
            drop(shown);
            let began = Instant::now();
            let update = sandbox.collect(printer, Wait::at_most(Duration::ZERO).from_cursor(0).budget(BUDGET_TOKENS)).await?;
            view.push(ms_since(began));
            ensure!(update.text == expected, "the guest shows something else than the rule");
        }
        if let Some(reference) = &mut reference {
            let sample = reference.sample()?;
            theirs.push(figure(&sample, "ms")?);
            let shown = u64::try_from(expected.len()).context("a text has a length")?;
            ensure!(sample["shown_bytes"] == shown, "the reference shows something else: {sample}");
        }
    }
    sandbox.destroy().await?;
    Ok(vec![
        Row::lower("truncation of 10 MB: the rule", "ms", &rule).reference(&theirs),
        Row::lower("truncation of 10 MB: a collect of the transcript", "ms", &view).reference(&theirs),
    ])
}
