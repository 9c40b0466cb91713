//! `close-stdin`: gives a process end of file.

use clap::Args;
use serde_json::json;

use super::ProcessArguments;
use crate::failure::Failure;
use crate::output::{self, Output};

/// Close a process's input, so that it reads end of file
#[derive(Debug, Args)]
pub(crate) struct CloseStdin {
    #[command(flatten)]
    process: ProcessArguments,
}

impl CloseStdin {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let process = self.process.process();
        self.process.open().await?.close_stdin(process).await?;
        if output.is_json() {
            output::document(&json!({"process": process.0}))?;
        }
        Ok(())
    }
}
