//! `reap`: removes sandboxes that nobody will come back for.

use clap::Args;
use crannog::{Error, Host, SandboxId};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{self, Output};

/// Remove sandboxes that are lost, out of lease, or were left half made
#[derive(Debug, Args)]
pub(crate) struct Reap {}

impl Reap {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let reaped = Host::from_environment()?.reap().await?;
        if output.is_json() {
            let removed: Vec<_> = reaped.removed.iter().map(SandboxId::as_str).collect();
            output::document(&json!({"removed": removed}))?;
        } else {
            reaped.removed.iter().try_for_each(|id| output::line(id.as_str()))?;
        }
        verdict(output, reaped.removed.len(), reaped.failed)
    }
}

fn verdict(output: Output, removed: usize, failures: Vec<(SandboxId, Error)>) -> Result<(), Failure> {
    let failed = failures.len();
    for (_, error) in failures {
        output.failure(&Failure::from(error));
    }
    if failed == 0 { Ok(()) } else { Err(Failure::DownIncomplete { failed, asked: removed + failed }) }
}
