//! The command line, read; and what is wrong with it, said in the same form as every other failure.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::arguments::{Arguments, ColorChoice};
use crate::failure::{EXIT_USAGE, Failure};
use crate::output::Output;

/// Reads the command line. Where it asks for help or is wrong, that is answered here and the exit code handed back.
pub(crate) fn parse() -> Result<Arguments, ExitCode> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let error = match Arguments::try_parse_from(&words) {
        Ok(arguments) => return Ok(arguments),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Whoever closed the pipe has read enough.
            let _ = error.print();
            Err(ExitCode::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            Err(ExitCode::from(EXIT_USAGE))
        }
        _ => {
            let failure = failure_of(&error.render().to_string());
            Output::new(wants_json(&words), ColorChoice::Auto).failure(&failure);
            Err(ExitCode::from(failure.exit_code()))
        }
    }
}

/// `--json` was typed, and not as part of a command to run.
fn wants_json(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != OsStr::new("--")).any(|word| word == OsStr::new("--json"))
}

/// Takes the pieces of clap's text apart: what is wrong comes first, then tips, then the usage.
fn failure_of(text: &str) -> Failure {
    let mut paragraphs = text.split("\n\n");
    let joined = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = joined(paragraphs.next().unwrap_or_default().trim_start_matches("error: "));
    let mut hints = Vec::new();
    for paragraph in paragraphs.map(joined) {
        if let Some(tip) = paragraph.strip_prefix("tip: ") {
            hints.push(tip.replace(" tip: ", "; "));
        } else if let Some(usage) = paragraph.strip_prefix("Usage: ") {
            hints.push(format!("usage: {usage}"));
        }
    }
    let hint = if hints.is_empty() { "`crannog --help` shows what can be typed".to_owned() } else { hints.join("; ") };
    Failure::Usage { message, hint }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::ffi::OsString;

    use clap::Parser as _;

    use super::{failure_of, wants_json};
    use crate::arguments::Arguments;

    #[test]
    fn what_is_wrong_becomes_one_line_and_a_hint() {
        let error = Arguments::try_parse_from(["crannog", "exec", "box", "--tineout", "3", "--", "true"]).unwrap_err();
        let failure = failure_of(&error.render().to_string());
        assert_eq!(failure.message(), "unexpected argument '--tineout' found");
        let hint = failure.hint().unwrap_or_default();
        assert!(hint.contains("'--timeout'") && hint.contains("usage: crannog exec"), "{hint}");
    }

    #[test]
    fn json_behind_the_dashes_is_the_commands_own() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(wants_json(&words("crannog --json ls")));
        assert!(!wants_json(&words("crannog exec box -- ls --json")));
    }
}
