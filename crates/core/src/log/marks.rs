//! Cursors that readers hold, so that a reader whose cursor was overtaken by the gap still learns exactly what it missed.
//!
//! The gap as a whole is measured as it grows. A reader that stopped inside it needs the size of the rest only, which nobody can
//! count any more, so for the latest cursors handed out a sum of their own is kept from there on.

use std::collections::VecDeque;

use crate::utf8::Measured;

/// Cursors remembered; the earliest noted goes first. A reader whose cursor is forgotten gets the bytes exactly, the lines not.
const MARKS_MAX: usize = 32;

#[derive(Debug, Clone)]
struct Mark {
    offset: u64,
    lost_since: Measured,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    marks: VecDeque<Mark>,
}

impl Marks {
    /// Remembers `offset`, which lies behind the gap, and forgets those that are in the front by now.
    pub(super) fn add(&mut self, offset: u64, front_end: u64) {
        self.marks.retain(|mark| mark.offset > front_end);
        if self.marks.iter().any(|mark| mark.offset == offset) {
            return;
        }
        if self.marks.len() == MARKS_MAX {
            self.marks.pop_front();
        }
        self.marks.push_back(Mark { offset, lost_since: Measured::default() });
    }

    /// The first remembered offset past `at`, where lost bytes must be parted.
    pub(super) fn next(&self, at: u64) -> Option<u64> {
        self.marks.iter().map(|mark| mark.offset).filter(|offset| *offset > at).min()
    }

    /// Counts lost text that began at `start` and held no mark but there.
    pub(super) fn count(&mut self, start: u64, text: &Measured) {
        self.marks.iter_mut().filter(|mark| mark.offset <= start).for_each(|mark| mark.lost_since.append(text));
    }

    /// What was lost from `offset` on, if it is remembered.
    pub(super) fn lost_since(&self, offset: u64) -> Option<Measured> {
        self.marks.iter().find(|mark| mark.offset == offset).map(|mark| mark.lost_since)
    }
}
