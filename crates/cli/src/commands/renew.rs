//! `renew`: gives a sandbox more time.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::SandboxArgument;
use crate::arguments::values;
use crate::failure::Failure;
use crate::output::words;
use crate::output::{self, Output};

/// Start the time of a sandbox's lease again
#[derive(Debug, Args)]
pub(crate) struct Renew {
    #[command(flatten)]
    sandbox: SandboxArgument,

    /// End the sandbox this long from now, unless it is renewed. `never` lets it live until it is destroyed.
    #[arg(long, value_name = "DURATION", value_parser = ttl)]
    ttl: Ttl,
}

/// A lease as it is typed.
#[derive(Debug, Clone, Copy)]
struct Ttl(Option<Duration>);

fn ttl(text: &str) -> Result<Ttl, String> {
    if text == "never" { Ok(Ttl(None)) } else { values::timeout(text).map(|time| Ttl(Some(time))) }
}

impl Renew {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let sandbox = self.sandbox.open().await?;
        sandbox.renew(self.ttl.0).await?;
        if output.is_json() {
            let lease_ms = self.ttl.0.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
            return output::document(&json!({"id": sandbox.id().as_str(), "lease_ms": lease_ms}));
        }
        output.note(&match self.ttl.0 {
            Some(time) => format!("ends in {} unless renewed", words::time(time)),
            None => "lives until it is destroyed".to_owned(),
        });
        Ok(())
    }
}
