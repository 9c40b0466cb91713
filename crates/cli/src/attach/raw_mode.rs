//! The caller's terminal while a person uses another one through it: every key passes, and afterwards it is as it was.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::termios::{self, OptionalActions, Termios};

/// Puts a terminal into raw mode, and back when dropped: on return, on an error and while unwinding.
#[derive(Debug)]
pub(crate) struct RawMode {
    terminal: OwnedFd,
    before: Termios,
    raw: Termios,
}

impl RawMode {
    /// Enters raw mode on the terminal behind `terminal`.
    pub(crate) fn enter(terminal: impl AsFd) -> io::Result<Self> {
        let terminal = terminal.as_fd().try_clone_to_owned()?;
        let before = termios::tcgetattr(&terminal)?;
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(&terminal, OptionalActions::Now, &raw)?;
        Ok(Self { terminal, before, raw })
    }

    /// Enters raw mode again, after a stop during which a shell set its own mode.
    pub(crate) fn reenter(&self) -> io::Result<()> {
        Ok(termios::tcsetattr(&self.terminal, OptionalActions::Now, &self.raw)?)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // A terminal that has gone cannot be restored and nobody sees it.
        let _ = termios::tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}
