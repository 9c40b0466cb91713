//! The part of a transcript that leaves memory: an unnamed file in the spill directory.
//!
//! The file is made when the first bytes come, and its name is removed at once, so nothing is left behind however the engine ends.
//! Writing goes to the page cache. A full disk ends the archive for good; the log then counts what it can't keep.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crannog_core::log::{Archive, Unreadable};

/// An archive in a file.
#[derive(Debug)]
pub(crate) struct Spill {
    place: Option<Place>,
    file: Option<File>,
    len: u64,
}

#[derive(Debug)]
struct Place {
    directory: PathBuf,
    name: String,
}

impl Spill {
    /// An archive that keeps nothing.
    pub(crate) fn none() -> Self {
        Self { place: None, file: None, len: 0 }
    }

    /// An archive in `directory`, which needs a `name` that nobody else uses there for the moment between creating and unlinking.
    pub(crate) fn new(directory: PathBuf, name: String) -> Self {
        Self { place: Some(Place { directory, name }), file: None, len: 0 }
    }

    /// Opened on the first use; afterwards the place is gone, so a failure is not tried again.
    fn file(&mut self) -> io::Result<&File> {
        if let Some(place) = self.place.take() {
            self.file = Some(unnamed(&place.directory, &place.name)?);
        }
        self.file.as_ref().ok_or_else(|| io::ErrorKind::StorageFull.into())
    }
}

/// A new file without a name. `name` must be free in `directory` for a moment.
pub(crate) fn unnamed(directory: &Path, name: &str) -> io::Result<File> {
    let path = directory.join(name);
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

impl Archive for Spill {
    fn append(&mut self, bytes: &[u8]) -> usize {
        if self.place.is_none() && self.file.is_none() {
            return 0;
        }
        let start = self.len;
        let mut taken = 0;
        while taken < bytes.len() {
            let wrote = self.file().and_then(|file| file.write_at(&bytes[taken..], start + taken as u64));
            match wrote {
                Ok(0) => break,
                Ok(count) => taken += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::warn!(%error, archived_bytes = start + taken as u64, "a transcript can't be spilled any further");
                    break;
                }
            }
        }
        self.len += taken as u64;
        taken
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<(), Unreadable> {
        if out.is_empty() {
            return Ok(());
        }
        let file = self.file.as_ref().ok_or(Unreadable)?;
        file.read_exact_at(out, offset).map_err(|error| {
            tracing::warn!(%error, offset, "a spilled transcript can't be read back");
            Unreadable
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crannog_core::log::Archive;

    use super::Spill;

    #[test]
    fn bytes_come_back_and_no_file_stays() {
        let directory = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(directory.path().to_owned(), "one".to_owned());
        assert_eq!(spill.append(b"hello "), 6);
        assert_eq!(spill.append(b"world"), 5);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let mut out = [0; 5];
        spill.read_at(6, &mut out).unwrap();
        assert_eq!(&out, b"world");
        assert!(spill.read_at(9, &mut out).is_err());
    }

    #[test]
    fn a_directory_that_can_not_be_written_takes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(directory.path().join("missing"), "one".to_owned());
        assert_eq!(spill.append(b"x"), 0);
        assert_eq!(spill.append(b"x"), 0);
        assert_eq!(Spill::none().append(b"x"), 0);
    }

    #[test]
    fn a_full_disk_takes_a_prefix_and_then_nothing() {
        // Writes to /dev/full fail as on a full disk.
        let mut spill = Spill::none();
        spill.file = Some(std::fs::OpenOptions::new().read(true).write(true).open("/dev/full").unwrap());
        assert_eq!(spill.append(b"x"), 0);
        assert_eq!(spill.len, 0);
    }
}
