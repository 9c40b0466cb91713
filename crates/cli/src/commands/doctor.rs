//! `doctor`: says whether this host has what crannog needs, and what to do where it has not.

mod host;
mod kernel;

use clap::Args;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::colours::Colours;
use crate::output::{self, Output};

/// Check what this host offers to sandboxes
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// As it should be.
    Ok,
    /// It works, but less well.
    Warn,
    /// It does not work.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    message: String,
    hint: Option<&'static str>,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, message: message.into(), hint: None }
    }

    fn warn(name: &'static str, message: impl Into<String>, hint: &'static str) -> Self {
        Self { name, status: Status::Warn, message: message.into(), hint: Some(hint) }
    }

    fn fail(name: &'static str, message: impl Into<String>, hint: &'static str) -> Self {
        Self { name, status: Status::Fail, message: message.into(), hint: Some(hint) }
    }
}

/// What was found.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    /// The strongest isolation that a sandbox here would have.
    level: &'static str,
    checks: Vec<Check>,
}

impl Doctor {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let mut checks = kernel::checks();
        checks.extend(host::checks().await);
        let failed = checks.iter().filter(|check| check.status == Status::Fail).count();
        let report = Report { version: env!("CARGO_PKG_VERSION"), level: host::LEVEL, checks };
        if output.is_json() {
            output::document(&report)?;
        } else {
            for check in &report.checks {
                output::line(&line(check, output.colours()))?;
            }
        }
        if failed > 0 { Err(Failure::Doctor { failed }) } else { Ok(()) }
    }
}

fn line(check: &Check, colours: Colours) -> String {
    let status = match check.status {
        Status::Ok => colours.green("ok  "),
        Status::Warn => colours.yellow("warn"),
        Status::Fail => colours.red("fail"),
    };
    let mut line = format!("{status}  {:<12} {}", check.name, check.message);
    if let Some(hint) = check.hint {
        line.extend(["\n      ", &colours.cyan("hint:"), " ", hint]);
    }
    line
}
