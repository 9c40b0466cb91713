//! `collect`: waits for a process's output.

use clap::Args;
use crannog::limits;

use super::{ProcessArguments, show_update};
use crate::arguments::collecting::CollectArguments;
use crate::failure::Failure;
use crate::output::Output;

/// Wait for a process's output and show what came
#[derive(Debug, Args)]
pub(crate) struct Collect {
    #[command(flatten)]
    process: ProcessArguments,

    /// Show from this offset: the cursor of an earlier answer, or 0 for everything that is kept. Otherwise from where the last answer
    /// ended.
    #[arg(long, value_name = "OFFSET")]
    cursor: Option<u64>,

    #[command(flatten)]
    wait: CollectArguments,
}

impl Collect {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let process = self.process.process();
        let sandbox = self.process.open().await?;
        let collect = self.wait.into_collect(self.cursor, limits::WINDOW_WRITE_MS_DEFAULT);
        let update = output.waiting("waiting for output", sandbox.collect(process, collect)).await?;
        show_update(output, update)
    }
}
