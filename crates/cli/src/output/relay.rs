//! Where a command's output goes: straight through to this program's own, or kept for one JSON answer.

use std::collections::VecDeque;

use crannog::{Part, Stream};
use tokio::io::{AsyncWriteExt as _, Stderr, Stdout};

use crate::failure::{Failure, output_failure};

/// Bytes of each stream kept for a JSON answer; the middle of a longer one is left out and counted.
const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Takes a command's output.
#[derive(Debug)]
pub(crate) enum Sink {
    /// To stdout and stderr as it comes.
    Through { stdout: Stdout, stderr: Stderr },
    /// Kept.
    Kept { stdout: Kept, stderr: Kept },
}

impl Sink {
    /// Hands everything on.
    pub(crate) fn through() -> Self {
        Self::Through { stdout: tokio::io::stdout(), stderr: tokio::io::stderr() }
    }

    /// Keeps it.
    pub(crate) fn kept() -> Self {
        Self::Kept { stdout: Kept::new(KEPT_BYTES_MAX), stderr: Kept::new(KEPT_BYTES_MAX) }
    }

    /// Takes a part. Waits while the reader of stdout or stderr is slow, on another thread, so signals are still seen. Not cancel-safe:
    /// a part that was begun may be half written.
    pub(crate) async fn take(&mut self, part: &Part) -> Result<(), Failure> {
        match (self, part.stream) {
            (Self::Through { stdout, .. }, Stream::Stdout) => hand_on(stdout, &part.bytes).await,
            (Self::Through { stderr, .. }, Stream::Stderr) => hand_on(stderr, &part.bytes).await,
            (Self::Kept { stdout, .. }, Stream::Stdout) => {
                stdout.push(&part.bytes);
                Ok(())
            }
            (Self::Kept { stderr, .. }, Stream::Stderr) => {
                stderr.push(&part.bytes);
                Ok(())
            }
        }
    }
}

/// Writes and flushes: what a command prints is seen at once, and a reader that has gone is noticed with the part that it missed.
async fn hand_on(writer: &mut (impl tokio::io::AsyncWrite + Unpin), bytes: &[u8]) -> Result<(), Failure> {
    writer.write_all(bytes).await.map_err(output_failure)?;
    writer.flush().await.map_err(output_failure)
}

/// The beginning and the end of a stream.
#[derive(Debug)]
pub(crate) struct Kept {
    half_bytes_max: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted_bytes: u64,
}

impl Kept {
    /// Keeps up to this many bytes, half of them from the beginning.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { half_bytes_max: bytes_max / 2, head: Vec::new(), tail: VecDeque::new(), omitted_bytes: 0 }
    }

    fn push(&mut self, bytes: &[u8]) {
        let head = bytes.len().min(self.half_bytes_max - self.head.len());
        self.head.extend(&bytes[..head]);
        self.tail.extend(&bytes[head..]);
        let excess = self.tail.len().saturating_sub(self.half_bytes_max);
        self.tail.drain(..excess);
        self.omitted_bytes += excess as u64;
    }

    /// What was kept, and how many bytes are missing from its middle.
    pub(crate) fn into_parts(mut self) -> (Vec<u8>, u64) {
        self.head.extend(self.tail);
        (self.head, self.omitted_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;

    #[test]
    fn head_and_tail_are_kept_however_the_bytes_come() {
        let whole: Vec<u8> = (0..=99).collect();
        for chunk in [1, 3, 7, 50, 100] {
            let mut kept = Kept::new(20);
            for part in whole.chunks(chunk) {
                kept.push(part);
            }
            let expected: Vec<u8> = (0..10).chain(90..100).collect();
            assert_eq!(kept.into_parts(), (expected, 80), "chunks of {chunk}");
        }
        let mut short = Kept::new(20);
        short.push(&whole[..20]);
        assert_eq!(short.into_parts(), (whole[..20].to_vec(), 0));
    }
}
