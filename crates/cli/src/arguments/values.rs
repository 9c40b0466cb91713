//! Values as they are typed: durations, variables, signals.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use crannog::{Signal, limits};

/// Reads a time: a number of seconds, or a number with `ms`, `s`, `m`, `h` or `d`. Fractions are fine.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    const FORM: &str = "expected a time such as 90, 1.5s, 250ms, 10m, 2h or 7d";
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit_seconds = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(FORM.to_owned()),
    };
    // Only digits and a point: the standard parser would also take `inf`, `nan` and exponents.
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(FORM.to_owned());
    }
    let number: f64 = digits.parse().map_err(|_| FORM.to_owned())?;
    Duration::try_from_secs_f64(number * unit_seconds).map_err(|_| "this time is too long".to_owned())
}

/// Reads a time that must be longer than none.
pub(crate) fn timeout(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if time.is_zero() {
        return Err("a time of 0 would end it before it begins; leave the option out for no limit".to_owned());
    }
    Ok(time)
}

/// Reads a signal by name or number.
pub(crate) fn signal(text: &str) -> Result<Signal, String> {
    Signal::parse(text).ok_or_else(|| "expected a signal such as TERM, SIGINT or 9".to_owned())
}

/// The parser for a terminal's rows or columns.
pub(crate) fn side() -> impl TypedValueParser<Value = u16> {
    clap::value_parser!(u16).range(1..=i64::from(limits::TERMINAL_SIDE_MAX))
}

/// A variable for a command's environment, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

impl Variable {
    /// Reads `NAME=VALUE`.
    pub(crate) fn parse(text: OsString) -> Result<Self, String> {
        let mut name = text.into_vec();
        let Some(equals) = name.iter().position(|byte| *byte == b'=') else {
            return Err("expected NAME=VALUE".to_owned());
        };
        let value = name.split_off(equals + 1);
        name.truncate(equals);
        if name.is_empty() {
            return Err("the name in front of = is empty".to_owned());
        }
        Ok(Self { name, value })
    }

    /// The parser for clap. Not only UTF-8 may be given.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(Self::parse)
    }

    /// As the library takes them.
    pub(crate) fn pairs(variables: Vec<Self>) -> Vec<(Vec<u8>, Vec<u8>)> {
        variables.into_iter().map(|variable| (variable.name, variable.value)).collect()
    }
}

/// The bytes of arguments, exactly as they were given.
pub(crate) fn bytes_of(arguments: &[OsString]) -> Vec<Vec<u8>> {
    arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::time::Duration;

    use super::{Variable, duration, timeout};

    #[test]
    fn durations_take_units_and_fractions() {
        let cases = [("90", 90_000), ("1.5s", 1_500), ("250ms", 250), ("10m", 600_000), ("2h", 7_200_000), ("7d", 604_800_000)];
        for (text, milliseconds) in cases {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn durations_refuse_what_is_no_time() {
        for text in ["", "s", "ten", "-1", "1e3", "inf", "nan", "1.2.3", "5 s", "5y", "99999999999999999999999d"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(timeout("0").is_err());
    }

    #[test]
    fn a_variable_splits_at_the_first_equals_and_keeps_bytes() {
        let variable = Variable::parse(OsString::from_vec(b"A=b=\xff".to_vec())).unwrap();
        assert_eq!((variable.name.as_slice(), variable.value.as_slice()), (&b"A"[..], &b"b=\xff"[..]));
        assert!(Variable::parse(OsString::from("A")).is_err());
        assert!(Variable::parse(OsString::from("=b")).is_err());
    }
}
