//! Raw reads of a transcript, and the two streams of a finished process side by side.

use std::collections::VecDeque;

use crannog_core::limits;
use crannog_core::log::Chunk;
use crannog_core::process::Stream;
use crannog_core::transcript::{Ended, Gathered, Part, TranscriptPart};

use crate::error::EngineError;
use crate::process::{Ending, Process};

/// Bytes scanned between two pauses for others.
const SCAN_BYTES: usize = 1024 * 1024;

/// Reads up to `bytes_max` bytes from `from` on, of one stream or of both. A read of one stream passes over the other; it answers as
/// soon as it has something. Cancel-safe.
pub(crate) async fn read(process: &Process, from: u64, bytes_max: usize, stream: Option<Stream>) -> Result<TranscriptPart, EngineError> {
    let bytes_max = bytes_max.min(limits::READ_REPLY_BYTES_MAX);
    let mut chunk = Chunk::default();
    let mut answer = TranscriptPart { parts: Vec::new(), next: from, lost_bytes: 0, total: 0, end: None };
    loop {
        {
            let state = process.state();
            state.log.read(answer.next, bytes_max, &mut chunk).map_err(|error| EngineError::OffsetBeyondEnd {
                process: process.id,
                offset: error.cursor,
                total: error.total,
            })?;
            answer.total = state.log.total();
            answer.end = state.end.as_ref().map(|ending| ending.end.clone());
        }
        let mut offset = chunk.offset();
        answer.lost_bytes += chunk.skipped();
        answer.next = chunk.end();
        for (source, piece) in chunk.pieces() {
            if stream.is_none_or(|stream| stream == source) {
                answer.parts.push(Part { offset, stream: source, bytes: piece.to_vec() });
            }
            offset += piece.len() as u64;
        }
        if bytes_max == 0 || !answer.parts.is_empty() || answer.next >= answer.total {
            return Ok(answer);
        }
        tokio::task::yield_now().await;
    }
}

/// Waits for the end and hands back each stream: all of it if it has at most `bytes_max` bytes, else its head and its tail. Cancel-safe.
pub(crate) async fn gather(process: &Process, bytes_max: u64) -> Gathered {
    let ending = process.until_ended().await;
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let mut streams = [Ends::new(bytes_max), Ends::new(bytes_max)];
    let mut chunk = Chunk::default();
    let (mut offset, totals) = {
        let log = &process.state().log;
        (0, [Stream::Stdout, Stream::Stderr].map(|stream| log.stream_total(stream)))
    };
    // What comes after this moment is of background processes; the transcript has it, this answer does not.
    let total = totals[0] + totals[1];
    while offset < total {
        let room = usize::try_from(total - offset).unwrap_or(SCAN_BYTES).min(SCAN_BYTES);
        if process.state().log.read(offset, room, &mut chunk).is_err() || chunk.end() <= offset {
            break;
        }
        offset = chunk.end();
        let mut at = chunk.offset();
        for (stream, piece) in chunk.pieces() {
            let within = usize::try_from(total.saturating_sub(at)).unwrap_or(usize::MAX).min(piece.len());
            streams[usize::from(stream == Stream::Stderr)].push(&piece[..within]);
            at += piece.len() as u64;
        }
        // Of a single stream it is known where the tail begins. What lies before is left out anyway, and may be a flood.
        if totals.contains(&0) && streams.iter().any(Ends::has_head) {
            offset = offset.max(total.saturating_sub(bytes_max as u64 / 2));
        }
        tokio::task::yield_now().await;
    }
    gathered(process, ending, streams, totals)
}

fn gathered(process: &Process, ending: Ending, streams: [Ends; 2], totals: [u64; 2]) -> Gathered {
    let [stdout, stderr] = streams.map(Ends::join);
    let ended = Ended {
        end: ending.end,
        duration_ms: ending.duration_ms,
        descendants_alive: process.tree.is_alive(),
        stdout_omitted_bytes: totals[0].saturating_sub(stdout.len() as u64),
        stderr_omitted_bytes: totals[1].saturating_sub(stderr.len() as u64),
        usage: ending.usage,
    };
    Gathered { process: process.id, stdout, stderr, ended }
}

/// The first and the last bytes of a stream.
#[derive(Debug)]
struct Ends {
    head: Vec<u8>,
    head_max: usize,
    tail: VecDeque<u8>,
    tail_max: usize,
}

impl Ends {
    fn new(bytes_max: usize) -> Self {
        Self { head: Vec::new(), head_max: bytes_max.div_ceil(2), tail: VecDeque::new(), tail_max: bytes_max / 2 }
    }

    /// Whether more bytes only move the tail along.
    fn has_head(&self) -> bool {
        self.head.len() == self.head_max
    }

    fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_max - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.tail_max)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.tail_max);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    fn join(self) -> Vec<u8> {
        let mut bytes = self.head;
        bytes.extend(self.tail);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Ends;

    proptest! {
        #[test]
        fn head_and_tail_are_those_of_the_whole(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20), bytes_max in 0_usize..200) {
            let mut ends = Ends::new(bytes_max);
            for piece in &pieces {
                ends.push(piece);
            }
            let whole = pieces.concat();
            let expected = if whole.len() <= bytes_max {
                whole
            } else {
                [&whole[..bytes_max.div_ceil(2)], &whole[whole.len() - bytes_max / 2..]].concat()
            };
            prop_assert_eq!(ends.join(), expected);
        }
    }
}
