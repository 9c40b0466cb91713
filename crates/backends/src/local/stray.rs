//! Directories that belong to no sandbox on record.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crannog_core::id::SandboxId;

use crate::backend::Placement;
use crate::local::paths::Paths;

/// The placements of directories whose sandbox is not known.
///
/// The directories are read first and the records second: a sandbox is on record before it has a directory and for as long as it has one,
/// so one that is not on record then was left behind.
pub(super) fn find<E>(paths: &Paths, known: impl FnOnce() -> Result<Vec<SandboxId>, E>) -> Result<Vec<Placement>, E> {
    let mut found: BTreeSet<SandboxId> = ids_in(paths.runtime());
    found.extend(ids_in(&paths.workspaces()));
    for known in known()? {
        found.remove(&known);
    }
    let placement = |sandbox: SandboxId| Placement {
        workspace: paths.workspace(&sandbox),
        workspace_owned: true,
        runtime: paths.sandbox(&sandbox),
        guest: None,
        cgroup: None,
        // Later than any that was handed out, so the guest does not refuse it.
        lease_generation: u64::MAX,
        sandbox,
    };
    Ok(found.into_iter().map(placement).collect())
}

fn ids_in(directory: &Path) -> BTreeSet<SandboxId> {
    // A directory that can't be read has nothing that we could remove.
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| SandboxId::parse(entry.file_name().to_str()?)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::convert::Infallible;
    use std::fs;

    use super::{Paths, SandboxId, find};

    #[test]
    fn only_directories_named_like_an_unknown_sandbox_are_stray() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::below(home.path());
        let [known, stray, bare] = [1, 2, 3].map(SandboxId::from_bits);
        for directory in [paths.sandbox(&known), paths.sandbox(&stray), paths.workspace(&bare), paths.runtime().join("other")] {
            fs::create_dir_all(directory).unwrap();
        }
        let found = find(&paths, || Ok::<_, Infallible>(vec![known])).unwrap();
        let ids: Vec<_> = found.into_iter().map(|placement| placement.sandbox).collect();
        assert_eq!(ids, [stray, bare]);
        assert!(find(&paths, || Err::<Vec<_>, _>("unknown")).is_err());
    }
}
