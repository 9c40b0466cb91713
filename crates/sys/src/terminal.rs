//! Pseudo-terminals: the master side that we keep, and the peer that becomes a process's stdin, stdout and stderr.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{InputModes, LocalModes, OptionalActions, Winsize, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr, tcsetwinsize};

use crate::async_fd::AsyncTerminal;

/// The master side of a pseudo-terminal. Non-blocking and close-on-exec. See pty(7).
#[derive(Debug)]
pub struct Terminal {
    master: OwnedFd,
    device: u64,
}

/// The line discipline's modes that change what input means. See termios(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// What is typed is shown. Off at a password prompt (and in programs that draw their own input).
    pub echo: bool,
    /// Input is handed over line by line, after the line was edited.
    pub canonical: bool,
    /// Control characters (`^C`, `^Z`, `^\`) send signals.
    pub signals: bool,
}

impl Terminal {
    /// Opens a terminal of the given size and its peer.
    ///
    /// Both descriptors are close-on-exec from birth. The peer is opened through the master (`TIOCGPTPEER`), not by a
    /// path, so it is right in every mount namespace; it does not become our controlling terminal.
    ///
    /// The line discipline is told that input is UTF-8 (`IUTF8`, see termios(3)), so erasing takes a whole character.
    ///
    /// # Errors
    ///
    /// `ENOSPC` when the machine has no terminals left (`/proc/sys/kernel/pty/max`).
    pub fn open(rows: u16, columns: u16) -> io::Result<(Self, OwnedFd)> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        unlockpt(&master)?;
        let peer = ioctl_tiocgptpeer(&master, flags)?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        let mut attributes = tcgetattr(&peer)?;
        attributes.input_modes |= InputModes::IUTF8;
        tcsetattr(&peer, OptionalActions::Now, &attributes)?;
        let device = fstat(&peer)?.st_rdev;
        let terminal = Self { master, device };
        terminal.resize(rows, columns)?;
        Ok((terminal, peer))
    }

    /// Sets the size in characters; the foreground group gets `SIGWINCH` if it changed.
    pub fn resize(&self, rows: u16, columns: u16) -> io::Result<()> {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(&self.master, size)?)
    }

    /// The size in characters: rows, columns.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = tcgetwinsize(&self.master)?;
        Ok((size.ws_row, size.ws_col))
    }

    /// The process group in the foreground; none before a session took the terminal and after its leader ended.
    pub fn foreground_group(&self) -> io::Result<Option<u32>> {
        match tcgetpgrp(&self.master) {
            Ok(group) => Ok(Some(group.as_raw_nonzero().get().unsigned_abs())),
            // Reported by rustix for a group of 0, which is "none".
            Err(rustix::io::Errno::OPNOTSUPP) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The modes that the programs on the other side have set.
    pub fn modes(&self) -> io::Result<Modes> {
        let local = tcgetattr(&self.master)?.local_modes;
        Ok(Modes {
            echo: local.contains(LocalModes::ECHO),
            canonical: local.contains(LocalModes::ICANON),
            signals: local.contains(LocalModes::ISIG),
        })
    }

    /// The device number of the peer, as `st_rdev` shows it for the descriptors of the processes that use it.
    ///
    /// # Errors
    ///
    /// None at present: the number is taken when the terminal is opened.
    pub fn device(&self) -> io::Result<u64> {
        Ok(self.device)
    }

    /// Registers the terminal with the runtime of the calling task.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    pub fn into_async(self) -> io::Result<AsyncTerminal> {
        AsyncTerminal::from_terminal(self)
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.master.as_fd()
    }
}

impl AsRawFd for Terminal {
    fn as_raw_fd(&self) -> RawFd {
        self.master.as_raw_fd()
    }
}
