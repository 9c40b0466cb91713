//! `up`: makes a sandbox.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use crannog::{Host, Sandbox, SandboxOptions};

use crate::arguments::values::{self, Variable};
use crate::failure::Failure;
use crate::output::json::SandboxDocument;
use crate::output::{self, Output};

/// Make a sandbox and print its id
#[derive(Debug, Args)]
pub(crate) struct Up {
    /// A name to call it by.
    #[arg(long)]
    name: Option<String>,

    /// Work in this directory, which stays when the sandbox goes. Otherwise a fresh one is made and goes with it.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// A variable for every command; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = Variable::parser())]
    env: Vec<Variable>,

    /// End the sandbox this long after it was made or last renewed, such as 90s, 10m or 2h.
    #[arg(long, value_name = "DURATION", value_parser = values::timeout)]
    ttl: Option<Duration>,
}

impl Up {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let mut options = SandboxOptions::new();
        options.name = self.name;
        options.workspace = self.workspace;
        options.environment = Variable::pairs(self.env);
        options.lease = self.ttl;
        let sandbox = Sandbox::create(&Host::from_environment()?, options).await?;
        if output.is_json() {
            return output::document(&SandboxDocument::of(sandbox.info().await?));
        }
        output::line(sandbox.id().as_str())
    }
}
