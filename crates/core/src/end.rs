//! How a process ended. Never invented: a code that nobody saw is `Lost`, with the reason.

use crate::signal::Signal;

/// The end of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It exited by itself with this code, 0 to 255.
    Exited {
        /// The exit code.
        code: u8,
    },
    /// A signal ended it.
    Signalled {
        /// The signal.
        signal: Signal,
        /// Whether the kernel says that a core was dumped.
        core_dumped: bool,
    },
    /// Its timeout passed and it was ended.
    TimedOut {
        /// The timeout that was set, in milliseconds.
        after_ms: u64,
    },
    /// The memory limit ended it.
    OutOfMemory,
    /// A caller ended it (kill of the process or of its tree).
    Cancelled {
        /// The signal that took effect.
        signal: Signal,
    },
    /// How it ended can't be known.
    Lost {
        /// Why.
        reason: String,
    },
}

impl End {
    /// The code that a shell would show: the exit code, or 128 plus the signal. 124 for a timeout, as timeout(1) has it.
    /// `None` when it is not known.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited { code } => Some(i32::from(*code)),
            Self::Signalled { signal, .. } | Self::Cancelled { signal } => Some(128 + signal.number()),
            Self::TimedOut { .. } => Some(124),
            Self::OutOfMemory => Some(128 + Signal::KILL.number()),
            Self::Lost { .. } => None,
        }
    }

    /// The stable word for the kind of end.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Exited { .. } => "exited",
            Self::Signalled { .. } => "signalled",
            Self::TimedOut { .. } => "timed_out",
            Self::OutOfMemory => "out_of_memory",
            Self::Cancelled { .. } => "cancelled",
            Self::Lost { .. } => "lost",
        }
    }
}
