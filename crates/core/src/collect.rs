//! How long a collect waits, and what it shows.

mod matching;
mod until;
mod wait;

use std::time::Duration;

pub use until::UntilError;
pub use wait::{CollectError, Decision, Observation, Wait};

/// A condition that ends a collect before its window does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// The process ended.
    Exit,
    /// The decoded output since the cursor contains this text.
    Text(String),
    /// The decoded output since the cursor matches this regular expression. `^` and `$` match at lines, ended by LF or CR LF; `$`
    /// also matches at the end of what has come so far. Searching takes linear time.
    Regex(String),
    /// There was output, and then none for this long.
    Silent(Duration),
    /// The foreground process is blocked reading its input.
    Input,
    /// This many raw bytes have come since the cursor.
    Bytes(u64),
}

/// How to collect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collect {
    /// Absolute offset to read from. `None`: where the last collect of this process without a cursor ended.
    pub cursor: Option<u64>,
    /// Longest wait. The end of the process always ends it earlier.
    pub window: Duration,
    /// Any of these ends it earlier, too.
    pub until: Vec<Until>,
    /// Tokens (four bytes each) of text in the answer. `None`: up to [`crate::limits::VIEW_BYTES_MAX`].
    pub budget: Option<u64>,
}

/// What ended a collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The window passed.
    Window,
    /// The process ended.
    Exit,
    /// A text condition held.
    Text,
    /// A regex condition held.
    Regex,
    /// It fell silent.
    Silent,
    /// It waits for input.
    Input,
    /// Enough bytes came.
    Bytes,
}
