//! The reference page, made from the command tree and compared with the one that is checked in.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};

use crate::arguments::Arguments;

/// Where the page is, from this crate.
const PAGE: &str = "../../docs/reference/command-line.md";
/// Set to write the page instead of comparing it.
const BLESS: &str = "CRANNOG_BLESS";

#[test]
fn the_reference_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = page();
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(known == page, "docs/reference/command-line.md is not what the command tree says; run this test with {BLESS}=1");
}

fn page() -> String {
    let mut root = Arguments::command();
    root.build();
    let mut page = String::from(include_str!("../reference/introduction.md"));
    page.push_str("\n## Options of every verb\n\n");
    for option in root.get_arguments().filter(|argument| argument.is_global_set()) {
        describe(&mut page, option);
    }
    for verb in root.get_subcommands().filter(|verb| verb.get_name() != "help") {
        section(&mut page, verb);
    }
    page.push('\n');
    page.push_str(include_str!("../reference/documents.md"));
    page
}

fn section(page: &mut String, verb: &Command) {
    let usage = verb.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let about = verb.get_long_about().or(verb.get_about()).map(ToString::to_string).unwrap_or_default();
    let (first, rest) = about.split_once("\n\n").unwrap_or((&about, ""));
    let _ = write!(page, "\n## `{}`\n\n{}.\n\n", verb.get_name(), first.trim_end_matches('.'));
    if !rest.is_empty() {
        let _ = write!(page, "{rest}\n\n");
    }
    let _ = write!(page, "```text\n{usage}\n```\n\n");
    for argument in
        verb.get_arguments().filter(|argument| !argument.is_global_set() && argument.get_id() != "help" && argument.get_id() != "version")
    {
        describe(page, argument);
    }
}

fn describe(page: &mut String, argument: &Arg) {
    let values: Vec<_> = argument.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let takes = argument.get_action().takes_values();
    let mut name = match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        _ => String::new(),
    };
    if takes {
        let separator = if name.is_empty() { "" } else { " " };
        let _ = write!(name, "{separator}{}", values.join(" "));
    }
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let _ = write!(page, "- `{}`: {}.", name.trim(), help.trim_end_matches('.'));
    let defaults: Vec<_> = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes && !defaults.is_empty() {
        let _ = write!(page, " Default: `{}`.", defaults.join(" "));
    }
    let possible: Vec<_> = argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if takes && !possible.is_empty() {
        let _ = write!(page, " One of {}.", possible.join(", "));
    }
    page.push('\n');
}
