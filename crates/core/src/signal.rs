//! Signals by name, and what a signal is aimed at.

use std::fmt;

/// A Linux signal that may be sent to a process (signal(7)); real-time signals are not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signal(u8);

const NAMES: &[(&str, u8)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("STKFLT", 16),
    ("CHLD", 17),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
    ("TTIN", 21),
    ("TTOU", 22),
    ("URG", 23),
    ("XCPU", 24),
    ("XFSZ", 25),
    ("VTALRM", 26),
    ("PROF", 27),
    ("WINCH", 28),
    ("IO", 29),
    ("PWR", 30),
    ("SYS", 31),
];

impl Signal {
    /// Hang-up.
    pub const HUP: Self = Self(1);
    /// Interrupt, as Ctrl-C sends it.
    pub const INT: Self = Self(2);
    /// Kill; cannot be caught.
    pub const KILL: Self = Self(9);
    /// Lets a stopped process go on.
    pub const CONT: Self = Self(18);
    /// Polite end.
    pub const TERM: Self = Self(15);

    /// The signal with this number, 1 to 31 on x86-64 and arm64.
    pub fn from_number(number: i32) -> Option<Self> {
        u8::try_from(number).ok().filter(|number| (1..=31).contains(number)).map(Self)
    }

    /// The signal with this name (`TERM`, `SIGTERM`, any case) or number.
    pub fn parse(text: &str) -> Option<Self> {
        let upper = text.trim().to_ascii_uppercase();
        let name = upper.strip_prefix("SIG").unwrap_or(&upper);
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, number)| Self(*number))
            .or_else(|| name.parse().ok().and_then(Self::from_number))
    }

    /// Its number.
    pub const fn number(self) -> i32 {
        self.0 as i32
    }

    /// Its name without `SIG`.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, number)| *number == self.0).map_or("?", |(name, _)| name)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SIG{}", self.name())
    }
}

/// Whom a signal reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Target {
    /// The terminal's foreground group; without a terminal, the process's own group.
    #[default]
    Foreground,
    /// The group the process was started in.
    Group,
    /// Every descendant, in whatever session or group.
    Tree,
}

#[cfg(test)]
mod tests {
    use super::Signal;

    #[test]
    fn names_and_numbers_parse() {
        for text in ["TERM", "sigterm", " SIGTERM ", "15"] {
            assert_eq!(Signal::parse(text), Some(Signal::TERM), "{text}");
        }
        for text in ["", "SIG", "0", "32", "-1", "NOPE"] {
            assert_eq!(Signal::parse(text), None, "{text}");
        }
    }
}
