//! Ids: what they look like, and that one kind is never taken for another.

use std::fmt;

/// A sandbox: `sbx_` and a sortable unique part.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SandboxId(String);

impl SandboxId {
    /// The prefix of every sandbox id.
    pub const PREFIX: &str = "sbx_";

    /// Makes an id of 128 unique bits, which come from outside (a version 7 UUID sorts by creation).
    pub fn from_bits(bits: u128) -> Self {
        Self(format!("{}{bits:032x}", Self::PREFIX))
    }

    /// Reads an id. `None` unless it is the prefix and 32 lower-case hex digits, so an id is always a safe file name.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(Self::PREFIX)?;
        let valid = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        valid.then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A process of a sandbox: 1000 to 99999, never the kernel's number, never used twice while a reader may still ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

impl fmt::Display for ProcessId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
