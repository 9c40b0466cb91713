//! The guest's own log: standard error, which is a file of the run directory, up to a bound.
//!
//! Nobody rotates a file that another process has opened for us, so the log ends with a line that says so. What is worth knowing about a guest
//! is at its beginning: how it was set up, and the first of many equal faults.

use std::io::{self, Write};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Bytes of log that one guest writes.
const LOG_BYTES_MAX: usize = 1024 * 1024;
const LAST_LINE: &[u8] = b"the log is full; nothing more is written\n";

/// Sends events that pass `filter` to standard error; warnings when the filter is empty or cannot be meant.
pub(crate) fn start(filter: &str) {
    let log = std::sync::Mutex::new(Bounded { output: io::stderr(), left: LOG_BYTES_MAX });
    let events = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(log).with_filter(targets(filter));
    tracing_subscriber::registry().with(events).init();
}

/// Without the regular expressions of the larger filter, whose tables every idle guest would hold.
fn targets(filter: &str) -> Targets {
    let warnings = || Targets::new().with_default(LevelFilter::WARN);
    if filter.is_empty() { warnings() } else { filter.parse().unwrap_or_else(|_| warnings()) }
}

/// A writer that stops for good when `left` is used up.
struct Bounded<Output> {
    output: Output,
    left: usize,
}

impl<Output: Write> Bounded<Output> {
    /// Whoever logs would panic over a failure, and the disk may be full of what the log is about. A line that can't be written is missed
    /// by nobody but the log.
    fn try_write(&mut self, line: &[u8]) {
        let _ = self.output.write_all(line);
    }
}

impl<Output: Write> Write for Bounded<Output> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(bytes.len());
        }
        if bytes.len() > self.left {
            self.left = 0;
            self.try_write(LAST_LINE);
            return Ok(bytes.len());
        }
        self.left -= bytes.len();
        self.try_write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;

    use tracing_subscriber::filter::LevelFilter;

    use super::{Bounded, LAST_LINE, targets};

    #[test]
    fn a_filter_is_a_level_or_a_list_and_warnings_otherwise() {
        let enabled = |filter: &str, level: LevelFilter| {
            let level = level.into_level().unwrap();
            targets(filter).would_enable("crannog_engine", &level)
        };
        for filter in ["", "warn", "crannog_engine=warn", "a=b=c"] {
            assert!(enabled(filter, LevelFilter::WARN) && !enabled(filter, LevelFilter::INFO), "{filter}");
        }
        assert!(enabled("crannog_engine=debug,warn", LevelFilter::DEBUG));
    }

    #[test]
    fn a_full_log_says_so_once_and_keeps_whole_lines() {
        let mut log = Bounded { output: Vec::new(), left: 10 };
        for line in ["12345\n", "1234567\n", "1\n"] {
            assert_eq!(log.write(line.as_bytes()).unwrap(), line.len());
        }
        assert_eq!(log.output, [b"12345\n", LAST_LINE].concat());
    }

    #[test]
    fn a_line_that_can_not_be_written_fails_nobody() {
        // Writes to /dev/full fail as on a full disk.
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut log = Bounded { output: full, left: 10 };
        log.write_all(b"12345\n").and_then(|()| log.write_all(b"123456\n")).and_then(|()| log.flush()).unwrap();
    }
}
