//! The bare reader in C: what the kernel and the flooding program allow.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

/// The built program.
#[derive(Debug, Clone)]
pub(crate) struct BareReader {
    pub(crate) program: PathBuf,
}

/// How a program's output reaches its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Through {
    Pipe,
    Terminal,
}

impl Through {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Terminal => "terminal",
        }
    }
}

/// A flood that was read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(crate) struct Flood {
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
}

impl Flood {
    /// Millions of bytes a second.
    #[expect(clippy::cast_precision_loss, reason = "floods are far below 2^52 bytes")]
    pub(crate) fn rate(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.seconds
    }
}

impl BareReader {
    /// Runs a shell text and reads all it prints.
    pub(crate) fn read(&self, through: Through, text: &str) -> Result<Flood> {
        let output = Command::new(&self.program).args([through.name(), text]).output();
        let output = output.with_context(|| format!("run {}", self.program.display()))?;
        ensure!(output.status.success(), "the bare reader failed: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).context("read what the bare reader printed")
    }

    /// A shell text that prints lines as fast as one process can.
    pub(crate) fn producer(&self, bytes: u64) -> String {
        format!("exec '{}' produce {bytes}", self.program.display())
    }
}
