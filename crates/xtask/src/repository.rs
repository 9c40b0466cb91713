//! Where the repository is and which text files it has.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The root of the repository this program was built from.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("this crate is two folders below the root").to_path_buf()
}

/// Every file below `folder` in a stable order, build output and hidden folders left out.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("list {}", folder.display()))?;
            let name = entry.file_name();
            let hidden = name.to_string_lossy().starts_with('.');
            let kind = entry.file_type().with_context(|| format!("look at {}", entry.path().display()))?;
            if kind.is_dir() && !hidden && name != "target" {
                folders.push(entry.path());
            } else if kind.is_file() && !hidden {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("read {}", path.display()))
}
