//! How source files look.

use std::path::Path;

use anyhow::{Context, Result};

use crate::repository;

/// Lines of a source file. A file that needs more has two subjects.
const LINES_MAX: usize = 600;
/// Files that may be longer, each with its reason.
const LONG: &[(&str, &str)] = &[];
/// Made by programs; held by other checks.
const GENERATED: &[&str] = &["crates/wire/src/generated/", "Cargo.lock"];
/// Work that was put off.
const PUT_OFF: &[&str] = &[concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[ig", "nore"), concat!("FIX", "ME")];
/// The one crate whose code the compiler does not check in full.
const UNSAFE_HOME: &str = "crates/sys/";
const UNSAFE: &[&str] = &[concat!("unsafe", " {"), concat!("unsafe", " fn"), concat!("unsafe", " impl"), concat!("allow(unsafe", "_code)")];

/// Every place in the repository's text files that breaks a rule.
pub(super) fn problems(root: &Path, forbidden: &[String]) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in repository::files(root)? {
        let name = path.strip_prefix(root).context("a file of the repository is below its root")?.to_string_lossy().into_owned();
        if GENERATED.iter().any(|generated| name.starts_with(generated)) {
            continue;
        }
        // What is not text has no words to look at.
        if let Ok(text) = std::fs::read_to_string(&path) {
            problems.extend(words(&name, &text, forbidden));
            if path.extension().is_some_and(|extension| extension == "rs") {
                problems.extend(source(&name, &text));
            }
        }
    }
    Ok(problems)
}

/// Words that must be in no file.
fn words(name: &str, text: &str, forbidden: &[String]) -> Vec<String> {
    let found = |word: &String| text.lines().position(|line| line.contains(word)).map(|line| format!("{name}:{}: has {word:?}", line + 1));
    forbidden.iter().filter_map(found).collect()
}

fn source(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut complain = |what: &str| problems.push(format!("{name}: {what}"));
    let lines = text.lines().count();
    if lines > LINES_MAX && !LONG.iter().any(|(long, _)| *long == name) {
        complain(&format!("has {lines} lines; split it by subject, {LINES_MAX} are the most"));
    }
    if !text.starts_with("//!") {
        complain("must begin with a `//!` comment that says what it owns");
    }
    for word in PUT_OFF.iter().filter(|word| text.contains(**word)) {
        complain(&format!("has {word:?}: finish it or leave it out"));
    }
    let is_root = name.starts_with("crates/") && (name.ends_with("/src/lib.rs") || name.ends_with("/src/main.rs"));
    if !name.starts_with(UNSAFE_HOME) {
        for word in UNSAFE.iter().filter(|word| text.contains(**word)) {
            complain(&format!("has {word:?}, which only {UNSAFE_HOME} may"));
        }
        if is_root && !text.contains("#![forbid(unsafe_code)]") {
            complain("must have `#![forbid(unsafe_code)]`");
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, source, words};

    const GOOD: &str = "//! Owns a thing.\n\n#![forbid(unsafe_code)]\n";

    #[test]
    fn a_good_file_has_no_problem() {
        assert!(source("crates/a/src/lib.rs", GOOD).is_empty());
        assert!(words("crates/a/src/lib.rs", GOOD, &["other".to_owned()]).is_empty());
    }

    #[test]
    fn each_rule_finds_what_breaks_it() {
        let bad = |name: &str, text: String| assert_eq!(source(name, &text).len(), 1, "{name}");
        bad("crates/a/src/lib.rs", "//! Owns.\n".to_owned());
        bad("crates/a/src/b.rs", "use a;\n".to_owned());
        bad("crates/a/src/b.rs", format!("//! Owns.\nfn f() {{ {}) }}\n", super::PUT_OFF[0]));
        bad("crates/a/src/b.rs", format!("//! Owns.\n{}", "\n".repeat(LINES_MAX)));
        bad("crates/a/src/b.rs", format!("//! Owns.\nfn f() {{ {} }} }}\n", super::UNSAFE[0]));
        assert!(source("crates/sys/src/b.rs", &format!("//! Owns.\nfn f() {{ {} }} }}\n", super::UNSAFE[0])).is_empty());
    }

    #[test]
    fn a_forbidden_word_is_found_with_its_line() {
        let forbidden = ["two".to_owned(), "three".to_owned()];
        assert_eq!(words("a.md", "one\ntwo x\n", &forbidden), ["a.md:2: has \"two\""]);
    }
}
