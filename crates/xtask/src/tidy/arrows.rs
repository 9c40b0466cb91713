//! Who may use whom: the crate table of `ARCHITECTURE.md` against the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use toml::Table;

use crate::repository;

/// Dependencies that are met in few crates, so that replacing one stays possible and nobody builds what they do not need.
const HEAVY: &[(&str, &[&str])] = &[
    ("clap", &["cli", "xtask", "bench", "conformance"]),
    ("comfy-table", &["cli"]),
    ("hyper-util", &["wire"]),
    ("libc", &["sys"]),
    ("prost", &["wire"]),
    ("protox", &["xtask"]),
    ("regex", &["core"]),
    ("rusqlite", &["store"]),
    // The command line draws and restores the terminal that it is used from; every other call of the kernel is in sys.
    ("rustix", &["cli", "sys"]),
    ("tonic", &["wire"]),
    ("tonic-prost", &["wire"]),
    ("tonic-prost-build", &["xtask"]),
    ("tower", &["wire"]),
    // The two programs; libraries only emit.
    ("tracing-subscriber", &["cli", "guest"]),
    ("uuid", &["crannog"]),
    ("vt100", &["engine"]),
];

/// Every manifest that goes against the table.
pub(super) fn problems(root: &Path) -> Result<Vec<String>> {
    let manifests = manifests(root)?;
    let allowed = allowed(&repository::text(&root.join("ARCHITECTURE.md"))?, manifests.keys());
    let mut problems = Vec::new();
    for (name, manifest) in &manifests {
        problems.extend(check(name, &dependencies(manifest), &allowed));
    }
    Ok(problems)
}

/// The manifest of each crate, by the name of its folder.
fn manifests(root: &Path) -> Result<BTreeMap<String, Table>> {
    let folder = root.join("crates");
    let mut manifests = BTreeMap::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry.with_context(|| format!("list {}", folder.display()))?.path();
        let manifest = path.join("Cargo.toml");
        if let (Some(name), true) = (path.file_name(), manifest.exists()) {
            let table = repository::text(&manifest)?.parse().with_context(|| format!("read {}", manifest.display()))?;
            manifests.insert(name.to_string_lossy().into_owned(), table);
        }
    }
    Ok(manifests)
}

/// Reads the rows of the table: the first cell is a crate, the last names the crates that it may use.
fn allowed<'name>(page: &str, crates: impl Iterator<Item = &'name String>) -> BTreeMap<String, BTreeSet<String>> {
    let crates: BTreeSet<&str> = crates.map(String::as_str).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let name = cells.first()?.strip_prefix('`')?.strip_suffix('`')?.to_owned();
        let words = cells.last()?.split(|character: char| !character.is_alphanumeric() && character != '-');
        Some((name, words.filter(|word| crates.contains(word)).map(str::to_owned).collect()))
    };
    page.lines().filter_map(row).collect()
}

/// What a crate is built from. What only its tests use is not held against it.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    ["dependencies", "build-dependencies"]
        .iter()
        .filter_map(|section| manifest.get(*section)?.as_table())
        .flat_map(|section| section.keys().cloned())
        .collect()
}

fn check(name: &str, dependencies: &BTreeSet<String>, allowed: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let Some(allowed) = allowed.get(name) else {
        return vec![format!("crates/{name}: missing in the table of ARCHITECTURE.md")];
    };
    let mut problems = Vec::new();
    for dependency in dependencies {
        let ours = if dependency == "crannog" { Some("crannog") } else { dependency.strip_prefix("crannog-") };
        if let Some(ours) = ours.filter(|ours| !allowed.contains(*ours)) {
            problems.push(format!("crates/{name}: must not use {ours}; see the table of ARCHITECTURE.md"));
        }
        let heavy = HEAVY.iter().find(|(heavy, _)| heavy == dependency);
        if let Some((heavy, homes)) = heavy.filter(|(_, homes)| !homes.contains(&name)) {
            problems.push(format!("crates/{name}: must not use {heavy}; it is met in {} alone", homes.join(" and ")));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{allowed, check};

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn rows_name_the_crates_that_may_be_used() {
        let page = "| crate | owns | may use |\n|---|---|---|\n| `a` | core, b | nothing |\n| `b` | things | a, c and what tests need |\n";
        let crates = ["a", "b", "c"].map(str::to_owned);
        let expected = BTreeMap::from([("a".to_owned(), set(&[])), ("b".to_owned(), set(&["a", "c"]))]);
        assert_eq!(allowed(page, crates.iter()), expected);
    }

    #[test]
    fn an_arrow_against_the_table_is_a_problem() {
        let table = BTreeMap::from([("wire".to_owned(), set(&["core"])), ("core".to_owned(), set(&[]))]);
        assert!(check("wire", &set(&["crannog-core", "tonic", "bytes"]), &table).is_empty());
        assert_eq!(check("wire", &set(&["crannog-engine", "rusqlite"]), &table).len(), 2);
        assert_eq!(check("core", &set(&["crannog"]), &table).len(), 1);
        assert_eq!(check("unlisted", &set(&[]), &table).len(), 1);
    }
}
