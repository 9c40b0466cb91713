//! What can be typed: the root of the command tree, and the groups of options that several verbs share.
//!
//! A verb's own options stand beside its code in `commands`. Everything here is data for clap, from which help, the man page, the
//! completions and the reference page are made.

pub(crate) mod collecting;
pub(crate) mod program;
pub(crate) mod values;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, ValueEnum};

use crate::commands::Verb;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER_HELP: &str = "\
Exit codes:
  0    success; run, exec and attach: the command's own code
  2    the command line is wrong
  124  the command outlived its timeout
  125  crannog itself failed
  126  the command may not be executed
  127  the command was not found
  128+N  signal N ended the command

Environment:
  CRANNOG_HOME   keep everything below this directory
  CRANNOG_GUEST  the guest program to start in sandboxes
  NO_COLOR       no colours";

/// Sandboxes in which AI agents run commands.
///
/// A sandbox is named by its id, by the first characters of it (six or more after `sbx_`), or by the name it was given.
#[derive(Debug, Parser)]
#[command(name = "crannog", version, styles = STYLES, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Answer in JSON; errors become one JSON line on stderr.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When to use colours.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    pub(crate) color: ColorChoice,

    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_tree_is_sound() {
        super::Arguments::command().debug_assert();
    }
}
