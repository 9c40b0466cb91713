//! The recording of a terminal: what it showed, what was typed while it showed that, and its sizes, as asciicast v3.
//!
//! One line of JSON for each event, written when it happens to an unnamed file of bounded size. A full disk ends the recording and not
//! the process. Typing is recorded only while the terminal echoes it: then it is in the output anyway, and a password never is.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

use crannog_core::end::End;
use crannog_core::limits;
use crannog_core::process::TerminalSize;
use crannog_core::screen::{RecordingPart, RecordingState};
use crannog_core::utf8::Decoder;
use tokio::time::Instant;

use crate::spill;

/// Room kept for the last two lines: where the recording was cut, and the end.
const CLOSING_BYTES: u64 = 256;
/// Bytes of output in one event; JSON makes up to six of one byte.
const EVENT_BYTES: usize = 64 * 1024;

/// The recording of one process.
#[derive(Debug)]
pub(crate) struct Recording {
    file: Option<File>,
    len: u64,
    len_max: u64,
    state: RecordingState,
    started: Instant,
    /// Whole microseconds from the start to the latest event, so that rounding does not add up.
    recorded_us: u128,
    output: Decoder,
    input: Decoder,
}

/// What a recording says first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header<'a> {
    pub(crate) size: TerminalSize,
    /// Seconds since 1970.
    pub(crate) timestamp: u64,
    pub(crate) command: &'a str,
}

impl Recording {
    /// Begins a recording in an unnamed file. `name` must be free in `directory` for a moment. A file that can't be made is a recording
    /// that failed.
    pub(crate) fn new(directory: &Path, name: &str, started: Instant, header: Header<'_>) -> Self {
        let file = spill::unnamed(directory, name).inspect_err(|error| tracing::warn!(%error, "a recording can't be begun")).ok();
        Self::in_file(file, limits::RECORDING_BYTES_MAX, started, header)
    }

    fn in_file(file: Option<File>, len_max: u64, started: Instant, header: Header<'_>) -> Self {
        let state = if file.is_some() { RecordingState::Running } else { RecordingState::Failed };
        let (output, input) = (Decoder::new(), Decoder::new());
        let mut recording = Self { file, len: 0, len_max, state, started, recorded_us: 0, output, input };
        let Header { size, timestamp, command } = header;
        let mut line =
            format!(r#"{{"version":3,"term":{{"cols":{},"rows":{}}},"timestamp":{timestamp},"command":"#, size.columns, size.rows);
        quote(command, &mut line);
        line.push_str("}\n");
        recording.append(&line);
        recording
    }

    /// The terminal showed these bytes.
    pub(crate) fn output(&mut self, bytes: &[u8], now: Instant) {
        for piece in bytes.chunks(EVENT_BYTES) {
            if self.state != RecordingState::Running {
                return;
            }
            let mut text = String::new();
            self.output.decode(piece, &mut text);
            self.event('o', &text, now);
        }
    }

    /// These bytes were typed, and the terminal echoed.
    pub(crate) fn input(&mut self, bytes: &[u8], now: Instant) {
        let mut text = String::new();
        self.input.decode(bytes, &mut text);
        self.event('i', &text, now);
    }

    /// The terminal has another size.
    pub(crate) fn resize(&mut self, size: TerminalSize, now: Instant) {
        self.event('r', &format!("{}x{}", size.columns, size.rows), now);
    }

    /// The process has ended. What others print to its terminal later is not recorded.
    pub(crate) fn finish(&mut self, end: &End, now: Instant) {
        let mut text = String::new();
        self.output.finish(&mut text);
        self.event('o', &text, now);
        let code = end.exit_code().unwrap_or(-1).to_string();
        if matches!(self.state, RecordingState::Running | RecordingState::Cut) {
            let line = self.line('x', &code, now);
            self.append(&line);
        }
        if self.state == RecordingState::Running {
            self.state = RecordingState::Complete;
        }
    }

    /// Bytes from `from` on, at most `bytes_max`; none behind the end.
    pub(crate) fn read(&self, from: u64, bytes_max: usize) -> io::Result<RecordingPart> {
        let there = usize::try_from(self.len.saturating_sub(from)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; there.min(bytes_max)];
        if let Some(file) = self.file.as_ref().filter(|_| !bytes.is_empty()) {
            file.read_exact_at(&mut bytes, from)?;
        }
        Ok(RecordingPart { bytes, total: self.len, state: self.state })
    }

    fn event(&mut self, kind: char, text: &str, now: Instant) {
        if self.state != RecordingState::Running || text.is_empty() {
            return;
        }
        let before = self.recorded_us;
        let mut line = self.line(kind, text, now);
        if self.len + line.len() as u64 > self.len_max.saturating_sub(CLOSING_BYTES) {
            self.state = RecordingState::Cut;
            self.recorded_us = before;
            line = self.line('m', "the recording was cut here: it has reached its largest size", now);
        }
        self.append(&line);
    }

    /// One event; its time counts from the one before.
    fn line(&mut self, kind: char, text: &str, now: Instant) -> String {
        let since_start = now.saturating_duration_since(self.started).as_micros().max(self.recorded_us);
        let interval = Duration::from_micros(u64::try_from(since_start - self.recorded_us).unwrap_or(u64::MAX));
        self.recorded_us = since_start;
        let mut line = String::with_capacity(text.len() + 32);
        // Writing to a string can't fail.
        let _ = write!(line, "[{}.{:06},\"{kind}\",", interval.as_secs(), interval.subsec_micros());
        quote(text, &mut line);
        line.push_str("]\n");
        line
    }

    fn append(&mut self, line: &str) {
        let Some(file) = &self.file else { return };
        match file.write_all_at(line.as_bytes(), self.len) {
            Ok(()) => self.len += line.len() as u64,
            Err(error) => {
                tracing::warn!(%error, recorded_bytes = self.len, "a recording can't be written any further");
                self.state = RecordingState::Failed;
            }
        }
    }
}

/// Appends a JSON string (RFC 8259, section 7).
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' | '\u{7f}' => {
                // Writing to a string can't fail.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use crannog_core::end::End;
    use crannog_core::process::TerminalSize;
    use crannog_core::screen::RecordingState;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::{CLOSING_BYTES, Header, Recording, quote};

    const MS: Duration = Duration::from_millis(1);

    fn recording(len_max: u64, start: Instant) -> Recording {
        let header = Header { size: TerminalSize::default(), timestamp: 7, command: "say \"hi\"" };
        Recording::in_file(Some(tempfile::tempfile().unwrap()), len_max, start, header)
    }

    fn lines(recording: &Recording) -> Vec<Value> {
        let bytes = recording.read(0, usize::MAX).unwrap().bytes;
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn events_follow_a_header_with_their_intervals() {
        let start = Instant::now();
        let mut recording = recording(1 << 20, start);
        recording.output(b"a\xc3", start + 10 * MS);
        recording.output(b"\xa4\x1b[1m", start + 15 * MS);
        recording.input(b"x\r", start + 15 * MS);
        recording.resize(TerminalSize { rows: 3, columns: 9 }, start + 1_500 * MS);
        recording.output(b"\xe2\x82", start + 1_501 * MS);
        assert_eq!(recording.read(0, 4).unwrap().state, RecordingState::Running);
        recording.finish(&End::Exited { code: 3 }, start + 2_000 * MS);
        recording.output(b"late", start + 3_000 * MS);
        let lines = lines(&recording);
        let header = json!({"version": 3, "term": {"cols": 80, "rows": 24}, "timestamp": 7, "command": "say \"hi\""});
        assert_eq!(lines[0], header);
        let events = [
            json!([0.01, "o", "a"]),
            json!([0.005, "o", "\u{e4}\x1b[1m"]),
            json!([0.0, "i", "x\r"]),
            json!([1.485, "r", "9x3"]),
            json!([0.5, "o", "\u{fffd}"]),
            json!([0.0, "x", "3"]),
        ];
        assert_eq!(lines[1..], events);
        assert_eq!(recording.read(0, 0).unwrap().state, RecordingState::Complete);
    }

    #[test]
    fn a_large_recording_says_where_it_was_cut_and_how_it_ended() {
        let start = Instant::now();
        let mut recording = recording(1_000, start);
        for _ in 0..1_000 {
            recording.output(&[0x07; 100], start);
        }
        recording.finish(&End::Exited { code: 0 }, start);
        let part = recording.read(0, usize::MAX).unwrap();
        assert!(part.state == RecordingState::Cut && part.total <= 1_000 && part.total > 1_000 - CLOSING_BYTES - 650, "{part:?}");
        let lines = lines(&recording);
        let kinds: Vec<_> = lines[lines.len() - 2..].iter().map(|line| line[1].as_str().unwrap()).collect();
        assert_eq!(kinds, ["m", "x"]);
    }

    #[test]
    fn a_full_disk_ends_the_recording_alone() {
        // Writes to /dev/full fail as on a full disk.
        let full = std::fs::OpenOptions::new().read(true).write(true).open("/dev/full").unwrap();
        let header = Header { size: TerminalSize::default(), timestamp: 0, command: "" };
        let mut recording = Recording::in_file(Some(full), 1_000, Instant::now(), header);
        recording.output(b"x", Instant::now());
        recording.finish(&End::Exited { code: 0 }, Instant::now());
        let part = recording.read(0, 10).unwrap();
        assert_eq!((part.state, part.total, part.bytes.len()), (RecordingState::Failed, 0, 0));
    }

    proptest! {
        #[test]
        fn any_text_is_quoted_as_json(text in ".*|[\\x00-\\x7f]*") {
            let mut quoted = String::new();
            quote(&text, &mut quoted);
            prop_assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
        }

        #[test]
        fn output_is_recorded_as_it_decodes_however_it_is_cut(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20)) {
            let start = Instant::now();
            let mut recording = recording(1 << 20, start);
            for piece in &pieces {
                recording.output(piece, start);
            }
            recording.finish(&End::Exited { code: 0 }, start);
            let shown: String = lines(&recording)[1..].iter().filter(|event| event[1] == "o").map(|event| event[2].as_str().unwrap().to_owned()).collect();
            prop_assert_eq!(shown, String::from_utf8_lossy(&pieces.concat()).into_owned());
        }
    }
}
