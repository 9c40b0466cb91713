//! Text and regex conditions over a text that arrives in pieces.
//!
//! A pattern is looked for in the decoded output as it came and, once there was an escape sequence, also in the output without its
//! sequences: a program that colours `Done` still says `Done`. Memory is bounded: a text condition keeps less than its own length,
//! a regex condition the latest [`limits::UNTIL_MATCH_BYTES_MAX`] bytes, so a match longer than that is not found.

use std::time::Duration;

use memchr::memmem;
use regex::Regex;

use crate::escape::Scanner;
use crate::limits::UNTIL_MATCH_BYTES_MAX;

/// A regex over text up to this long is tried at once whenever text comes. Over a longer one it is tried at most every
/// [`SEARCH_PAUSE`], so that a program that prints a little at a time does not have everything searched again each time.
const SEARCH_AT_ONCE_BYTES: usize = 16 * 1024;
const SEARCH_PAUSE: Duration = Duration::from_millis(5);

/// All text conditions of a wait.
#[derive(Debug, Clone, Default)]
pub(super) struct Matching {
    raw: Patterns,
    stripped: Option<(Scanner, Patterns)>,
}

#[derive(Debug, Clone, Default)]
struct Patterns {
    texts: Vec<TextPattern>,
    regexes: Vec<RegexPattern>,
}

impl Matching {
    pub(super) fn add_text(&mut self, pattern: &str) {
        self.raw.texts.push(TextPattern { finder: memmem::Finder::new(pattern).into_owned(), carried: Vec::new(), is_found: false });
    }

    pub(super) fn add_regex(&mut self, regex: Regex) {
        self.raw.regexes.push(RegexPattern { regex, text: String::new(), searched: 0, start: 0, searched_at: None, is_found: false });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.raw.texts.is_empty() && self.raw.regexes.is_empty()
    }

    /// Takes the text that follows.
    pub(super) fn feed(&mut self, text: &str) {
        if self.stripped.is_none() && memchr::memchr(0x1B, text.as_bytes()).is_some() {
            // Up to here both are the same.
            self.stripped = Some((Scanner::new(), self.raw.clone()));
        }
        self.raw.feed(text);
        if let Some((scanner, patterns)) = &mut self.stripped {
            let mut plain = String::new();
            scanner.strip(text, &mut plain);
            patterns.feed(&plain);
        }
    }

    pub(super) fn has_text(&self) -> bool {
        self.patterns().any(|patterns| patterns.texts.iter().any(|text| text.is_found))
    }

    /// Searches what has not been searched. `is_last` does so without a pause.
    pub(super) fn has_regex(&mut self, now: Duration, is_last: bool) -> bool {
        let stripped = self.stripped.iter_mut().map(|(_, patterns)| patterns);
        let mut regexes = std::iter::once(&mut self.raw).chain(stripped).flat_map(|patterns| &mut patterns.regexes);
        regexes.any(|regex| regex.search(now, is_last))
    }

    /// When a search that was put off is due.
    pub(super) fn search_at(&self) -> Option<Duration> {
        self.patterns().flat_map(|patterns| &patterns.regexes).filter_map(RegexPattern::search_at).min()
    }

    fn patterns(&self) -> impl Iterator<Item = &Patterns> {
        std::iter::once(&self.raw).chain(self.stripped.iter().map(|(_, patterns)| patterns))
    }
}

impl Patterns {
    fn feed(&mut self, text: &str) {
        for pattern in &mut self.texts {
            pattern.feed(text.as_bytes());
        }
        for pattern in &mut self.regexes {
            pattern.feed(text);
        }
    }
}

#[derive(Debug, Clone)]
struct TextPattern {
    finder: memmem::Finder<'static>,
    /// The latest bytes, fewer than the pattern has.
    carried: Vec<u8>,
    is_found: bool,
}

impl TextPattern {
    fn feed(&mut self, text: &[u8]) {
        if self.is_found {
            return;
        }
        let keep = self.finder.needle().len() - 1;
        // A match across the seam lies within this much of the new text.
        self.carried.extend_from_slice(&text[..text.len().min(keep)]);
        self.is_found = self.finder.find(&self.carried).is_some() || self.finder.find(text).is_some();
        if text.len() >= keep {
            self.carried.clear();
            self.carried.extend_from_slice(&text[text.len() - keep..]);
        } else {
            self.carried.drain(..self.carried.len().saturating_sub(keep));
        }
    }
}

#[derive(Debug, Clone)]
struct RegexPattern {
    regex: Regex,
    text: String,
    /// Length of the text when it was last searched.
    searched: usize,
    /// Where a match may begin. What lies before is there to be looked back at, by `^` and `\b`.
    start: usize,
    searched_at: Option<Duration>,
    is_found: bool,
}

impl RegexPattern {
    fn feed(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() && !self.is_found {
            let (now, later) = rest.split_at(rest.floor_char_boundary(UNTIL_MATCH_BYTES_MAX));
            self.text.push_str(now);
            if self.text.len() > 2 * UNTIL_MATCH_BYTES_MAX {
                self.find();
                let stale = self.text.floor_char_boundary(self.text.len() - UNTIL_MATCH_BYTES_MAX);
                self.text.drain(..stale);
                self.start = self.text.ceil_char_boundary(1);
                self.searched = self.text.len();
            }
            rest = later;
        }
    }

    fn search(&mut self, now: Duration, is_last: bool) -> bool {
        if !self.is_found && self.searched < self.text.len() && (is_last || self.search_at().is_none_or(|due| due <= now)) {
            self.find();
            self.searched = self.text.len();
            self.searched_at = Some(now);
        }
        self.is_found
    }

    fn search_at(&self) -> Option<Duration> {
        let is_put_off = !self.is_found && self.searched < self.text.len() && self.text.len() > SEARCH_AT_ONCE_BYTES;
        self.searched_at.filter(|_| is_put_off).map(|at| at + SEARCH_PAUSE)
    }

    fn find(&mut self) {
        self.is_found = self.regex.is_match_at(&self.text, self.start);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matching(text: &str, regex: &str) -> Matching {
        let mut matching = Matching::default();
        matching.add_text(text);
        matching.add_regex(regex::RegexBuilder::new(regex).multi_line(true).crlf(true).build().unwrap());
        matching
    }

    proptest! {
        #[test]
        fn any_split_finds_what_the_whole_holds(
            pieces in prop::collection::vec("[ab\n]{0,4}", 0..30), pattern in "[ab]{1,6}",
        ) {
            let whole = pieces.concat();
            let mut matching = matching(&pattern, &format!("{pattern}$"));
            for piece in &pieces {
                matching.feed(piece);
            }
            prop_assert_eq!(matching.has_text(), whole.contains(&pattern));
            let ends_line = whole.lines().any(|line| line.ends_with(&pattern));
            prop_assert_eq!(matching.has_regex(Duration::ZERO, true), ends_line);
        }
    }

    #[test]
    fn colours_do_not_hide_a_text_and_can_be_matched() {
        for (text, regex) in [("ab", "^ab$"), ("a\u{1b}[1mb", r"\x1b\[1mb")] {
            let mut matching = matching(text, regex);
            for piece in ["x\n", "\u{1b}[32ma", "\u{1b}[", "1mb\u{1b}[0m\r", "\n"] {
                matching.feed(piece);
            }
            assert!(matching.has_text() && matching.has_regex(Duration::ZERO, false), "{text:?}");
        }
    }

    #[test]
    fn an_anchor_does_not_match_where_old_text_was_let_go() {
        let mut matching = matching("nothing", r"^x|\Ax");
        for _ in 0..4 {
            matching.feed(&format!("{}\ny", "yx".repeat(UNTIL_MATCH_BYTES_MAX / 4)));
            assert!(!matching.has_regex(Duration::ZERO, true));
        }
        assert!(matching.raw.regexes[0].text.len() <= 2 * UNTIL_MATCH_BYTES_MAX);
        matching.feed("\nx");
        assert!(matching.has_regex(Duration::ZERO, true));
    }

    #[test]
    fn searches_of_long_text_are_paced() {
        let mut matching = matching("nothing", "z");
        let at = Duration::from_secs(1);
        matching.feed(&"y".repeat(SEARCH_AT_ONCE_BYTES + 1));
        assert!(!matching.has_regex(at, false));
        matching.feed("z");
        assert!(!matching.has_regex(at, false));
        let due = matching.search_at().unwrap();
        assert_eq!(due, at + SEARCH_PAUSE);
        assert!(matching.has_regex(due, false));
    }
}
