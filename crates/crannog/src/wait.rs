//! How long to wait for output and how much of it to show, said piece by piece.

use std::time::Duration;

use crannog_core::collect::{Collect, Until};

/// A builder for [`Collect`].
///
/// ```
/// use std::time::Duration;
/// use crannog::{Collect, Until, Wait};
///
/// let collect: Collect = Wait::at_most(Duration::from_secs(5))
///     .until(Until::Input)
///     .until(Until::Silent(Duration::from_millis(300)))
///     .budget(2_000)
///     .into();
/// assert_eq!(collect.until.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Wait(Collect);

impl Wait {
    /// Waits this long, unless the process ends before. Zero asks for what is there.
    pub fn at_most(window: Duration) -> Self {
        Self(Collect { cursor: None, window, until: Vec::new(), budget: None })
    }

    /// Ends the wait early when this holds, too. At most [`UNTIL_CONDITIONS_MAX`](crannog_core::limits::UNTIL_CONDITIONS_MAX).
    pub fn until(mut self, condition: Until) -> Self {
        self.0.until.push(condition);
        self
    }

    /// Reads from this absolute offset: the `cursor` of an earlier answer, or 0 for everything that is kept.
    pub fn from_cursor(mut self, cursor: u64) -> Self {
        self.0.cursor = Some(cursor);
        self
    }

    /// Shows at most this many tokens of four bytes; the middle is left out.
    pub fn budget(mut self, tokens: u64) -> Self {
        self.0.budget = Some(tokens);
        self
    }
}

impl From<Wait> for Collect {
    fn from(wait: Wait) -> Self {
        wait.0
    }
}
