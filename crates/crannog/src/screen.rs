//! What a process's terminal shows now, and the recording of what it showed.

use std::collections::VecDeque;

use crannog_core::error::Operation;
use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::screen::{RecordingState, Screen, ScreenRequest};

use crate::error::Error;
use crate::sandbox::Sandbox;

/// The recording of a process's terminal, read piece by piece: asciicast v3, which any player of that format shows.
#[derive(Debug)]
pub struct Recording {
    sandbox: Sandbox,
    process: ProcessId,
    next: u64,
    /// Where it ended when it was opened: what is recorded meanwhile is for the next reader.
    until: u64,
    state: RecordingState,
    read: VecDeque<Vec<u8>>,
}

impl Recording {
    /// Its size in bytes at the moment it was opened.
    pub fn size(&self) -> u64 {
        self.until
    }

    /// How it stood at the moment it was opened: it may be cut, or still growing.
    pub fn state(&self) -> RecordingState {
        self.state
    }

    /// The next piece, at most [`limits::READ_REPLY_BYTES_MAX`] bytes; `None` at the end. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if let Some(bytes) = self.read.pop_front() {
            return Ok(Some(bytes));
        }
        if self.next >= self.until {
            return Ok(None);
        }
        let bytes_max = usize::try_from(self.until - self.next).unwrap_or(usize::MAX).min(limits::READ_REPLY_BYTES_MAX);
        let answer = self.sandbox.guest().recording(self.process, self.next, bytes_max).await;
        let part = self.sandbox.settle(Operation::ReadRecording, answer).await?;
        self.next += part.bytes.len() as u64;
        Ok(Some(part.bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Sandbox {
    /// What a process's terminal shows: text, cursor, title, and lines that scrolled off. With [`ScreenRequest::since`] only the rows that
    /// changed after an earlier answer's [`Screen::version`].
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use crannog::{Command, Host, Sandbox, SandboxOptions, ScreenRequest, TerminalSize, Until, Wait};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// # let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
    /// let wait = Wait::at_most(Duration::from_secs(10)).until(Until::Exit);
    /// let command = Command::shell(r"printf 'one\rtwo\033[5;3Hthree'").terminal(TerminalSize::default());
    /// let process = sandbox.start_and_collect(command, wait).await?.process;
    /// let screen = sandbox.screen(process, ScreenRequest::default()).await?;
    /// assert_eq!(screen.rows[0].text, "two");
    /// assert_eq!((screen.rows[4].text.as_str(), screen.cursor.column), ("  three", 7));
    /// # sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn screen(&self, process: ProcessId, request: ScreenRequest) -> Result<Screen, Error> {
        let answer = self.guest().screen(process, request).await;
        self.settle(Operation::Screen, answer).await
    }

    /// Opens the recording of a process that was started with [`Command::record`](crate::Command::record). It can be read while the
    /// process runs, and after its end while the process is still known.
    pub async fn recording(&self, process: ProcessId) -> Result<Recording, Error> {
        let answer = self.guest().recording(process, 0, limits::READ_REPLY_BYTES_MAX).await;
        let part = self.settle(Operation::ReadRecording, answer).await?;
        let next = part.bytes.len() as u64;
        let read = Some(part.bytes).filter(|bytes| !bytes.is_empty()).into_iter().collect();
        Ok(Recording { sandbox: self.clone(), process, next, until: part.total, state: part.state, read })
    }
}
