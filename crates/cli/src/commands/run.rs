//! `run`: one command in a sandbox of its own.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use clap::Args;
use crannog::{Connection, Host, Sandbox, SandboxOptions, StartSpec, Stdin, TerminalSize};
use tokio::time::interval;

use super::one_shot::{self, OneShot};
use crate::arguments::program::ProgramArguments;
use crate::arguments::values;
use crate::attach::detach_keys::DetachKeys;
use crate::attach::session::{self, Leave, Session};
use crate::failure::Failure;
use crate::input::Source;
use crate::interruptions::Interruptions;
use crate::output::Output;

/// The sandbox ends this long after we have stopped renewing it, so that nothing stays if we are killed. Long enough to be stopped with
/// Ctrl-Z for a while.
const LEASE: Duration = Duration::from_mins(10);
/// How often it is renewed.
const RENEWAL: Duration = Duration::from_mins(2);

/// Run a command in a fresh sandbox that goes when it ends, with its output and exit code as this command's own
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Give it a terminal. On a terminal it takes over this one, as `attach` does.
    #[arg(long)]
    terminal: bool,

    /// End it and everything that it started after this long; a plain number is seconds.
    #[arg(long, value_name = "DURATION", value_parser = values::timeout)]
    timeout: Option<Duration>,

    /// Give it this file as input, or `-` for this command's own. Otherwise it reads end of file.
    #[arg(long, value_name = "FILE", allow_hyphen_values = true, conflicts_with = "terminal")]
    stdin: Option<OsString>,

    #[command(flatten)]
    program: ProgramArguments,
}

impl Run {
    pub(crate) async fn run(self, output: Output) -> Result<u8, Failure> {
        let mut interruptions = Interruptions::catch()?;
        let input = match self.stdin {
            Some(name) => Some(Source::open(name).await?),
            None => None,
        };
        let mut spec = StartSpec::new(self.program.into_program());
        spec.timeout = self.timeout;
        let mine = self.terminal && !output.is_json() && io::stdin().is_terminal() && io::stdout().is_terminal();
        spec.connection = match (self.terminal, mine) {
            (true, true) => Connection::Terminal(session::size_of_ours().map_err(Failure::Terminal)?),
            (true, false) => Connection::Terminal(TerminalSize::default()),
            (false, _) => Connection::Pipes(if input.is_some() { Stdin::Piped } else { Stdin::Closed }),
        };
        let sandbox = Sandbox::create(&Host::from_environment()?, SandboxOptions::new().lease(LEASE)).await?;
        let renewal = tokio::spawn(keep_alive(sandbox.clone()));
        let code = if mine {
            take_over(&sandbox, spec, &mut interruptions).await
        } else {
            OneShot { sandbox: &sandbox, output, input }.run(spec, &mut interruptions).await
        };
        renewal.abort();
        let gone = sandbox.destroy().await;
        let code = code?;
        gone?;
        Ok(code)
    }
}

/// Runs it in the caller's own terminal.
async fn take_over(sandbox: &Sandbox, spec: StartSpec, interruptions: &mut Interruptions) -> Result<u8, Failure> {
    let process = sandbox.start(spec).await?.process;
    let session = Session { sandbox, process, detach: DetachKeys::new(Vec::new()) };
    match session.run(interruptions).await? {
        Leave::Ended(end) => one_shot::exit_code(&end),
        Leave::Interrupted(signal) => Ok(one_shot::code_of(signal)),
        Leave::Detached => Ok(0),
    }
}

async fn keep_alive(sandbox: Sandbox) {
    let mut ticks = interval(RENEWAL);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        // One that fails is tried again long before the lease runs out.
        let _ = sandbox.renew(Some(LEASE)).await;
    }
}
