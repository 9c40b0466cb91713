//! Rules of the repository that no compiler holds.

use std::path::Path;

use anyhow::Result;

pub(crate) fn check(_root: &Path) -> Result<()> {
    Ok(())
}
