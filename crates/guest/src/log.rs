//! The guest's own log: standard error, which is a file of the run directory, up to a bound.
//!
//! Nobody rotates a file that another process has opened for us, so the log ends with a line that says so. What is worth knowing about a guest
//! is at its beginning: how it was set up, and the first of many equal faults.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Bytes of log that one guest writes.
const LOG_BYTES_MAX: usize = 1024 * 1024;
const LAST_LINE: &[u8] = b"the log is full; nothing more is written\n";

/// Sends events that pass `filter` to standard error.
pub(crate) fn start(filter: &str) {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::WARN.into()).parse_lossy(filter);
    let log = std::sync::Mutex::new(Bounded { output: io::stderr(), left: LOG_BYTES_MAX });
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(log).init();
}

/// A writer that stops for good when `left` is used up.
struct Bounded<Output> {
    output: Output,
    left: usize,
}

impl<Output: Write> Write for Bounded<Output> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(bytes.len());
        }
        if bytes.len() > self.left {
            self.left = 0;
            self.output.write_all(LAST_LINE)?;
            return Ok(bytes.len());
        }
        self.left -= bytes.len();
        self.output.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;

    use super::{Bounded, LAST_LINE};

    #[test]
    fn a_full_log_says_so_once_and_keeps_whole_lines() {
        let mut log = Bounded { output: Vec::new(), left: 10 };
        for line in ["12345\n", "1234567\n", "1\n"] {
            assert_eq!(log.write(line.as_bytes()).unwrap(), line.len());
        }
        assert_eq!(log.output, [b"12345\n", LAST_LINE].concat());
    }
}
