//! `attach`: a person takes over a process's terminal.

use std::io::{self, IsTerminal as _};

use clap::Args;

use super::{ProcessArguments, one_shot};
use crate::attach::detach_keys::DetachKeys;
use crate::attach::session::{Leave, Session};
use crate::failure::Failure;
use crate::interruptions::Interruptions;
use crate::output::Output;
use crate::output::words;

/// Take over a process's terminal with your own
///
/// Every key goes to the process, and your window's size with it. The exit code is the process's own, or 0 after leaving it.
#[derive(Debug, Args)]
pub(crate) struct Attach {
    #[command(flatten)]
    process: ProcessArguments,

    /// Keys that leave the process running; `none` for no way out but its end.
    #[arg(long, value_name = "KEYS", default_value = "ctrl-] d", value_parser = DetachKeys::parse)]
    detach_keys: DetachKeys,
}

impl Attach {
    pub(crate) async fn run(self, output: Output) -> Result<u8, Failure> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(Failure::TerminalNeeded { verb: "attach" });
        }
        let mut interruptions = Interruptions::catch()?;
        let process = self.process.process();
        let sandbox = self.process.open().await?;
        let session = Session { sandbox: &sandbox, process, detach: self.detach_keys };
        match session.run(&mut interruptions).await? {
            Leave::Ended(end) => {
                output.note(&format!("[process {process} {}]", words::end(&end)));
                one_shot::exit_code(&end)
            }
            Leave::Detached => {
                output.note(&format!("[left process {process} running]"));
                Ok(0)
            }
            Leave::Interrupted(signal) => Ok(one_shot::code_of(signal)),
        }
    }
}
