//! Options that say how long to wait for output and how much of it to show.

use std::time::Duration;

use clap::Args;
use crannog::{Collect, Until};

/// How to wait.
#[derive(Debug, Args)]
pub(crate) struct CollectArguments {
    /// Wait this many milliseconds for output; at most 30000 count. The end of the process ends the wait earlier.
    #[arg(long, value_name = "MS")]
    window: Option<u64>,

    /// Show at most this many tokens (four bytes each); the middle of a longer text is left out.
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,

    /// End the wait earlier: exit, silent:MS, text:TEXT, regex:PATTERN, input, bytes:N. Repeat it for any of several.
    #[arg(long, value_name = "CONDITION")]
    until: Vec<Until>,
}

impl CollectArguments {
    /// As the library takes it, with the verb's own window when none was given.
    pub(crate) fn into_collect(self, cursor: Option<u64>, window_ms_default: u64) -> Collect {
        Collect { cursor, window: Duration::from_millis(self.window.unwrap_or(window_ms_default)), until: self.until, budget: self.budget }
    }
}
