//! Argument vectors against the recorded behaviour, and quoting against a real shell's rules.
#![allow(clippy::unwrap_used, missing_docs)]

use crannog_core::compat::command::{SessionShell, Shell, join, prepare, tool_shell, unix_local};
use proptest::prelude::*;
use serde_json::{Value, json};

fn vectors(table: &str, cases: usize) -> Vec<Value> {
    let vectors: Value = serde_json::from_str(include_str!("vectors/exec_command.json")).unwrap();
    let table = vectors[table].as_array().unwrap().clone();
    assert_eq!(table.len(), cases);
    table
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

fn shell_of(value: &Value) -> Shell {
    match value {
        Value::Bool(true) => Shell::Session,
        Value::Bool(false) => Shell::None,
        argv => Shell::Argv(words(argv)),
    }
}

#[test]
fn prepared_commands() {
    for case in vectors("prepare_exec_command", 96) {
        let (parts, shell, user) = (words(&case["command"]), shell_of(&case["shell"]), case["user"].as_str());
        assert_eq!(json!(prepare(&parts, &shell, SessionShell::Login, user)), case["base_argv"], "{case}");
        assert_eq!(json!(prepare(&parts, &shell, SessionShell::Plain, user)), case["unix_local_argv"], "{case}");
    }
}

#[test]
fn unix_local_rewrites() {
    for case in vectors("unix_local_rewrite", 16) {
        let rewritten = unix_local(&words(&case["argv"]), case["workspace_root"].as_str().unwrap());
        assert_eq!(json!(rewritten.relative), case["after_path_rewrite"], "{case}");
        assert_eq!(json!(rewritten.cwd), case["process_cwd"], "{case}");
        assert_eq!(json!(rewritten.argv), case["final_argv"], "{case}");
    }
}

#[test]
fn tool_shells() {
    for case in vectors("tool_resolve_shell", 10) {
        let shell = tool_shell(case["shell"].as_str(), case["login"].as_bool().unwrap());
        assert_eq!(shell, shell_of(&case["result"]), "{case}");
    }
}

/// Splits text as a shell does that meets only plain characters and quotes.
fn shell_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in text.chars() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    assert_eq!(quote, None, "unbalanced: {text}");
    words.extend(word);
    words
}

proptest! {
    #[test]
    fn joined_parts_split_into_themselves(parts in prop::collection::vec("[ -~é\n\t]{0,12}", 0..6)) {
        prop_assert_eq!(shell_words(&join(&parts)), parts);
    }
}
