//! What `SPECIFICATION.md` names exists: each function is somewhere in the sources, each file is in the tree.
//!
//! A promise whose test was renamed or removed would otherwise look held for ever.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::repository;

/// Every name of the page that leads nowhere.
pub(super) fn problems(root: &Path) -> Result<Vec<String>> {
    let page = std::fs::read_to_string(root.join("SPECIFICATION.md")).context("reading SPECIFICATION.md")?;
    let files = repository::files(root)?;
    let sources = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let text = sources.filter_map(|path| std::fs::read_to_string(path).ok()).collect::<String>();
    Ok(lost_names(root, &page, &text))
}

fn lost_names(root: &Path, page: &str, sources: &str) -> Vec<String> {
    let is_function =
        |name: &str| name.contains('_') && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let lost = |name: &&str| match () {
        () if name.starts_with("crates/") => !root.join(name).exists(),
        () if is_function(name) => !sources.contains(&format!("fn {name}(")),
        () => false,
    };
    let names = page.split('`').skip(1).step_by(2);
    names.filter(lost).map(|name| format!("SPECIFICATION.md names {name}, which is not there")).collect()
}

#[cfg(test)]
mod tests {
    use super::lost_names;
    use crate::repository;

    #[test]
    fn a_name_that_leads_nowhere_is_found() {
        let lost = |page: &str| lost_names(&repository::root(), page, "fn it_holds() {}").len();
        assert_eq!(lost("held by `it_holds` and `crates/xtask`, measured by `./bench create`"), 0);
        assert_eq!(lost("held by `it_held`"), 1);
        assert_eq!(lost("held by `crates/nowhere`"), 1);
    }
}
