//! What can be typed, as it is shown, and the files that are made from it.

use std::process::{Command, Output};

const VERBS: [&str; 23] = [
    "up",
    "ls",
    "info",
    "renew",
    "down",
    "reap",
    "run",
    "exec",
    "start",
    "write",
    "collect",
    "ps",
    "logs",
    "attach",
    "screen",
    "recording",
    "replay",
    "resize",
    "close-stdin",
    "kill",
    "doctor",
    "completions",
    "man",
];

fn crannog(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_crannog")).args(arguments).env("COLUMNS", "100").output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = crannog(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_help_is_as_it_was_agreed() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        insta::assert_snapshot!("root", text(&["--help"]));
        for verb in VERBS {
            insta::assert_snapshot!(verb, text(&[verb, "--help"]));
        }
    });
}

#[test]
fn every_verb_is_in_the_root_help() {
    let help = text(&["-h"]);
    let listed: Vec<_> = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    for verb in VERBS {
        assert!(listed.contains(&verb), "{verb}");
    }
}

#[test]
fn completions_and_manual_pages_are_made() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(text(&["completions", shell]).contains("close-stdin"), "{shell}");
    }
    assert!(text(&["man"]).starts_with(".ie"));
    for verb in VERBS {
        assert!(text(&["man", verb]).contains(".TH"), "{verb}");
    }
    let unknown = crannog(&["man", "nothing"]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn bash_takes_the_completions() {
    let script = format!("{}\ncomplete -p crannog", text(&["completions", "bash"]));
    let output = Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_wrong_command_line_is_one_line_and_a_hint() {
    let output = crannog(&["exec", "box", "--tineout", "3", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(matches!(lines[..], ["error: unexpected argument '--tineout' found", hint] if hint.starts_with("hint: ")), "{text}");
    let output = crannog(&["--json", "no-such-verb"]);
    let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((output.status.code(), error["error"]["code"].as_str()), (Some(2), Some("invalid_argument")));
}
