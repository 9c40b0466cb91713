//! `screen`: what a process's terminal shows now.

use clap::Args;
use crannog::{ScreenRequest, limits};

use super::ProcessArguments;
use crate::failure::Failure;
use crate::output::json::ScreenDocument;
use crate::output::{self, Output};

/// Show what a process's terminal shows, as text
///
/// It is rendered from what the process printed: the text after all cursor movements, without colours.
#[derive(Debug, Args)]
pub(crate) struct Screen {
    #[command(flatten)]
    process: ProcessArguments,

    /// Only the rows that changed after this version of an earlier answer, each with its number.
    #[arg(long, value_name = "VERSION")]
    since: Option<u64>,

    /// Show also this many lines that have scrolled off the top.
    #[arg(long, value_name = "LINES", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=i64::from(limits::SCREEN_SCROLLBACK_LINES_MAX)))]
    scrollback: u32,

    /// Leave out this many of those lines, counted upwards from the screen.
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    scrollback_skip: u32,
}

impl Screen {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let process = self.process.process();
        let request = ScreenRequest { since: self.since, scrollback_skip: self.scrollback_skip, scrollback_lines: self.scrollback };
        let screen = self.process.open().await?.screen(process, request).await?;
        if output.is_json() {
            return output::document(&ScreenDocument::of(process.0, screen));
        }
        let mut text = String::new();
        for line in &screen.scrollback {
            text.extend([line.as_str(), "\n"]);
        }
        for row in &screen.rows {
            let number = if self.since.is_some() { format!("{}\t", row.row) } else { String::new() };
            text.extend([&number, &row.text, "\n"]);
        }
        output::data(text.as_bytes())?;
        let cursor = screen.cursor;
        let hidden = if cursor.visible { "" } else { ", hidden" };
        output.note(&format!("[version {}; cursor at row {}, column {}{hidden}]", screen.version, cursor.row, cursor.column));
        Ok(())
    }
}
