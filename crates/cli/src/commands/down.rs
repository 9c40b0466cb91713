//! `down`: ends sandboxes.

use clap::Args;
use crannog::{Error, ErrorCode, Host, Sandbox};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::output::{self, Output};

/// Sandboxes that are ended at the same time; each may take its grace, and more than this gains nothing.
const CONCURRENT_MAX: usize = 16;

/// End sandboxes: every process, the workspace unless it was given, and the record
#[derive(Debug, Args)]
pub(crate) struct Down {
    /// The sandboxes: ids, beginnings of ids, or names.
    #[arg(value_name = "ID", required_unless_present = "all")]
    sandboxes: Vec<String>,

    /// All of them.
    #[arg(long, conflicts_with = "sandboxes")]
    all: bool,
}

impl Down {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let host = Host::from_environment()?;
        let references: Vec<String> =
            if self.all { Sandbox::list(&host).await?.into_iter().map(|sandbox| sandbox.id.to_string()).collect() } else { self.sandboxes };
        let mut destroyed = Vec::new();
        let mut failures = Vec::new();
        for (reference, answer) in output.waiting("ending", destroy_all(&host, &references)).await {
            match answer {
                Ok(()) => destroyed.push(reference),
                // `--all` is content with one that somebody else ended meanwhile.
                Err(error) if self.all && error.code() == ErrorCode::SandboxNotFound => {}
                Err(error) => failures.push(Failure::from(error)),
            }
        }
        if output.is_json() {
            output::document(&json!({"destroyed": destroyed}))?;
        } else {
            destroyed.iter().try_for_each(|reference| output::line(reference))?;
        }
        verdict(output, references.len(), failures)
    }
}

/// Ends them, several at a time, and answers in their order.
async fn destroy_all(host: &Host, references: &[String]) -> Vec<(String, Result<(), Error>)> {
    let mut answers = Vec::with_capacity(references.len());
    for batch in references.chunks(CONCURRENT_MAX) {
        let spawn = |reference: &String| -> (String, JoinHandle<Result<(), Error>>) {
            let (host, owned) = (host.clone(), reference.clone());
            (reference.clone(), tokio::spawn(async move { host.destroy(&owned).await }))
        };
        let begun: Vec<_> = batch.iter().map(spawn).collect();
        for (reference, task) in begun {
            match task.await {
                Ok(answer) => answers.push((reference, answer)),
                Err(fault) => std::panic::resume_unwind(fault.into_panic()),
            }
        }
    }
    answers
}

fn verdict(output: Output, asked: usize, mut failures: Vec<Failure>) -> Result<(), Failure> {
    match failures.len() {
        0 => Ok(()),
        1 => Err(failures.remove(0)),
        failed => {
            for failure in &failures {
                output.failure(failure);
            }
            Err(Failure::DownIncomplete { failed, asked })
        }
    }
}
