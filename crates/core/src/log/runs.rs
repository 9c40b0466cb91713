//! Which stream each retained byte came from.
//!
//! A run is a stretch of bytes of one stream; neighbours are of different streams. Runs are packed into eight bytes each, because
//! a program that alternates between its streams has as many runs as lines.

use std::collections::VecDeque;

use crate::process::Stream;

/// A stretch of one stream, known by where it ends; it starts where the run before it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) end: u64,
    pub(super) stream: Stream,
}

/// The runs of a contiguous part of a transcript.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    /// `end << 1 | stream`. A transcript of 2^63 bytes cannot be made, so no end loses its top bit.
    packed: VecDeque<u64>,
}

impl Runs {
    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(super) fn first(&self) -> Option<Run> {
        self.packed.front().copied().map(unpack)
    }

    pub(super) fn last(&self) -> Option<Run> {
        self.packed.back().copied().map(unpack)
    }

    /// Extends the part to `end` with bytes of `stream`. `false` if that needs a run more than `runs_max`.
    pub(super) fn push(&mut self, run: Run, runs_max: usize) -> bool {
        if self.last().is_some_and(|last| last.stream == run.stream) {
            self.packed.pop_back();
        } else if self.len() >= runs_max {
            return false;
        }
        self.packed.push_back(pack(run));
        true
    }

    /// Whether bytes of `stream` can follow without one run too many.
    pub(super) fn has_room(&self, stream: Stream, runs_max: usize) -> bool {
        self.len() < runs_max || self.last().is_some_and(|last| last.stream == stream)
    }

    /// Forgets what lies before `offset`.
    pub(super) fn drop_before(&mut self, offset: u64) {
        while self.first().is_some_and(|run| run.end <= offset) {
            self.packed.pop_front();
        }
    }

    /// Forgets what lies from `end` on, in a part that starts at `start`.
    pub(super) fn drop_from(&mut self, start: u64, end: u64) {
        while let Some(last) = self.packed.pop_back().map(unpack) {
            if self.last().map_or(start, |before| before.end) < end {
                self.packed.push_back(pack(Run { end: last.end.min(end), ..last }));
                return;
            }
        }
    }

    /// The runs from the one that holds the byte at `offset` on.
    pub(super) fn from(&self, offset: u64) -> impl Iterator<Item = Run> + '_ {
        self.packed.range(self.position(offset)..).copied().map(unpack)
    }

    /// The runs before `offset`, latest first, as `(run, start)`; `start` is that of the part for its first run.
    pub(super) fn back_from(&self, offset: u64, part_start: u64) -> impl Iterator<Item = (Run, u64)> + '_ {
        let through = self.len().min(self.position(offset.saturating_sub(1)) + 1);
        (0..through).rev().map(move |index| {
            let start = if index == 0 { part_start } else { unpack(self.packed[index - 1]).end };
            (unpack(self.packed[index]), start)
        })
    }

    fn position(&self, offset: u64) -> usize {
        self.packed.partition_point(|packed| unpack(*packed).end <= offset)
    }
}

fn pack(run: Run) -> u64 {
    run.end << 1 | u64::from(run.stream == Stream::Stderr)
}

fn unpack(packed: u64) -> Run {
    Run { end: packed >> 1, stream: if packed & 1 == 0 { Stream::Stdout } else { Stream::Stderr } }
}
