//! Where input for a command comes from: a file, or this program's own stdin, piece by piece.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crannog::{ErrorCode, Input, ProcessId, Sandbox};
use tokio::io::AsyncReadExt as _;

use crate::failure::Failure;

/// Bytes read and written at once. Small enough that a slow process is not far behind the file, large enough that a fast one is not held up.
const CHUNK_BYTES: usize = 256 * 1024;

/// A readable source.
#[derive(Debug)]
pub(crate) enum Source {
    /// This program's stdin.
    Stdin(tokio::io::Stdin),
    /// A file.
    File(PathBuf, tokio::fs::File),
}

impl Source {
    /// Opens what `--stdin` names: `-`, or a file.
    pub(crate) async fn open(name: OsString) -> Result<Self, Failure> {
        if name == "-" {
            return Ok(Self::stdin());
        }
        let path = PathBuf::from(name);
        match tokio::fs::File::open(&path).await {
            Ok(file) => Ok(Self::File(path, file)),
            Err(source) => Err(Failure::ReadInput { path, source }),
        }
    }

    /// This program's stdin.
    pub(crate) fn stdin() -> Self {
        Self::Stdin(tokio::io::stdin())
    }

    /// Reads the next piece; empty at the end.
    pub(crate) async fn next(&mut self, bytes_max: usize) -> Result<Vec<u8>, Failure> {
        let mut chunk = vec![0; bytes_max];
        let read = match self {
            Self::Stdin(stdin) => stdin.read(&mut chunk).await,
            Self::File(_, file) => file.read(&mut chunk).await,
        };
        let length = read.map_err(|source| self.failure(source))?;
        chunk.truncate(length);
        Ok(chunk)
    }

    fn failure(&self, source: io::Error) -> Failure {
        let path = match self {
            Self::Stdin(_) => PathBuf::from("stdin"),
            Self::File(path, _) => path.clone(),
        };
        Failure::ReadInput { path, source }
    }

    /// Hands everything to a process at the pace it reads, then gives it end of file. A process that ended or closed its input has had
    /// enough; that is no failure, as in a pipeline.
    pub(crate) async fn feed(mut self, sandbox: &Sandbox, process: ProcessId) -> Result<(), Failure> {
        loop {
            let chunk = self.next(CHUNK_BYTES).await?;
            if chunk.is_empty() {
                return had_enough(sandbox.close_stdin(process).await).map(|_| ());
            }
            if write_all(sandbox, process, chunk).await? == Appetite::Gone {
                return Ok(());
            }
        }
    }
}

/// Whether a process still takes input.
#[derive(Debug, PartialEq, Eq)]
enum Appetite {
    More,
    Gone,
}

/// Writes all bytes, however long the process takes.
async fn write_all(sandbox: &Sandbox, process: ProcessId, mut bytes: Vec<u8>) -> Result<Appetite, Failure> {
    loop {
        let written = match had_enough(sandbox.write(process, Input::new(bytes.clone())).await)? {
            Some(written) => usize::try_from(written.accepted).unwrap_or(usize::MAX).min(bytes.len()),
            None => return Ok(Appetite::Gone),
        };
        bytes.drain(..written);
        if bytes.is_empty() {
            return Ok(Appetite::More);
        }
    }
}

fn had_enough<T>(answer: Result<T, crannog::Error>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.code(), ErrorCode::ProcessEnded | ErrorCode::StdinClosed) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
