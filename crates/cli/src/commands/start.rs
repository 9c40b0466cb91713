//! `start`: starts a process that outlives this call, and shows its first output.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::time::Duration;

use clap::Args;
use crannog::{Connection, StartSpec, Stdin, TerminalSize, limits};

use super::{SandboxArgument, show_update};
use crate::arguments::collecting::CollectArguments;
use crate::arguments::program::ProgramArguments;
use crate::arguments::values::{self, Variable};
use crate::failure::Failure;
use crate::output::Output;

/// Start a process and show its first output; it goes on after this command has ended
#[derive(Debug, Args)]
pub(crate) struct Start {
    #[command(flatten)]
    sandbox: SandboxArgument,

    /// Give it a terminal instead of pipes.
    #[arg(long)]
    terminal: bool,

    /// Rows of the terminal.
    #[arg(long, requires = "terminal", default_value_t = limits::TERMINAL_ROWS_DEFAULT, value_parser = values::side())]
    rows: u16,

    /// Columns of the terminal.
    #[arg(long, requires = "terminal", default_value_t = limits::TERMINAL_COLUMNS_DEFAULT, value_parser = values::side())]
    cols: u16,

    /// Record what the terminal shows; `recording` fetches it. Typing is recorded only while the terminal shows it.
    #[arg(long, requires = "terminal")]
    record: bool,

    /// Keep its input open for `write`. Without this or a terminal it reads end of file.
    #[arg(long)]
    stdin: bool,

    /// The directory to run in, relative to the workspace.
    #[arg(long, value_name = "DIR")]
    cwd: Option<OsString>,

    /// A variable for it; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = Variable::parser())]
    env: Vec<Variable>,

    #[command(flatten)]
    collect: CollectArguments,

    /// End it and everything that it started after this long; a plain number is seconds.
    #[arg(long, value_name = "DURATION", value_parser = values::timeout)]
    timeout: Option<Duration>,

    #[command(flatten)]
    program: ProgramArguments,
}

impl Start {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let sandbox = self.sandbox.open().await?;
        let mut spec = StartSpec::new(self.program.into_program());
        spec.connection = match (self.terminal, self.stdin) {
            (true, _) => Connection::Terminal(TerminalSize { rows: self.rows, columns: self.cols }),
            (false, true) => Connection::Pipes(Stdin::Piped),
            (false, false) => Connection::Pipes(Stdin::Closed),
        };
        spec.environment = Variable::pairs(self.env);
        spec.cwd = self.cwd.map(OsString::into_vec);
        spec.timeout = self.timeout;
        spec.record = self.record;
        let collect = self.collect.into_collect(None, limits::WINDOW_START_MS_DEFAULT);
        let update = output.waiting("waiting for output", sandbox.start_and_collect(spec, collect)).await?;
        show_update(output, update)
    }
}
