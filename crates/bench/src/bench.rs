//! What all cases share: where sandboxes are made, how much is measured, and with whom it is compared.

use std::time::Instant;

use anyhow::{Context as _, Result};
use crannog::{Host, Sandbox, SandboxOptions};
use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::bare_reader::BareReader;
use crate::meter::Meter;
use crate::reference::{Reference, Session};

/// What all cases share.
#[derive(Debug)]
pub(crate) struct Bench {
    host: Host,
    directory: TempDir,
    reference: Option<Reference>,
    pub(crate) bare_reader: BareReader,
    pub(crate) quick: bool,
}

impl Bench {
    pub(crate) fn new(arguments: &Arguments) -> Result<Self> {
        let directory = tempfile::tempdir().context("make a directory for the sandboxes")?;
        let host = Host::at(directory.path().join("home"))?;
        let reference = arguments.python.clone().zip(arguments.reference_script.clone());
        Ok(Self {
            host,
            directory,
            reference: reference.map(|(python, script)| Reference { python, script }),
            bare_reader: BareReader { program: std::path::absolute(&arguments.bare_reader).context("find the bare reader")? },
            quick: arguments.quick,
        })
    }

    /// `full` of something, or `quick` of it when the user is in a hurry.
    pub(crate) fn amount<Number>(&self, full: Number, quick: Number) -> Number {
        if self.quick { quick } else { full }
    }

    /// A scratch directory.
    pub(crate) fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    /// Starts a case of the reference, where there is one.
    pub(crate) fn reference(&self, case: &str, arguments: &[String]) -> Result<Option<Session>> {
        self.reference.as_ref().map(|reference| reference.start(case, arguments)).transpose()
    }

    /// A sandbox for one case, which has to destroy it.
    pub(crate) async fn sandbox(&self) -> Result<Sandbox> {
        self.sandbox_with(SandboxOptions::new()).await
    }

    pub(crate) async fn sandbox_with(&self, options: SandboxOptions) -> Result<Sandbox> {
        Ok(Sandbox::create(&self.host, options).await?)
    }
}

/// The guest of a sandbox.
pub(crate) async fn guest_of(sandbox: &Sandbox) -> Result<Meter> {
    let pid = sandbox.info().await?.guest_pid.context("the sandbox's guest has no process on this machine")?;
    Ok(Meter::of(pid))
}

/// Milliseconds since then.
pub(crate) fn ms_since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}
