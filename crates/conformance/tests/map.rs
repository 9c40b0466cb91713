//! `docs/testing.md` names cases that exist, and every id of a case is in it.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;

use crannog_conformance::suite::CASES;

/// Id to case, from the table of the page.
fn page() -> BTreeMap<String, String> {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/testing.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix("` |")?.split_once(" | `"));
    rows.filter(|(id, _)| is_id(id)).map(|(id, case)| (id.to_owned(), case.to_owned())).collect()
}

/// Whether a word looks like `THEME-01`.
fn is_id(word: &str) -> bool {
    word.contains('-') && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')
}

/// Id to case, from the comments of the cases.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cases")).unwrap() {
        let path = entry.unwrap().path();
        let theme = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut id = None;
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            if let Some(text) = line.strip_prefix("/// ") {
                let word = text.split(['.', ',', ' ']).next().unwrap_or_default();
                if is_id(word) {
                    id = Some(word.to_owned());
                }
            } else if let Some(rest) = line.strip_prefix("pub(crate) async fn ")
                && let Some(id) = id.take()
            {
                found.insert(id, format!("{theme}::{}", rest.split('(').next().unwrap()));
            }
        }
    }
    found
}

#[test]
fn the_page_and_the_cases_name_each_other() {
    let (page, sources) = (page(), sources());
    assert_eq!(page, sources);
    assert!(page.len() >= 79);
    for case in page.values() {
        assert!(CASES.iter().any(|known| known.name == case), "{case}");
    }
}
