//! `info`: everything that is known of one sandbox.

use clap::Args;
use crannog::{Host, SandboxInfo};

use super::SandboxArgument;
use crate::failure::Failure;
use crate::output::json::{self, SandboxDocument};
use crate::output::table::printable;
use crate::output::words;
use crate::output::{self, Output};

/// Show one sandbox
#[derive(Debug, Args)]
pub(crate) struct Info {
    #[command(flatten)]
    sandbox: SandboxArgument,
}

impl Info {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let info = Host::from_environment()?.describe(&self.sandbox.sandbox).await?;
        if output.is_json() {
            return output::document(&SandboxDocument::of(info));
        }
        for (name, value) in facts(&info) {
            output::line(&format!("{} {}", output.colours().bold(&format!("{name:<10}")), printable(&value)))?;
        }
        Ok(())
    }
}

fn facts(info: &SandboxInfo) -> Vec<(&'static str, String)> {
    let unknown = "unknown";
    let workspace = if info.workspace_owned { "goes with the sandbox" } else { "stays" };
    let lease = match (info.lease, info.lease_remaining) {
        (Some(lease), Some(left)) => format!("{}, {} left", words::time(lease), words::time(left)),
        (Some(lease), None) => words::time(lease),
        (None, _) => "none".to_owned(),
    };
    vec![
        ("id", info.id.to_string()),
        ("name", info.name.clone().unwrap_or_else(|| "-".to_owned())),
        ("state", info.state.to_string()),
        ("backend", info.backend.clone()),
        ("isolation", info.level.to_owned()),
        ("tracking", info.tracking.unwrap_or(unknown).to_owned()),
        ("workspace", format!("{} ({workspace})", info.workspace.display())),
        ("created", json::timestamp(info.created)),
        ("lease", lease),
        ("processes", info.processes_live.map_or_else(|| unknown.to_owned(), |count| count.to_string())),
        ("guest", info.guest_pid.map_or_else(|| unknown.to_owned(), |pid| format!("pid {pid}"))),
    ]
}
