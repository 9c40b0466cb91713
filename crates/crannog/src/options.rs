//! What a new sandbox is to be like, and what is refused.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use crannog_core::limits;

use crate::error::Error;

/// The wishes for a new sandbox. The default is a fresh workspace, no name, no extra environment, and a life until it is destroyed.
///
/// ```
/// use crannog::SandboxOptions;
///
/// let options = SandboxOptions::new().name("build").env("CI", "1").workspace("/srv/project");
/// assert_eq!(options.name.as_deref(), Some("build"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct SandboxOptions {
    /// A name that no other sandbox of the host has while this one lives: 1 to [`limits::NAME_BYTES_MAX`] bytes of `a-z A-Z 0-9 . _ -`,
    /// the first a letter or digit, and not of the form of an id.
    pub name: Option<String>,
    /// An existing directory to work in, which stays when the sandbox goes. `None`: a fresh one that goes with it.
    pub workspace: Option<PathBuf>,
    /// Variables for every command. A later one wins over an earlier.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// The sandbox ends this long after the last [`Sandbox::renew`](crate::Sandbox::renew). `None`: it lives until it is destroyed.
    pub lease: Option<Duration>,
    /// Processes that may live at once. `None`: [`limits::PROCESSES_LIVE_DEFAULT`].
    pub processes_live_max: Option<u32>,
    /// Bytes of each transcript kept on disk. `None`: [`limits::TRANSCRIPT_SPILL_BYTES_DEFAULT`].
    pub spill_bytes: Option<u64>,
}

impl SandboxOptions {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`name`](Self::name).
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets [`workspace`](Self::workspace).
    pub fn workspace(mut self, path: impl Into<PathBuf>) -> Self {
        self.workspace = Some(path.into());
        self
    }

    /// Adds to [`environment`](Self::environment).
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let bytes = |text: &OsStr| text.as_bytes().to_vec();
        self.environment.push((bytes(name.as_ref()), bytes(value.as_ref())));
        self
    }

    /// Sets [`lease`](Self::lease).
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// Sets [`processes_live_max`](Self::processes_live_max).
    pub fn processes_live_max(mut self, count: u32) -> Self {
        self.processes_live_max = Some(count);
        self
    }

    /// Sets [`spill_bytes`](Self::spill_bytes).
    pub fn spill_bytes(mut self, bytes: u64) -> Self {
        self.spill_bytes = Some(bytes);
        self
    }

    /// What makes these wishes impossible, if anything does.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        for (name, value) in &self.environment {
            if name.is_empty() || name.contains(&b'=') || name.contains(&0) || value.contains(&0) {
                return Err(Error::invalid(
                    "environment",
                    String::from_utf8_lossy(name),
                    "a variable needs a name without `=`, and neither name nor value may hold a NUL",
                ));
            }
        }
        check_lease(self.lease)?;
        if let Some(count) = self.processes_live_max
            && !(1..=limits::PROCESSES_LIVE_MAX).contains(&count)
        {
            let rule = format!("choose 1 to {}", limits::PROCESSES_LIVE_MAX);
            return Err(Error::invalid("processes_live_max", count, rule));
        }
        Ok(())
    }
}

/// Refuses a lease that is shorter or longer than any guest takes.
pub(crate) fn check_lease(lease: Option<Duration>) -> Result<(), Error> {
    match lease {
        Some(lease) if !(limits::LEASE_MIN..=limits::LEASE_MAX).contains(&lease) => {
            let rule = format!("choose {} s to {} s", limits::LEASE_MIN.as_secs(), limits::LEASE_MAX.as_secs());
            Err(Error::invalid("lease", format!("{lease:?}"), rule))
        }
        _ => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let valid = (1..=limits::NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(word)
        && name.as_bytes()[0].is_ascii_alphanumeric()
        && !name.starts_with(crannog_core::id::SandboxId::PREFIX);
    if valid {
        return Ok(());
    }
    let rule = format!(
        "use 1 to {} letters, digits, `.`, `_` or `-`, beginning with a letter or digit and not with `{}`",
        limits::NAME_BYTES_MAX,
        crannog_core::id::SandboxId::PREFIX
    );
    Err(Error::invalid("name", name, rule))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use super::SandboxOptions;

    #[test]
    fn impossible_wishes_are_refused_by_name_of_the_field() {
        let long = "x".repeat(64);
        for name in ["", "-a", ".hidden", "a b", "a/b", "sbx_1", "ü", &long] {
            let error = SandboxOptions::new().name(name).check().unwrap_err();
            assert_eq!(error.context()["argument"], "name", "{name}");
        }
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")] {
            assert!(SandboxOptions::new().env(name, value).check().is_err());
        }
        for lease in [Duration::ZERO, Duration::from_millis(999), Duration::MAX] {
            assert!(SandboxOptions::new().lease(lease).check().is_err());
        }
        assert!(SandboxOptions::new().processes_live_max(0).check().is_err());
        let fine = SandboxOptions::new().name("a.b_c-9").env("A", "=").lease(Duration::from_secs(1));
        assert!(fine.check().is_ok());
    }
}
