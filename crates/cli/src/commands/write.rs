//! `write`: types to a process and shows what it answers.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use clap::Args;
use crannog::{Collect, Input, ProcessId, Sandbox, Update, Written, limits};
use crannog_core::keys;

use super::{ProcessArguments, show_update};
use crate::arguments::collecting::CollectArguments;
use crate::failure::Failure;
use crate::input::Source;
use crate::output::Output;

/// Bytes of stdin written at once.
const PIECE_BYTES: usize = 1024 * 1024;

/// Write to a process and show what it answers
///
/// The text is written as it is: no newline is added, and a backslash is a backslash.
#[derive(Debug, Args)]
pub(crate) struct Write {
    #[command(flatten)]
    process: ProcessArguments,

    /// Take the text as keys, parted by spaces: enter, ctrl-c, up, f1, alt-x, paste:TEXT, or text in quotes.
    #[arg(long)]
    keys: bool,

    #[command(flatten)]
    collect: CollectArguments,

    /// What to write, or `-` for this command's own input, of any size.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: OsString,
}

impl Write {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let process = self.process.process();
        let sandbox = self.process.open().await?;
        let collect = self.collect.into_collect(None, limits::WINDOW_WRITE_MS_DEFAULT);
        let (asked, update) = if !self.keys && self.text == "-" {
            output.waiting("writing", pour(&sandbox, process, collect)).await?
        } else {
            let bytes = if self.keys { keys_of(&self.text)? } else { self.text.into_vec() };
            (
                bytes.len() as u64,
                output.waiting("waiting for output", sandbox.write_and_collect(process, Input::new(bytes), collect)).await?,
            )
        };
        let written = update.written;
        show_update(output, update)?;
        if let Some(written) = written
            && !output.is_json()
        {
            warn(output, written, asked);
        }
        Ok(())
    }
}

fn warn(output: Output, written: Written, asked: u64) {
    if written.accepted < asked {
        output.warning(&format!("the process took {} of {asked} bytes; the rest was not written", written.accepted));
    }
    if written.line_too_long {
        output.warning(&format!("a line is longer than the {} bytes that a terminal keeps", limits::TERMINAL_LINE_BYTES_MAX));
    }
}

fn keys_of(text: &OsString) -> Result<Vec<u8>, Failure> {
    // What is not UTF-8 is no name either, and is shown in the failure as such.
    keys::parse(&text.to_string_lossy()).map_err(Failure::ReadKeys)
}

/// Writes all of stdin, in pieces that are never held together, then collects. Stops at the first piece that the process does not take
/// whole. Also says how many bytes were to be written.
async fn pour(sandbox: &Sandbox, process: ProcessId, collect: Collect) -> Result<(u64, Update), Failure> {
    let mut source = Source::stdin();
    let mut asked = 0;
    let mut total = Written { accepted: 0, line_too_long: false, repeated: false };
    while total.accepted == asked {
        let piece = source.next(PIECE_BYTES).await?;
        if piece.is_empty() {
            break;
        }
        asked += piece.len() as u64;
        let written = sandbox.write(process, Input::new(piece)).await?;
        total.accepted += written.accepted;
        total.line_too_long |= written.line_too_long;
    }
    let mut update = sandbox.collect(process, collect).await?;
    update.written = Some(total);
    Ok((asked, update))
}
