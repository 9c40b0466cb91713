//! Finding the guest program.

use std::path::{Path, PathBuf};

use crate::error::BackendError;
use crate::local::paths::Paths;

/// Its name beside the program that uses it.
const FILE_NAME: &str = "crannog-guest";
/// Names it outright.
const VARIABLE: &str = "CRANNOG_GUEST";

/// The guest program: what `CRANNOG_GUEST` names, else the one beside this program, else the one that travels inside it.
pub(super) fn find(paths: &Paths) -> Result<PathBuf, BackendError> {
    let mut searched = Vec::new();
    if let Some(named) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let named = std::path::absolute(&named).unwrap_or_else(|_| PathBuf::from(named));
        // Who names one wants that one and no other.
        return if named.is_file() {
            Ok(named)
        } else {
            Err(BackendError::GuestMissing { searched: vec![format!("{VARIABLE}={}", named.display())] })
        };
    }
    searched.push(format!("{VARIABLE} (not set)"));
    if let Some(beside) = std::env::current_exe().ok().as_deref().and_then(Path::parent).map(|directory| directory.join(FILE_NAME)) {
        if beside.is_file() {
            return Ok(beside);
        }
        searched.push(beside.display().to_string());
    }
    if let Some(unpacked) = embedded(paths)? {
        return Ok(unpacked);
    }
    searched.push("inside this program".to_owned());
    Err(BackendError::GuestMissing { searched })
}

#[cfg(not(feature = "embedded-guest"))]
#[expect(clippy::unnecessary_wraps, reason = "the other build can fail")]
fn embedded(_paths: &Paths) -> Result<Option<PathBuf>, BackendError> {
    Ok(None)
}

/// The program that travels inside this one, on disk under the name of its content.
#[cfg(feature = "embedded-guest")]
fn embedded(paths: &Paths) -> Result<Option<PathBuf>, BackendError> {
    static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/crannog-guest"));
    const HASH: &str = env!("CRANNOG_GUEST_HASH");
    unpack(paths, HASH, BYTES).map(Some)
}

/// Writes the program once: beside its place and then renamed, so nobody ever starts half of it.
#[cfg(any(feature = "embedded-guest", test))]
fn unpack(paths: &Paths, hash: &str, bytes: &[u8]) -> Result<PathBuf, BackendError> {
    use std::fs::{self, DirBuilder, OpenOptions};
    use std::io::Write as _;
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

    let directory = paths.guests().join(hash);
    let program = directory.join(FILE_NAME);
    if fs::metadata(&program).is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64) {
        return Ok(program);
    }
    let draft = directory.join(format!(".{FILE_NAME}.{}", std::process::id()));
    let write = || {
        paths.make_passage(paths.state())?;
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let _ = fs::remove_file(&draft);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(&draft)?;
        file.write_all(bytes)?;
        // A program can't be started while somebody has it open for writing.
        drop(file);
        fs::rename(&draft, &program)
    };
    match write() {
        Ok(()) => Ok(program),
        Err(source) => {
            let _ = fs::remove_file(&draft);
            Err(BackendError::GuestUnpack { path: program, source })
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::{Paths, unpack};

    #[test]
    fn a_program_is_written_once_and_repaired_when_cut_short() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::below(home.path());
        let program = unpack(&paths, "abc", b"#!/bin/sh\necho hi\n").unwrap();
        assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o777, 0o700);
        let output = std::process::Command::new(&program).output().unwrap();
        assert_eq!(output.stdout, b"hi\n");
        let before = fs::metadata(&program).unwrap().modified().unwrap();
        assert_eq!(unpack(&paths, "abc", b"#!/bin/sh\necho hi\n").unwrap(), program);
        assert_eq!(fs::metadata(&program).unwrap().modified().unwrap(), before);
        fs::write(&program, b"#!").unwrap();
        unpack(&paths, "abc", b"#!/bin/sh\necho hi\n").unwrap();
        assert_eq!(fs::read(&program).unwrap().len(), 18);
        assert_eq!(fs::read_dir(program.parent().unwrap()).unwrap().count(), 1);
    }
}
