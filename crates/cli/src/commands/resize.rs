//! `resize`: changes the size of a process's terminal.

use clap::Args;
use crannog::TerminalSize;
use serde_json::json;

use super::ProcessArguments;
use crate::arguments::values;
use crate::failure::Failure;
use crate::output::{self, Output};

/// Change the size of a process's terminal
#[derive(Debug, Args)]
pub(crate) struct Resize {
    #[command(flatten)]
    process: ProcessArguments,

    /// Rows.
    #[arg(value_parser = values::side())]
    rows: u16,

    /// Columns.
    #[arg(value_name = "COLS", value_parser = values::side())]
    columns: u16,
}

impl Resize {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let process = self.process.process();
        let size = TerminalSize { rows: self.rows, columns: self.columns };
        self.process.open().await?.resize(process, size).await?;
        if output.is_json() {
            output::document(&json!({"process": process.0, "rows": size.rows, "columns": size.columns}))?;
        }
        Ok(())
    }
}
