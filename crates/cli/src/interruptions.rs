//! Signals that ask this program to stop, turned into something that can be waited for.

use std::fs;

use crannog::Signal;
use tokio::signal::unix::{self, SignalKind};

use crate::failure::Failure;

/// INT, TERM and HUP from here on. One that was ignored when the program started (nohup, a background job) stays ignored.
#[derive(Debug)]
pub(crate) struct Interruptions {
    interrupt: Option<unix::Signal>,
    terminate: Option<unix::Signal>,
    hang_up: Option<unix::Signal>,
}

impl Interruptions {
    /// Begins to catch them. To be called before anything is made that has to be cleaned up.
    pub(crate) fn catch() -> Result<Self, Failure> {
        let ignored = ignored_signals();
        let catch = |signal: Signal, kind| match ignored >> (signal.number() - 1) & 1 {
            0 => unix::signal(kind).map(Some).map_err(Failure::Setup),
            _ => Ok(None),
        };
        Ok(Self {
            interrupt: catch(Signal::INT, SignalKind::interrupt())?,
            terminate: catch(Signal::TERM, SignalKind::terminate())?,
            hang_up: catch(Signal::HUP, SignalKind::hangup())?,
        })
    }

    /// The next one. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            () = received(self.interrupt.as_mut()) => Signal::INT,
            () = received(self.terminate.as_mut()) => Signal::TERM,
            () = received(self.hang_up.as_mut()) => Signal::HUP,
        }
    }
}

async fn received(signal: Option<&mut unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// The mask of ignored signals (`SigIgn` of `proc_pid_status(5)`); none when it cannot be read.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
