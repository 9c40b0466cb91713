//! Where the middle of a long transcript goes when memory is full: append-only bytes, read back by position.

use std::fmt;

/// Append-only storage for the bytes between a log's head and its tail. The engine's is a file; the ones here are for tests and
/// for logs that keep no middle.
pub trait Archive {
    /// Appends a prefix of `bytes` and answers its length. Less than all means that no more can be taken, now or later: the log
    /// then stops archiving for good, so that the archive stays one contiguous piece.
    fn append(&mut self, bytes: &[u8]) -> usize;

    /// Fills `out` with the bytes from `offset` on, counted from the first byte appended. Everything asked for was appended before.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<(), Unreadable>;
}

/// Archived bytes cannot be read back. The log counts them as lost; why they cannot be read is the archive's to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the archived part of the transcript cannot be read")
    }
}

impl std::error::Error for Unreadable {}

/// An archive in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryArchive {
    bytes: Vec<u8>,
}

impl Archive for MemoryArchive {
    fn append(&mut self, bytes: &[u8]) -> usize {
        self.bytes.extend_from_slice(bytes);
        bytes.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<(), Unreadable> {
        let start = usize::try_from(offset).map_err(|_| Unreadable)?;
        let kept = self.bytes.get(start..).and_then(|rest| rest.get(..out.len())).ok_or(Unreadable)?;
        out.copy_from_slice(kept);
        Ok(())
    }
}

/// An archive that takes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoArchive;

impl Archive for NoArchive {
    fn append(&mut self, _bytes: &[u8]) -> usize {
        0
    }

    fn read_at(&self, _offset: u64, out: &mut [u8]) -> Result<(), Unreadable> {
        if out.is_empty() { Ok(()) } else { Err(Unreadable) }
    }
}
