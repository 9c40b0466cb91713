//! Options that say what to run.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use clap::Args;
use crannog::Program;

use super::values;

/// The command: an argument vector, or text for a shell.
#[derive(Debug, Args)]
pub(crate) struct ProgramArguments {
    /// Run this text with `sh -c`.
    #[arg(short = 'c', long = "command", value_name = "TEXT", conflicts_with = "argv", allow_hyphen_values = true)]
    shell: Option<OsString>,

    /// The program and its arguments, passed as they are.
    #[arg(last = true, value_name = "ARGV", required_unless_present = "shell")]
    argv: Vec<OsString>,
}

impl ProgramArguments {
    /// As the library takes it.
    pub(crate) fn into_program(self) -> Program {
        match self.shell {
            Some(text) => Program::Shell(text.into_vec()),
            None => Program::Argv(values::bytes_of(&self.argv)),
        }
    }
}
