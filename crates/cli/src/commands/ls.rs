//! `ls`: the sandboxes of this host.

use std::time::SystemTime;

use clap::Args;
use crannog::{Host, Sandbox, SandboxInfo, SandboxState};

use crate::failure::Failure;
use crate::output::json::SandboxDocument;
use crate::output::table::Table;
use crate::output::words;
use crate::output::{self, Output};

/// List the sandboxes
#[derive(Debug, Args)]
pub(crate) struct Ls {}

impl Ls {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let sandboxes = Sandbox::list(&Host::from_environment()?).await?;
        if output.is_json() {
            let documents: Vec<_> = sandboxes.into_iter().map(SandboxDocument::of).collect();
            return output::document(&documents);
        }
        let mut table = Table::new(&["ID", "NAME", "STATE", "PROCESSES", "AGE", "WORKSPACE"]);
        let now = SystemTime::now();
        for sandbox in &sandboxes {
            table.row(row(sandbox, now));
        }
        output.table(&table)?;
        let lost = sandboxes.iter().filter(|sandbox| sandbox.state == SandboxState::Lost).count();
        if lost > 0 {
            output.note(&format!("{lost} lost; `crannog down ID` removes what is left of one, `crannog reap` of all"));
        }
        Ok(())
    }
}

fn row(sandbox: &SandboxInfo, now: SystemTime) -> [String; 6] {
    // A clock that was set back makes a sandbox young, not the listing fail.
    let age = now.duration_since(sandbox.created).unwrap_or_default();
    [
        sandbox.id.to_string(),
        sandbox.name.clone().unwrap_or_else(|| "-".to_owned()),
        sandbox.state.to_string(),
        sandbox.processes_live.map_or_else(|| "-".to_owned(), |count| count.to_string()),
        words::time(age),
        sandbox.workspace.display().to_string(),
    ]
}
