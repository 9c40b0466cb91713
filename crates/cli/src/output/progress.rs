//! A sign of life for a person while something takes long. A pipe and JSON get none.

use std::io::{self, Write as _};
use std::time::Duration;

use tokio::time::{Instant, interval_at};

use super::{Output, words};

/// Nothing is shown for what is done before this.
const SHOWN_AFTER: Duration = Duration::from_millis(700);
/// How often the time is shown anew.
const EVERY: Duration = Duration::from_secs(1);

impl Output {
    /// Does the work; shows what is waited for, and since when, until it is done. Cancel-safe if the work is.
    pub(crate) async fn waiting<T>(self, what: &str, work: impl Future<Output = T>) -> T {
        if self.json || !self.words_terminal {
            return work.await;
        }
        let began = Instant::now();
        let mut ticks = interval_at(began + SHOWN_AFTER, EVERY);
        let mut work = std::pin::pin!(work);
        let mut line = Line { shown: false };
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = ticks.tick() => line.show(&self.word_colours.dim(&format!("{what} {}", words::time(began.elapsed())))),
            }
        }
    }
}

/// The line, which goes when it is dropped.
struct Line {
    shown: bool,
}

impl Line {
    fn show(&mut self, text: &str) {
        self.shown = true;
        let _ = write!(io::stderr(), "\r{text}\x1b[K");
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
