//! Conditions as people write them: `exit`, `silent:300`, `text:READY`, `regex:^\$ $`, `input`, `bytes:4096`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Until;

/// A condition could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UntilError {
    /// The word in front of the colon is none that is known.
    #[error("unknown condition {text:?}: use exit, silent:MS, text:T, regex:R, input or bytes:N")]
    UnknownCondition {
        /// What was given.
        text: String,
    },
    /// What follows the colon is no number.
    #[error("{name}:{value} needs a whole number of {unit} behind the colon")]
    ReadNumber {
        /// The condition.
        name: &'static str,
        /// What stood behind the colon.
        value: String,
        /// What it counts.
        unit: &'static str,
        /// What is wrong with it.
        #[source]
        source: std::num::ParseIntError,
    },
}

impl Until {
    /// Reads the form that [`fmt::Display`] writes. Patterns are taken as they are, colons and all.
    pub fn parse(text: &str) -> Result<Self, UntilError> {
        let unknown = || UntilError::UnknownCondition { text: text.to_owned() };
        match text.split_once(':') {
            None if text == "exit" => Ok(Self::Exit),
            None if text == "input" => Ok(Self::Input),
            Some(("text", pattern)) => Ok(Self::Text(pattern.to_owned())),
            Some(("regex", pattern)) => Ok(Self::Regex(pattern.to_owned())),
            Some(("silent", value)) => Ok(Self::Silent(Duration::from_millis(number("silent", value, "milliseconds")?))),
            Some(("bytes", value)) => Ok(Self::Bytes(number("bytes", value, "bytes")?)),
            _ => Err(unknown()),
        }
    }
}

impl FromStr for Until {
    type Err = UntilError;

    fn from_str(text: &str) -> Result<Self, UntilError> {
        Self::parse(text)
    }
}

impl fmt::Display for Until {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit => formatter.write_str("exit"),
            Self::Input => formatter.write_str("input"),
            Self::Text(pattern) => write!(formatter, "text:{pattern}"),
            Self::Regex(pattern) => write!(formatter, "regex:{pattern}"),
            Self::Silent(quiet) => write!(formatter, "silent:{}", quiet.as_millis()),
            Self::Bytes(count) => write!(formatter, "bytes:{count}"),
        }
    }
}

fn number(name: &'static str, value: &str, unit: &'static str) -> Result<u64, UntilError> {
    value.parse().map_err(|source| UntilError::ReadNumber { name, value: value.to_owned(), unit, source })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::Until;

    proptest! {
        #[test]
        fn a_condition_reads_back(pattern in ".*", number in any::<u64>(), which in 0..6) {
            let until = match which {
                0 => Until::Exit,
                1 => Until::Input,
                2 => Until::Text(pattern),
                3 => Until::Regex(pattern),
                4 => Until::Silent(Duration::from_millis(number)),
                _ => Until::Bytes(number),
            };
            prop_assert_eq!(until.to_string().parse(), Ok(until));
        }
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["", "exit:", "input:1", "silent", "silent:", "silent:-1", "silent:1s", "bytes:x", "Text:a", "regexp:a"] {
            assert!(text.parse::<Until>().is_err(), "{text}");
        }
    }
}
