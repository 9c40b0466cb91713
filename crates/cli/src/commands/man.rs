//! `man`: the manual page, made from the same tree as the help.

use clap::{Args, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::arguments::Arguments;
use crate::failure::{Failure, output_failure};
use crate::output;

/// Print the manual page, for `crannog man | man -l -`
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The page of this verb instead.
    verb: Option<String>,
}

impl Man {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut root = Arguments::command();
        root.build();
        let command = match &self.verb {
            None => root,
            Some(name) => {
                let found = root.find_subcommand(name).cloned();
                found.ok_or_else(|| unknown(name))?
            }
        };
        let mut page = Vec::new();
        Page::new(command).render(&mut page).map_err(output_failure)?;
        output::data(&page)
    }
}

fn unknown(verb: &str) -> Failure {
    Failure::Usage { message: format!("there is no verb `{verb}`"), hint: "`crannog --help` shows them".to_owned() }
}
