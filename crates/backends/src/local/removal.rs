//! Removing directories whose content was written by whatever ran in the sandbox.
//!
//! Such a tree may be deeper than a path can be long, hold more descriptors' worth of levels than a process may open, and lock its own
//! directories. So at a fixed depth a directory is moved up to the root and taken there later; what its owner may not enter is opened first;
//! and no link is ever followed.

use std::ffi::OsStr;
use std::fs::{self, Permissions, ReadDir};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Levels that are gone down at once: so many names of the longest kind fit into a path.
const DEPTH_MAX: usize = 8;

/// Looks at one directory, in case entries were added, or not shown, during the last.
const LOOKS_MAX: u32 = 3;

/// Removes a directory with everything in it. One that is gone is no error. What can't be removed does not keep the rest; the first such
/// failure is told.
pub(super) fn remove(root: &Path) -> io::Result<()> {
    let mut removal = Removal { root, deferred: Vec::new(), names: 0, failure: None };
    removal.directory(root, 0);
    while let Some(directory) = removal.deferred.pop() {
        removal.directory(&directory, 1);
    }
    match (gone_is_fine(fs::remove_dir(root)), removal.failure) {
        (Ok(()), _) => Ok(()),
        (_, Some(first)) => Err(first),
        (failed, None) => failed,
    }
}

struct Removal<'tree> {
    root: &'tree Path,
    /// Directories that were moved up, to be removed later.
    deferred: Vec<PathBuf>,
    names: u64,
    failure: Option<io::Error>,
}

impl Removal<'_> {
    /// Empties a directory and, unless it is the root, removes it. `depth` is how far below the root it lies.
    fn directory(&mut self, directory: &Path, depth: usize) {
        for look in 1..=LOOKS_MAX {
            match open(directory) {
                Ok(entries) => self.entries(directory, entries, depth),
                Err(error) => return self.note(Err(error)),
            }
            if depth == 0 {
                return;
            }
            match fs::remove_dir(directory) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && look < LOOKS_MAX => {}
                done => return self.note(done),
            }
        }
    }

    fn entries(&mut self, directory: &Path, entries: ReadDir, depth: usize) {
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return self.note(Err(error)),
            };
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEPTH_MAX => self.directory(&path, depth + 1),
                Ok(kind) if kind.is_dir() => self.defer(&path),
                Ok(_) => {
                    let removed = fs::remove_file(&path);
                    self.note(removed);
                }
                Err(error) => self.note(Err(error)),
            }
        }
        debug_assert!(directory.starts_with(self.root), "only what lies below the root is touched");
    }

    /// Moves a directory up to the root.
    fn defer(&mut self, directory: &Path) {
        // Moving a directory changes its own entry `..`, for which its owner needs to be let in.
        let _ = fs::set_permissions(directory, Permissions::from_mode(0o700));
        loop {
            self.names += 1;
            let name = format!(".crannog-removal-{}-{}", std::process::id(), self.names);
            let target = self.root.join(OsStr::new(&name));
            match fs::rename(directory, &target) {
                Ok(()) => return self.deferred.push(target),
                // The tree had this name already, or another removal of the same tree has.
                Err(error)
                    if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory | ErrorKind::AlreadyExists) => {}
                failed => return self.note(failed),
            }
        }
    }

    /// Remembers the first failure. Somebody else may be removing the same tree, so that things go by themselves.
    fn note(&mut self, done: io::Result<()>) {
        if let Err(error) = gone_is_fine(done) {
            self.failure.get_or_insert(error);
        }
    }
}

/// Opens a directory; gives its owner back the right to if need be. Root needs none.
fn open(directory: &Path) -> io::Result<ReadDir> {
    // Without the right to write nothing in it can be removed either, and that would be found out too late.
    let mode = fs::symlink_metadata(directory)?.permissions().mode();
    if mode & 0o700 != 0o700 {
        let _ = fs::set_permissions(directory, Permissions::from_mode(0o700));
    }
    fs::read_dir(directory)
}

fn gone_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, File, Permissions};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::{Path, PathBuf, remove};

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
        symlink("nowhere", root.join("a/dangling")).unwrap();
        for directory in [&locked, &root.join("a/b"), &root.join("a")] {
            fs::set_permissions(directory, Permissions::from_mode(0o0)).unwrap();
        }
        remove(&root).unwrap();
        assert!(!root.exists());
        assert!(outside.join("kept").exists());
        assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o750);
        remove(&root).unwrap();
    }

    #[test]
    fn a_tree_deeper_than_any_path_goes() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("root");
        fs::create_dir(&root).unwrap();
        // A name that the removal might use is no obstacle.
        fs::create_dir_all(root.join(format!(".crannog-removal-{}-1/full", std::process::id()))).unwrap();
        let mut directory = File::open(&root).unwrap();
        for _ in 0..1_100 {
            let here = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
            fs::create_dir(here.join("deeper")).unwrap();
            fs::write(here.join("file"), b"").unwrap();
            directory = File::open(here.join("deeper")).unwrap();
        }
        remove(&root).unwrap();
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_wide_tree_goes_and_a_failure_is_told() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("root");
        for number in 0..500 {
            fs::create_dir_all(root.join(format!("d{}", number % 50)).join(format!("e{number}"))).unwrap();
        }
        remove(&root).unwrap();
        assert!(!root.exists());
        assert!(remove(Path::new("/proc/self/fdinfo")).is_err());
    }
}
