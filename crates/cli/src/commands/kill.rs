//! `kill`: ends a process with its whole tree, or sends one signal.

use std::time::Duration;

use clap::Args;
use crannog::{ProcessId, Sandbox, Signal, Target};
use serde_json::json;

use super::ProcessArguments;
use crate::arguments::values;
use crate::failure::Failure;
use crate::output::json::KillDocument;
use crate::output::words;
use crate::output::{self, Output};

/// End a process and everything that it started, or send it a signal
///
/// Alone or with `--tree`: TERM to the whole tree, KILL to what is left after the grace, until nothing is left. With `--signal`: that
/// signal, once, to the terminal's foreground group (without a terminal the process's own), to the group, or to the tree.
#[derive(Debug, Args)]
pub(crate) struct Kill {
    #[command(flatten)]
    process: ProcessArguments,

    /// Reach everything that it started, in whatever session or group.
    #[arg(long, conflicts_with = "group")]
    tree: bool,

    /// Reach only the group that it was started in; TERM unless another signal is given.
    #[arg(long)]
    group: bool,

    /// Send this signal, such as INT, SIGUSR1 or 9.
    #[arg(long, value_name = "SIGNAL", value_parser = values::signal)]
    signal: Option<Signal>,

    /// Time from TERM to KILL; a plain number is seconds.
    #[arg(long, value_name = "DURATION", value_parser = values::duration, conflicts_with_all = ["signal", "group"])]
    grace: Option<Duration>,
}

impl Kill {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let process = self.process.process();
        let sandbox = self.process.open().await?;
        let target = match (self.tree, self.group) {
            (true, _) => Target::Tree,
            (_, true) => Target::Group,
            _ => Target::Foreground,
        };
        match self.signal {
            None if self.group => send(output, &sandbox, process, Signal::TERM, target).await,
            None => end(output, &sandbox, process, self.grace).await,
            // Nobody who kills a tree wants to see it fork its way out of one round.
            Some(Signal::KILL) if self.tree => end(output, &sandbox, process, Some(Duration::ZERO)).await,
            Some(signal) => send(output, &sandbox, process, signal, target).await,
        }
    }
}

async fn end(output: Output, sandbox: &Sandbox, process: ProcessId, grace: Option<Duration>) -> Result<(), Failure> {
    let killed = output.waiting("ending", sandbox.kill(process, grace)).await?;
    if output.is_json() {
        output::document(&KillDocument::of(process.0, &killed))?;
    } else {
        output.note(&format!("process {process} {}", words::end(&killed.end)));
    }
    if killed.complete { Ok(()) } else { Err(Failure::KillIncomplete { process: process.0 }) }
}

async fn send(output: Output, sandbox: &Sandbox, process: ProcessId, signal: Signal, target: Target) -> Result<(), Failure> {
    sandbox.signal(process, signal, target).await?;
    if output.is_json() {
        let target = match target {
            Target::Foreground => "foreground",
            Target::Group => "group",
            Target::Tree => "tree",
        };
        output::document(&json!({"process": process.0, "signal": signal.to_string(), "target": target}))?;
    }
    Ok(())
}
