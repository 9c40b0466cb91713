//! Everything that is printed goes through here: data to stdout, words to stderr, so that stdout can always be piped.
//!
//! A terminal gets colours and tables, a pipe plain text with tabs, `--json` one JSON document a line. A reader that goes away is a
//! [`Failure::OutputClosed`], never a panic.

pub(crate) mod colours;
pub(crate) mod json;
mod progress;
pub(crate) mod relay;
pub(crate) mod table;
pub(crate) mod transcript;
pub(crate) mod words;

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::arguments::ColorChoice;
use crate::failure::{Failure, output_failure};
use colours::Colours;
use table::Table;

/// Where and how to print.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
    terminal: bool,
    words_terminal: bool,
    shared: bool,
    data_colours: Colours,
    word_colours: Colours,
}

impl Output {
    /// Looks at stdout, stderr and the environment once.
    pub(crate) fn new(json: bool, choice: ColorChoice) -> Self {
        let (terminal, words_terminal) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            json,
            terminal,
            words_terminal,
            shared: is_one_place(),
            data_colours: Colours::choose(choice, terminal),
            word_colours: Colours::choose(choice, words_terminal),
        }
    }

    /// Answers are wanted in JSON.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Colours for stdout.
    pub(crate) fn colours(self) -> Colours {
        self.data_colours
    }

    /// Prints a table: aligned for a person, tab-separated for a pipe.
    pub(crate) fn table(self, table: &Table) -> Result<(), Failure> {
        let text = if self.terminal { table.aligned(self.data_colours) } else { table.tabbed() };
        data(text.as_bytes())
    }

    /// Says something to the person, on stderr. Nothing depends on it, so a closed stderr is fine.
    pub(crate) fn note(self, text: &str) {
        words(&format!("{}\n", self.word_colours.dim(text)));
    }

    /// Says something about data that was just printed. Where both go to one place, the words begin a line of their own.
    pub(crate) fn note_on(self, printed: &[u8], text: &str) {
        if self.shared && !matches!(printed.last(), None | Some(b'\n')) {
            words("\n");
        }
        self.note(text);
    }

    /// Warns the person, on stderr.
    pub(crate) fn warning(self, text: &str) {
        words(&format!("{} {text}\n", self.word_colours.yellow("warning:")));
    }

    /// Tells a failure: one line and a hint, or one JSON document.
    pub(crate) fn failure(self, failure: &Failure) {
        if matches!(failure, Failure::OutputClosed) {
            return;
        }
        if self.json {
            let document = json::ErrorDocument::of(failure);
            // Strings and numbers always make a document.
            let line = serde_json::to_string(&document).unwrap_or_default();
            return words(&format!("{line}\n"));
        }
        let mut text = format!("{} {}\n", self.word_colours.red("error:"), failure.message());
        if let Some(hint) = failure.hint() {
            text.extend([&self.word_colours.cyan("hint:"), " ", &hint, "\n"]);
        }
        words(&text);
    }
}

/// Prints bytes to stdout as they are.
pub(crate) fn data(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(output_failure)
}

/// Prints a line to stdout.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    data(format!("{text}\n").as_bytes())
}

/// Prints one JSON document to stdout, on a line of its own.
pub(crate) fn document(document: &impl Serialize) -> Result<(), Failure> {
    let mut bytes = serde_json::to_vec(document).map_err(|error| Failure::WriteOutput(error.into()))?;
    bytes.push(b'\n');
    data(&bytes)
}

/// Whether data and words go to the same file, pipe or terminal.
fn is_one_place() -> bool {
    let (Ok(data), Ok(words)) = (rustix::fs::fstat(io::stdout()), rustix::fs::fstat(io::stderr())) else { return false };
    (data.st_dev, data.st_ino) == (words.st_dev, words.st_ino)
}

fn words(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}
