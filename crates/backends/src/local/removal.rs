//! Removing directories whose content was written by whatever ran in the sandbox.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Removes a directory with everything in it, never following a link. One that is gone is no error.
///
/// A program may have taken away its own right to enter a directory, which stops others than root: then that right is given back first.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    match gone_is_fine(fs::remove_dir_all(directory)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(directory);
            gone_is_fine(fs::remove_dir_all(directory))
        }
        // Something was still being written there.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => gone_is_fine(fs::remove_dir_all(directory)),
        done => done,
    }
}

fn gone_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Lets the owner into every directory below, links left alone. What can't be changed is met again by the removal, which tells.
fn open_up(directory: &Path) {
    let mut waiting: Vec<PathBuf> = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        let _ = fs::set_permissions(&directory, Permissions::from_mode(0o700));
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        let directories = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        waiting.extend(directories.map(|entry| entry.path()));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::remove;

    #[test]
    fn locked_directories_go_and_what_links_lead_to_stays() {
        let home = tempfile::tempdir().unwrap();
        let outside = home.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), b"x").unwrap();
        fs::set_permissions(&outside, Permissions::from_mode(0o750)).unwrap();
        let root = home.path().join("root");
        let locked = root.join("a/b/c");
        fs::create_dir_all(&locked).unwrap();
        fs::write(locked.join("file"), b"x").unwrap();
        symlink(&outside, root.join("a/link")).unwrap();
        for directory in [&locked, &root.join("a/b"), &root.join("a")] {
            fs::set_permissions(directory, Permissions::from_mode(0o0)).unwrap();
        }
        remove(&root).unwrap();
        assert!(!root.exists());
        assert!(outside.join("kept").exists());
        assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o750);
        remove(&root).unwrap();
    }
}
