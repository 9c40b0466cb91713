//! The end of a transcript: a ring in memory that grows as needed up to its limit.

use std::collections::VecDeque;

use super::runs::{Run, Runs};
use crate::process::Stream;

/// First allocation of a ring. Most processes print less than a head and never have one.
const CAPACITY_BYTES_MIN: usize = 4096;

#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    /// Absolute offset of the first byte held. Without bytes: where the next one will be.
    pub(super) start: u64,
    pub(super) runs: Runs,
    ring: VecDeque<u8>,
}

impl Tail {
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    pub(super) fn end(&self) -> u64 {
        self.start + self.ring.len() as u64
    }

    /// Appends bytes for which the caller made room, in bytes and in runs.
    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8], bytes_max: usize) {
        let len = self.ring.len() + bytes.len();
        if len > self.ring.capacity() {
            let wanted = len.max(self.ring.capacity().saturating_mul(2)).max(CAPACITY_BYTES_MIN).min(bytes_max.max(len));
            self.ring.reserve_exact(wanted - self.ring.len());
        }
        self.ring.extend(bytes);
        self.runs.push(Run { end: self.end(), stream }, usize::MAX);
    }

    /// The first `count` bytes, in at most two pieces.
    pub(super) fn first(&self, count: usize) -> [&[u8]; 2] {
        self.range(0, count)
    }

    /// Lets go of the first `count` bytes.
    pub(super) fn drop_first(&mut self, count: usize) {
        self.ring.drain(..count);
        self.start += count as u64;
        self.runs.drop_before(self.start);
    }

    /// `count` bytes from the absolute `offset` on, all of them held, in at most two pieces.
    pub(super) fn slices(&self, offset: u64, count: usize) -> [&[u8]; 2] {
        let skip = usize::try_from(offset - self.start).unwrap_or(self.ring.len());
        self.range(skip, count)
    }

    fn range(&self, skip: usize, count: usize) -> [&[u8]; 2] {
        let (first, second) = self.ring.as_slices();
        let in_first = first.len().saturating_sub(skip).min(count);
        let first = &first[first.len().min(skip)..][..in_first];
        let second = &second[skip.saturating_sub(self.ring.as_slices().0.len())..][..count - in_first];
        [first, second]
    }
}
