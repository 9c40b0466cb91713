//! What is measured, a file for each.

mod create;
mod crowd;
mod echo;
mod exec;
mod first_byte;
mod flood;
mod idle;
mod truncation;

use anyhow::Result;
use clap::ValueEnum;

use crate::bare_reader::Through;
use crate::bench::Bench;
use crate::report::Row;

/// Tokens of text that floods are shown within.
const BUDGET_TOKENS: u64 = 10_000;

/// A measurement that can be asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// Making and destroying a sandbox
    Create,
    /// `true` in a live sandbox
    Exec,
    /// From a start to the first byte
    FirstByte,
    /// A line through a terminal and back
    Echo,
    /// A flood through a pipe, and the memory it takes
    Pipe,
    /// A flood through a terminal, and the memory it takes
    Terminal,
    /// A thousand terminals that do nothing
    Idle,
    /// 64 terminals that flood at once
    Crowd,
    /// 10 MB of text within a budget
    Truncation,
}

impl Case {
    pub(crate) const ALL: [Self; 9] =
        [Self::Create, Self::Exec, Self::FirstByte, Self::Echo, Self::Pipe, Self::Terminal, Self::Idle, Self::Crowd, Self::Truncation];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Exec => "exec",
            Self::FirstByte => "first-byte",
            Self::Echo => "echo",
            Self::Pipe => "pipe",
            Self::Terminal => "terminal",
            Self::Idle => "idle",
            Self::Crowd => "crowd",
            Self::Truncation => "truncation",
        }
    }

    pub(crate) async fn run(self, bench: &Bench) -> Result<Vec<Row>> {
        match self {
            Self::Create => create::run(bench).await,
            Self::Exec => exec::run(bench).await,
            Self::FirstByte => first_byte::run(bench).await,
            Self::Echo => echo::run(bench).await,
            Self::Pipe => flood::run(bench, Through::Pipe).await,
            Self::Terminal => flood::run(bench, Through::Terminal).await,
            Self::Idle => idle::run(bench).await,
            Self::Crowd => crowd::run(bench).await,
            Self::Truncation => truncation::run(bench).await,
        }
    }
}

/// The flooding program of all floods; the reference runs the same.
fn flood_text(bytes: u64) -> String {
    format!("yes 'the quick brown fox jumps over the lazy dog, again and again and again' | head -c {bytes}")
}

/// Bytes in millions, as the targets are written.
#[expect(clippy::cast_precision_loss, reason = "sizes here are far below 2^52 bytes")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
