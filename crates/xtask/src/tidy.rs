//! Rules of the repository that no compiler holds: which crate may use which, and how source files look.

mod arrows;
mod sources;
mod specification;

use std::path::Path;

use anyhow::{Result, bail};

/// Fails with every place that breaks a rule. `forbidden` are texts that must be nowhere in it.
pub(crate) fn check(root: &Path, forbidden: &[String]) -> Result<()> {
    let mut problems = arrows::problems(root)?;
    problems.extend(sources::problems(root, forbidden)?);
    problems.extend(specification::problems(root)?);
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{} rules are broken:\n{}", problems.len(), problems.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::repository;

    #[test]
    fn the_repository_keeps_its_rules() {
        if let Err(error) = check(&repository::root(), &[]) {
            panic!("{error}");
        }
    }
}
