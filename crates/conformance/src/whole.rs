//! Everything that a sequence of answers said about one process, joined.

use crannog::{End, ProcessId, Update};

/// The joined answers of one process, from its first to the one that reported its end.
#[derive(Debug, Clone)]
pub struct Whole {
    /// The process.
    pub process: ProcessId,
    /// The texts one after another.
    pub text: String,
    /// The raw bytes one after another.
    pub raw: Vec<u8>,
    /// Each answer's text.
    pub texts: Vec<String>,
    /// Raw bytes that no answer showed.
    pub omitted_bytes: u64,
    /// Raw bytes that were no longer kept.
    pub lost_bytes: u64,
    /// Where the next answer would begin.
    pub cursor: u64,
    /// The end, once reported.
    pub end: Option<End>,
    /// Whether processes that it started lived when it was last looked at.
    pub descendants_alive: bool,
}

impl Whole {
    /// Begins with the answer to a start.
    pub fn of(first: &Update) -> Self {
        let mut whole = Self {
            process: first.process,
            text: String::new(),
            raw: Vec::new(),
            texts: Vec::new(),
            omitted_bytes: 0,
            lost_bytes: 0,
            cursor: first.start,
            end: None,
            descendants_alive: false,
        };
        whole.add(first);
        whole
    }

    /// Adds the next answer, which must go on where the last one stopped.
    pub fn add(&mut self, update: &Update) {
        assert_eq!(update.process, self.process, "answers of two processes");
        assert_eq!(update.start, self.cursor, "an answer does not go on where the last one ended");
        assert!(self.end.is_none() || update.raw.is_empty(), "bytes after the end: {:?}", update.raw);
        if update.omitted_bytes == 0 {
            assert_eq!(update.cursor, update.start + update.raw.len() as u64, "cursor and bytes disagree");
        }
        assert!(update.omitted_bytes >= update.lost_bytes);
        self.text.push_str(&update.text);
        self.raw.extend_from_slice(&update.raw);
        self.texts.push(update.text.clone());
        self.omitted_bytes += update.omitted_bytes;
        self.lost_bytes += update.lost_bytes;
        self.cursor = update.cursor;
        self.descendants_alive = update.descendants_alive;
        if update.end.is_some() {
            self.end.clone_from(&update.end);
        }
    }

    /// The exit code as a shell shows it.
    pub fn exit_code(&self) -> Option<i32> {
        self.end.as_ref().and_then(End::exit_code)
    }

    /// The text, which must hold no replacement character.
    pub fn clean_text(&self) -> &str {
        assert!(self.texts.iter().all(|text| !text.contains('\u{FFFD}')), "replacement characters in {:?}", self.texts);
        &self.text
    }

    /// Lines of the text without their line ends.
    pub fn lines(&self) -> Vec<&str> {
        self.text.lines().map(|line| line.trim_end_matches('\r')).collect()
    }
}

/// A cut text without the line count that may stand in front of it.
pub fn shown(text: &str) -> &str {
    let after = text.strip_prefix("Total output lines: ").and_then(|rest| rest.split_once("\n\n"));
    after.map_or(text, |(count, rest)| if count.bytes().all(|byte| byte.is_ascii_digit()) { rest } else { text })
}
