//! The beginning of a transcript: a head in memory, and behind it the archive, together one contiguous piece from offset 0.

use super::Limits;
use super::archive::{Archive, Unreadable};
use super::runs::{Run, Runs};
use super::tail::Tail;
use crate::process::Stream;

#[derive(Debug, Clone)]
pub(super) struct Front<A> {
    pub(super) runs: Runs,
    head: Vec<u8>,
    archive: A,
    archived: u64,
    is_open: bool,
}

impl<A: Archive> Front<A> {
    pub(super) fn new(archive: A) -> Self {
        Self { runs: Runs::default(), head: Vec::new(), archive, archived: 0, is_open: true }
    }

    /// Absolute offset behind its last byte.
    pub(super) fn end(&self) -> u64 {
        self.head.len() as u64 + self.archived
    }

    /// Whether it can still grow. Once it cannot, it never can again.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Takes what the head has room for, of bytes that follow it directly. Answers how many.
    pub(super) fn fill(&mut self, stream: Stream, bytes: &[u8], limits: &Limits) -> usize {
        let count = bytes.len().min(limits.head_bytes - self.head.len());
        if !self.is_open || count == 0 {
            return 0;
        }
        if !self.runs.push(Run { end: self.end() + count as u64, stream }, limits.runs_max) {
            self.is_open = false;
            return 0;
        }
        let len = self.head.len() + count;
        if len > self.head.capacity() {
            self.head.reserve_exact(len.max(self.head.capacity().saturating_mul(2)).min(limits.head_bytes) - self.head.len());
        }
        self.head.extend_from_slice(&bytes[..count]);
        count
    }

    /// Archives up to `count` of the tail's first bytes, which follow it directly. Answers how many; the caller drops them from
    /// the tail. Taking fewer closes it.
    pub(super) fn take(&mut self, tail: &Tail, count: usize, limits: &Limits) -> usize {
        let start = self.end();
        let room = limits.archive_bytes.saturating_sub(self.archived);
        let wanted = start + room.min(count as u64);
        let mut end = start;
        for run in tail.runs.from(start) {
            let run_end = run.end.min(wanted);
            if run_end <= end || !self.runs.push(Run { end: run_end, ..run }, limits.runs_max) {
                break;
            }
            end = run_end;
        }
        let mut taken = 0;
        for piece in tail.first(usize::try_from(end - start).unwrap_or(count)) {
            let accepted = if piece.is_empty() { 0 } else { self.archive.append(piece).min(piece.len()) };
            taken += accepted;
            if accepted < piece.len() {
                break;
            }
        }
        self.archived += taken as u64;
        self.runs.drop_from(0, self.end());
        self.is_open = taken == count;
        taken
    }

    /// Appends `count` bytes from `offset` on to `out`, all of them held. What is in memory is appended even if the rest cannot
    /// be read.
    pub(super) fn read(&self, offset: u64, count: usize, out: &mut Vec<u8>) -> Result<(), Unreadable> {
        let skip = usize::try_from(offset).unwrap_or(usize::MAX).min(self.head.len());
        let in_head = count.min(self.head.len() - skip);
        out.extend_from_slice(&self.head[skip..skip + in_head]);
        if in_head == count {
            return Ok(());
        }
        let start = out.len();
        out.resize(start + count - in_head, 0);
        let read = self.archive.read_at(offset.saturating_sub(self.head.len() as u64), &mut out[start..]);
        if read.is_err() {
            out.truncate(start);
        }
        read
    }
}
