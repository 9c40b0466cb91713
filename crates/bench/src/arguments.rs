//! What was typed.

use std::path::PathBuf;

use clap::Parser;

use crate::cases::Case;

/// Measures crannog against its targets and, in the same run, against the reference.
#[derive(Debug, Parser)]
#[command(name = "crannog-bench", version)]
pub(crate) struct Arguments {
    /// What to measure; everything unless told
    #[arg(value_enum)]
    cases: Vec<Case>,
    /// Fewer samples and smaller floods
    #[arg(long)]
    pub(crate) quick: bool,
    /// One JSON document instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// A Python that has openai-agents; without it the reference is left out
    #[arg(long, requires = "reference_script")]
    pub(crate) python: Option<PathBuf>,
    /// The script that does the same work with the reference
    #[arg(long, requires = "python")]
    pub(crate) reference_script: Option<PathBuf>,
    /// The built `bare_reader.c`
    #[arg(long)]
    pub(crate) bare_reader: PathBuf,
}

impl Arguments {
    /// The cases to run, each once.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let mut cases = Case::ALL.to_vec();
        if !self.cases.is_empty() {
            cases.retain(|case| self.cases.contains(case));
        }
        cases
    }
}
