//! One visit to a process's terminal, from taking it over to leaving it.

use std::cell::RefCell;
use std::io::{self, Write as _};
use std::time::Duration;

use crannog::{End, ErrorCode, FollowEvent, Input, ProcessId, Sandbox, Signal, TerminalSize};
use rustix::termios;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::detach_keys::DetachKeys;
use super::raw_mode::RawMode;
use super::replay::Replay;
use super::screen_modes::ScreenModes;
use crate::failure::{Failure, output_failure};
use crate::interruptions::Interruptions;
use crate::output::data;

/// Bytes of typing taken at once; a paste is longer and comes in several.
const TYPED_BYTES: usize = 4_096;
/// Pieces of typing that wait for a process that does not read. Past it the bell rings and what is typed is dropped, as a terminal does.
const TYPED_WAITING_MAX: usize = 256;
/// Between two sizes, so that a program sees both and draws its screen anew. Programs that look at the size only once the signal arrives
/// would see the second alone if they followed at once.
const REDRAW_PAUSE: Duration = Duration::from_millis(50);
/// The number of SIGCONT on Linux.
const CONTINUE: i32 = 18;

/// A visit.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) process: ProcessId,
    pub(crate) detach: DetachKeys,
}

/// How a visit ended.
#[derive(Debug)]
pub(crate) enum Leave {
    /// The process ended.
    Ended(End),
    /// The person typed the keys for it, or the terminal went away.
    Detached,
    /// A signal asked this program to stop.
    Interrupted(Signal),
}

/// The size of the caller's terminal.
pub(crate) fn size_of_ours() -> io::Result<TerminalSize> {
    let size = termios::tcgetwinsize(io::stdout())?;
    let or = |side: u16, default| if side == 0 { default } else { side.min(crannog::limits::TERMINAL_SIDE_MAX) };
    let default = TerminalSize::default();
    Ok(TerminalSize { rows: or(size.ws_row, default.rows), columns: or(size.ws_col, default.columns) })
}

impl Session<'_> {
    /// Shows what is on the process's terminal and stays until it ends or the person leaves.
    pub(crate) async fn run(self, interruptions: &mut Interruptions) -> Result<Leave, Failure> {
        let Self { sandbox, process, detach } = self;
        let replay = Replay::read(sandbox, process).await?;
        let mut sizes = Sizes::watch(sandbox, process)?;
        sizes.set().await?;
        let screen = Screen::take_over(replay.modes)?;
        data(&replay.bytes)?;
        if replay.redraw {
            sizes.redraw().await?;
        }
        let (sender, receiver) = mpsc::channel(TYPED_WAITING_MAX);
        tokio::select! {
            ended = screen.follow(sandbox, process, replay.next) => ended.map(Leave::Ended),
            () = typing(detach, sender) => Ok(Leave::Detached),
            fault = sending(sandbox, process, receiver) => Err(fault),
            fault = sizes.follow(&screen) => Err(fault),
            signal = interruptions.next() => Ok(Leave::Interrupted(signal)),
        }
    }
}

/// The caller's terminal while it is taken over. Put back when dropped: modes first, then the line discipline.
struct Screen {
    modes: RefCell<ScreenModes>,
    raw: RawMode,
}

impl Screen {
    fn take_over(modes: ScreenModes) -> Result<Self, Failure> {
        let raw = RawMode::enter(io::stdin()).map_err(Failure::Terminal)?;
        Ok(Self { modes: RefCell::new(modes), raw })
    }

    /// Shows the process's output until it ends.
    async fn follow(&self, sandbox: &Sandbox, process: ProcessId, from: u64) -> Result<End, Failure> {
        let mut events = sandbox.attach(process, from).await?;
        let mut stdout = tokio::io::stdout();
        while let Some(event) = events.next().await? {
            match event {
                FollowEvent::Output(part) => {
                    self.modes.borrow_mut().feed(&part.bytes);
                    stdout.write_all(&part.bytes).await.map_err(output_failure)?;
                    stdout.flush().await.map_err(output_failure)?;
                }
                FollowEvent::Ended(ended) => return Ok(ended.end),
                // What was dropped has scrolled away; the screen as it is now comes with what follows.
                FollowEvent::Started(_) | FollowEvent::Lost(_) => {}
            }
        }
        Err(Failure::EndMissing)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that has gone needs no tidying.
        let _ = data(&self.modes.borrow().restore());
    }
}

/// Reads what the person types until they leave.
async fn typing(mut detach: DetachKeys, sender: mpsc::Sender<Vec<u8>>) {
    let mut stdin = tokio::io::stdin();
    let mut buffer = [0; TYPED_BYTES];
    loop {
        // A terminal that fails to be read has hung up: the person is gone.
        let length = stdin.read(&mut buffer).await.unwrap_or(0);
        if length == 0 {
            return;
        }
        let typed = detach.feed(&buffer[..length]);
        if !typed.forward.is_empty() && sender.try_send(typed.forward).is_err() {
            let _ = io::stdout().write_all(b"\x07");
        }
        if typed.detach {
            return;
        }
    }
}

/// Writes what was typed, in order. Ends only with a failure.
async fn sending(sandbox: &Sandbox, process: ProcessId, mut receiver: mpsc::Receiver<Vec<u8>>) -> Failure {
    while let Some(mut bytes) = receiver.recv().await {
        while !bytes.is_empty() {
            match sandbox.write(process, Input::new(bytes.clone())).await {
                Ok(written) => {
                    let taken = usize::try_from(written.accepted).unwrap_or(usize::MAX).min(bytes.len());
                    bytes.drain(..taken);
                }
                // The end comes with the output.
                Err(error) if error.code() == ErrorCode::ProcessEnded => std::future::pending().await,
                Err(error) => return error.into(),
            }
        }
    }
    // The typist has left, which ends the visit.
    std::future::pending().await
}

/// Keeps the process's terminal as large as the caller's.
struct Sizes<'a> {
    sandbox: &'a Sandbox,
    process: ProcessId,
    changed: tokio::signal::unix::Signal,
    continued: tokio::signal::unix::Signal,
}

impl<'a> Sizes<'a> {
    fn watch(sandbox: &'a Sandbox, process: ProcessId) -> Result<Self, Failure> {
        let changed = signal(SignalKind::window_change()).map_err(Failure::Setup)?;
        let continued = signal(SignalKind::from_raw(CONTINUE)).map_err(Failure::Setup)?;
        Ok(Self { sandbox, process, changed, continued })
    }

    async fn set(&self) -> Result<(), Failure> {
        let size = size_of_ours().map_err(Failure::Terminal)?;
        Ok(self.sandbox.resize(self.process, size).await?)
    }

    /// Makes a full-screen program draw everything anew: only a size that changes tells it to.
    async fn redraw(&self) -> Result<(), Failure> {
        let size = size_of_ours().map_err(Failure::Terminal)?;
        let other = TerminalSize { rows: if size.rows > 1 { size.rows - 1 } else { 2 }, ..size };
        self.sandbox.resize(self.process, other).await?;
        sleep(REDRAW_PAUSE).await;
        self.set().await
    }

    /// Follows every change. Ends only with a failure.
    async fn follow(&mut self, screen: &Screen) -> Failure {
        loop {
            tokio::select! {
                _ = self.changed.recv() => {}
                _ = self.continued.recv() => {
                    // The shell that was in front meanwhile has set its own mode.
                    if let Err(error) = screen.raw.reenter() {
                        return Failure::Terminal(error);
                    }
                }
            }
            match self.set().await {
                Err(Failure::Library(error)) if error.code() == ErrorCode::ProcessEnded => std::future::pending().await,
                Err(failure) => return failure,
                Ok(()) => {}
            }
        }
    }
}
