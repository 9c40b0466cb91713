//! The tour of the README is what the program prints today: every command in it is run, in order, and its output compared.
//!
//! Ids differ from run to run. The first time an id stands where another one came, the two are taken for the same from there on.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

const README: &str = include_str!("../../../README.md");

struct Step {
    command: String,
    expected: Vec<String>,
}

fn steps() -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in README.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.to_owned(), expected: Vec::new() }),
                None => steps.last_mut().unwrap().expected.push(line.trim_end().to_owned()),
            },
            (false, _) => {}
        }
    }
    steps
}

/// The id in a line: of a sandbox, or of a process in a note about it.
fn id_in(line: &str) -> Option<&str> {
    if line.starts_with("sbx_") {
        return Some(line);
    }
    line.strip_prefix("[process ")?.split(' ').next()
}

fn run(home: &Path, command: &str) -> Vec<String> {
    let directory = Path::new(env!("CARGO_BIN_EXE_crannog")).parent().unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    let script = format!("{{ {command}\n}} 2>&1; code=$?; [ $code = 0 ] || echo \"[exit code $code]\"");
    let output =
        Command::new("bash").args(["-c", &script]).env("PATH", path).env("CRANNOG_HOME", home).stdin(Stdio::null()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn the_tour_shows_what_is_printed() {
    let home = tempfile::tempdir().unwrap();
    let mut ids = BTreeMap::new();
    let steps = steps();
    assert!(steps.len() >= 10, "the tour is gone from the README");
    let mut failures = Vec::new();
    for step in steps {
        let known = |text: &str| ids.iter().fold(text.to_owned(), |text, (there, here): (&String, &String)| text.replace(there, here));
        let printed = run(home.path(), &known(&step.command));
        for (expected, printed) in step.expected.iter().zip(&printed) {
            if let (Some(there), Some(here)) = (id_in(expected), id_in(printed)) {
                ids.entry(there.to_owned()).or_insert_with(|| here.to_owned());
            }
        }
        let expected: Vec<String> =
            step.expected.iter().map(|line| ids.iter().fold(line.clone(), |line, (there, here)| line.replace(there, here))).collect();
        if printed != expected {
            failures.push(format!("$ {}\nREADME:\n{}\nprinted:\n{}", step.command, expected.join("\n"), printed.join("\n")));
        }
    }
    run(home.path(), "crannog down --all");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
