//! `exec`: one command in a sandbox, from start to end.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::time::Duration;

use clap::Args;
use crannog::{Connection, StartSpec, Stdin};

use super::SandboxArgument;
use super::one_shot::OneShot;
use crate::arguments::program::ProgramArguments;
use crate::arguments::values::{self, Variable};
use crate::failure::Failure;
use crate::input::Source;
use crate::interruptions::Interruptions;
use crate::output::Output;

/// Run a command in a sandbox, with its output and exit code as this command's own
///
/// If this command is ended, the command and everything that it started end, too.
#[derive(Debug, Args)]
pub(crate) struct Exec {
    #[command(flatten)]
    sandbox: SandboxArgument,

    /// End it and everything that it started after this long; a plain number is seconds.
    #[arg(long, value_name = "DURATION", value_parser = values::timeout)]
    timeout: Option<Duration>,

    /// The directory to run in, relative to the workspace.
    #[arg(long, value_name = "DIR")]
    cwd: Option<OsString>,

    /// A variable for it; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = Variable::parser())]
    env: Vec<Variable>,

    /// Give it this file as input, or `-` for this command's own. Otherwise it reads end of file.
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    stdin: Option<OsString>,

    #[command(flatten)]
    program: ProgramArguments,
}

impl Exec {
    pub(crate) async fn run(self, output: Output) -> Result<u8, Failure> {
        let mut interruptions = Interruptions::catch()?;
        let input = match self.stdin {
            Some(name) => Some(Source::open(name).await?),
            None => None,
        };
        let sandbox = self.sandbox.open().await?;
        let mut spec = StartSpec::new(self.program.into_program());
        spec.connection = Connection::Pipes(if input.is_some() { Stdin::Piped } else { Stdin::Closed });
        spec.environment = Variable::pairs(self.env);
        spec.cwd = self.cwd.map(OsString::into_vec);
        spec.timeout = self.timeout;
        OneShot { sandbox: &sandbox, output, input }.run(spec, &mut interruptions).await
    }
}
