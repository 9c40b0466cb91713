//! What was found, for people and for programs.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anyhow::Result;
use serde::Serialize;

use crate::machine::Machine;
use crate::reference;
use crate::statistics::{Better, Samples, Summary};

/// What a median has to be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    AtMost(f64),
    AtLeast(f64),
}

/// One figure.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    better: Better,
    crannog: Option<Summary>,
    target: Option<Target>,
    /// The same work done by the reference.
    reference: Option<Summary>,
    note: Option<String>,
}

impl Row {
    /// A figure of which less is better.
    pub(crate) fn lower(name: impl Into<String>, unit: &'static str, samples: &Samples) -> Self {
        Self::new(name.into(), unit, Better::Lower, samples)
    }

    /// A figure of which more is better.
    pub(crate) fn higher(name: impl Into<String>, unit: &'static str, samples: &Samples) -> Self {
        Self::new(name.into(), unit, Better::Higher, samples)
    }

    /// A figure that was taken once.
    pub(crate) fn once(name: impl Into<String>, unit: &'static str, value: f64) -> Self {
        Self::lower(name, unit, &[value].into_iter().collect())
    }

    fn new(name: String, unit: &'static str, better: Better, samples: &Samples) -> Self {
        Self { name, unit, better, crannog: samples.summary(better), target: None, reference: None, note: None }
    }

    pub(crate) fn target(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    pub(crate) fn reference(self, samples: &Samples) -> Self {
        Self { reference: samples.summary(self.better), ..self }
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// Whether the target is met; `None` without one.
    fn verdict(&self) -> Option<bool> {
        let median = self.crannog?.median;
        Some(match self.target? {
            Target::AtMost(most) => median <= most,
            Target::AtLeast(least) => median >= least,
        })
    }

    /// How many times better than the reference.
    fn ratio(&self) -> Option<f64> {
        let (ours, theirs) = (self.crannog?.median, self.reference?.median);
        Some(match self.better {
            Better::Lower => theirs / ours,
            Better::Higher => ours / theirs,
        })
    }

    fn cells(&self) -> [String; 8] {
        let of = |summary: Option<Summary>, which: fn(Summary) -> f64| summary.map(|summary| number(which(summary))).unwrap_or_default();
        let (target, verdict) = (self.target.map(target_text).unwrap_or_default(), self.verdict());
        [
            format!("{} [{}]", self.name, self.unit),
            of(self.crannog, |summary| summary.median),
            of(self.crannog, |summary| summary.p99),
            of(self.crannog, |summary| summary.best),
            verdict.map(|met| format!("{target} {}", if met { "ok" } else { "miss" })).unwrap_or_default(),
            of(self.reference, |summary| summary.median),
            self.ratio().map(|ratio| format!("{}x", number(ratio))).unwrap_or_default(),
            self.note.clone().unwrap_or_default(),
        ]
    }
}

fn target_text(target: Target) -> String {
    match target {
        Target::AtMost(most) => format!("<= {}", number(most)),
        Target::AtLeast(least) => format!(">= {}", number(least)),
    }
}

/// Three digits are all that a run can tell.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

const HEADER: [&str; 8] = ["case", "median", "p99", "best", "target", "reference", "ratio", "note"];
/// Widths of the columns; the last takes what it needs.
const WIDTHS: [usize; 7] = [46, 9, 9, 9, 14, 9, 8];

/// A run, printed as it goes.
#[derive(Debug)]
pub(crate) struct Report {
    machine: Machine,
    json: bool,
    rows: Vec<Row>,
}

impl Report {
    pub(crate) fn new(machine: Machine, json: bool) -> Self {
        Self { machine, json, rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, rows: Vec<Row>) -> Result<()> {
        if !self.json {
            if self.rows.is_empty() {
                print(&HEADER.map(str::to_owned))?;
            }
            rows.iter().try_for_each(|row| print(&row.cells()))?;
        }
        self.rows.extend(rows);
        Ok(())
    }

    /// The last word. A missed target is told, not an error.
    pub(crate) fn end(self, after: &Machine) -> Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            let document = serde_json::json!({
                "machine": self.machine, "load_after": after.load, "reference": reference::NAME, "rows": self.rows,
            });
            writeln!(out, "{document:#}")?;
            return Ok(());
        }
        let Machine { cpus, model, kernel, load } = &self.machine;
        writeln!(out, "\n{cpus} x {model}, Linux {kernel}; load {load} before and {} after", after.load)?;
        writeln!(out, "reference: {}; the ratio says how many times better crannog is", reference::NAME)?;
        let missed: Vec<_> = self.rows.iter().filter(|row| row.verdict() == Some(false)).map(|row| row.name.as_str()).collect();
        let targets = self.rows.iter().filter(|row| row.target.is_some()).count();
        match missed.as_slice() {
            [] => writeln!(out, "all {targets} targets met")?,
            missed => writeln!(out, "{} of {targets} targets missed: {}", missed.len(), missed.join("; "))?,
        }
        Ok(())
    }
}

/// Says which case comes, since some take a minute.
pub(crate) fn announce(case: &str) -> Result<()> {
    writeln!(io::stderr(), "== measuring {case}")?;
    Ok(())
}

fn print(cells: &[String; 8]) -> Result<()> {
    let mut line = String::new();
    for (index, (cell, width)) in cells.iter().zip(WIDTHS).enumerate() {
        let (gap, width) = if index == 0 { ("", width) } else { ("  ", width) };
        line += gap;
        // Writing to a string cannot fail.
        let _ = if index == 0 { write!(line, "{cell:width$}") } else { write!(line, "{cell:>width$}") };
    }
    if let Some(note) = cells.last().filter(|note| !note.is_empty()) {
        line += "  ";
        line += note;
    }
    writeln!(io::stdout().lock(), "{}", line.trim_end())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)]

    use super::{Row, Target};
    use crate::statistics::Samples;

    fn samples(value: f64) -> Samples {
        [value].into_iter().collect()
    }

    #[test]
    fn a_target_is_met_on_its_own_side() {
        let row = |target| Row::once("a", "ms", 3.0).target(target).verdict();
        assert_eq!([row(Target::AtMost(3.0)), row(Target::AtMost(2.9))], [Some(true), Some(false)]);
        assert_eq!([row(Target::AtLeast(3.0)), row(Target::AtLeast(3.1))], [Some(true), Some(false)]);
        assert_eq!(Row::once("a", "ms", 3.0).verdict(), None);
    }

    #[test]
    fn a_ratio_above_one_is_better_whatever_is_measured() {
        assert_eq!(Row::lower("a", "ms", &samples(2.0)).reference(&samples(6.0)).ratio(), Some(3.0));
        assert_eq!(Row::higher("a", "MB/s", &samples(6.0)).reference(&samples(2.0)).ratio(), Some(3.0));
    }
}
