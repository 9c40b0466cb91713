//! `ps`: the processes of a sandbox.

use std::time::Duration;

use clap::Args;
use crannog::ProcessInfo;

use super::SandboxArgument;
use crate::failure::Failure;
use crate::output::json::ProcessDocument;
use crate::output::table::Table;
use crate::output::words;
use crate::output::{self, Output};

/// List the processes of a sandbox, with those that ended and are still remembered
#[derive(Debug, Args)]
pub(crate) struct Ps {
    #[command(flatten)]
    sandbox: SandboxArgument,
}

impl Ps {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let processes = self.sandbox.open().await?.processes().await?;
        if output.is_json() {
            let documents: Vec<_> = processes.into_iter().map(ProcessDocument::of).collect();
            return output::document(&documents);
        }
        let mut table = Table::new(&["PROCESS", "PID", "AGE", "OUTPUT", "STATE", "COMMAND"]);
        for process in &processes {
            table.row(row(process));
        }
        output.table(&table)
    }
}

fn row(process: &ProcessInfo) -> [String; 6] {
    let mut state = match &process.end {
        None => "runs".to_owned(),
        Some(end) => words::end(end),
    };
    if process.end.is_some() && process.descendants_alive {
        state.push_str(", children run");
    }
    [
        process.process.to_string(),
        process.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
        words::time(Duration::from_millis(process.age_ms)),
        words::bytes(process.output_bytes),
        state,
        process.command.clone(),
    ]
}
