//! Followers: readers that get a transcript as it grows, up to the end of the process.

use std::collections::VecDeque;
use std::sync::Arc;

use crannog_core::limits;
use crannog_core::log::Chunk;
use crannog_core::process::Stream;
use crannog_core::transcript::{Ended, FollowEvent, Part};

use crate::error::EngineError;
use crate::process::{Ending, Process};

/// Bytes taken from the log at a time.
const BATCH_BYTES: usize = 256 * 1024;

/// A reader of one process's transcript. Dropping it releases its hold on the process.
#[derive(Debug)]
pub struct Follower {
    process: Arc<Process>,
    hold: Option<u64>,
    offset: u64,
    /// Where it began; bytes left out are counted per stream only from the very start.
    from: u64,
    handed: [u64; 2],
    queue: VecDeque<FollowEvent>,
    chunk: Chunk,
    is_done: bool,
    owns_terminal: bool,
}

impl Follower {
    pub(crate) fn new(process: Arc<Process>, from: u64, hold: bool) -> Result<Self, EngineError> {
        let total = process.state().log.total();
        if from > total {
            return Err(EngineError::OffsetBeyondEnd { process: process.id, offset: from, total });
        }
        let hold = hold.then(|| process.hold(from));
        let queue = VecDeque::from([FollowEvent::Started(process.id)]);
        Ok(Self { process, hold, offset: from, from, handed: [0; 2], queue, chunk: Chunk::default(), is_done: false, owns_terminal: false })
    }

    /// Says that a terminal of the follower's shows all this and answers what programs ask of theirs. The guest does not while this
    /// follower lives. Without a terminal it changes nothing.
    #[must_use]
    pub fn owning_terminal(mut self) -> Self {
        if !self.owns_terminal
            && let Some(questions) = &mut self.process.state().questions
        {
            questions.own(true);
        }
        self.owns_terminal = true;
        self
    }

    /// The next event: [`FollowEvent::Started`], then output and losses as they come, at last [`FollowEvent::Ended`], after which
    /// there is `None`. At most [`limits::READ_REPLY_BYTES_MAX`] bytes at a time.
    ///
    /// Cancel-safe: an event that was not handed over comes again.
    pub async fn next(&mut self) -> Option<FollowEvent> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if self.is_done {
                return None;
            }
            let process = self.process.clone();
            let changed = process.output_changed.notified();
            let ended = process.ended.notified();
            let (mut changed, mut ended) = (std::pin::pin!(changed), std::pin::pin!(ended));
            changed.as_mut().enable();
            ended.as_mut().enable();
            if self.fill() {
                continue;
            }
            tokio::select! {
                () = changed => {}
                () = ended => {}
            }
        }
    }

    /// Queues what there is. `false` if that is nothing.
    fn fill(&mut self) -> bool {
        let ending = {
            let state = self.process.state();
            // The log only grows, so an offset that was in it stays in it.
            if state.log.read(self.offset, BATCH_BYTES.min(limits::READ_REPLY_BYTES_MAX), &mut self.chunk).is_err() {
                return false;
            }
            state.end.clone()
        };
        if self.chunk.skipped() > 0 {
            self.queue.push_back(FollowEvent::Lost(self.chunk.skipped()));
        }
        let mut offset = self.chunk.offset();
        for (stream, piece) in self.chunk.pieces() {
            self.handed[usize::from(stream == Stream::Stderr)] += piece.len() as u64;
            self.queue.push_back(FollowEvent::Output(Part { offset, stream, bytes: piece.to_vec() }));
            offset += piece.len() as u64;
        }
        if self.chunk.end() > self.offset {
            self.offset = self.chunk.end();
            if let Some(hold) = self.hold {
                self.process.advance_hold(hold, self.offset);
            }
            return true;
        }
        if let Some(ending) = ending {
            self.release();
            let ended = self.ended(ending);
            self.queue.push_back(FollowEvent::Ended(ended));
            self.is_done = true;
            return true;
        }
        false
    }

    fn ended(&self, ending: Ending) -> Ended {
        let descendants_alive = self.process.tree.is_alive();
        let state = self.process.state();
        let omitted = |stream, handed: u64| {
            if self.from == 0 { state.log.stream_total(stream).saturating_sub(handed) } else { 0 }
        };
        Ended {
            end: ending.end,
            duration_ms: ending.duration_ms,
            descendants_alive,
            stdout_omitted_bytes: omitted(Stream::Stdout, self.handed[0]),
            stderr_omitted_bytes: omitted(Stream::Stderr, self.handed[1]),
            usage: ending.usage,
        }
    }

    fn release(&mut self) {
        if let Some(hold) = self.hold.take() {
            self.process.release_hold(hold);
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if self.owns_terminal
            && let Some(questions) = &mut self.process.state().questions
        {
            questions.own(false);
        }
        self.release();
    }
}
