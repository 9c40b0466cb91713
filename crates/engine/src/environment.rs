//! The environment of a command: clean, complete, and nothing of ours in it.
//!
//! Three layers: what every command gets, what the sandbox adds, what the command asks for; the later wins. The tags come last, because
//! a tree is found by them.

use std::collections::BTreeMap;
use std::ffi::CString;

use crate::error::EngineError;

/// The `PATH` of commands.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// The shell of `Program::Shell`, and `SHELL`.
pub(crate) const SHELL: &str = "/bin/sh";
/// Names the sandbox of a process.
pub(crate) const TAG_SANDBOX: &str = "CRANNOG_SANDBOX";
/// Names the sandbox and the process, `SANDBOX/ID`. Inherited by everything the process starts.
pub(crate) const TAG_PROCESS: &str = "CRANNOG_PROCESS";

/// Keeps programs without a terminal from asking questions that nobody would see, and pages out of the output.
const WITHOUT_TERMINAL: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// Who a command runs as, as far as its environment shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) name: Vec<u8>,
    pub(crate) home: Vec<u8>,
}

/// A variable as callers give it: name and value.
type Variable = (Vec<u8>, Vec<u8>);

/// An environment under construction.
#[derive(Debug)]
pub(crate) struct Environment {
    variables: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Environment {
    /// What every command gets.
    pub(crate) fn new(identity: &Identity, has_terminal: bool) -> Self {
        let mut environment = Self { variables: BTreeMap::new() };
        environment.set("PATH", PATH);
        environment.set("HOME", &identity.home);
        environment.set("USER", &identity.name);
        environment.set("LOGNAME", &identity.name);
        environment.set("SHELL", SHELL);
        environment.set("LANG", "C.UTF-8");
        if has_terminal {
            environment.set("TERM", "xterm-256color");
        } else {
            for (name, value) in WITHOUT_TERMINAL {
                environment.set(name, value);
            }
        }
        environment
    }

    /// Adds a layer. Refuses what no environment can hold.
    pub(crate) fn add(&mut self, variables: &[Variable]) -> Result<(), EngineError> {
        for (name, value) in variables {
            let problem = if name.is_empty() {
                "a variable has no name"
            } else if name.contains(&b'=') || name.contains(&0) {
                "a variable's name holds '=' or a NUL byte"
            } else if value.contains(&0) {
                "a variable's value holds a NUL byte"
            } else {
                self.variables.insert(name.clone(), value.clone());
                continue;
            };
            let name = String::from_utf8_lossy(name);
            return Err(EngineError::InvalidArgument { name: "environment", problem: format!("{problem}: {name:?}") });
        }
        Ok(())
    }

    /// Marks the command as a part of a process, whatever was asked for.
    pub(crate) fn tag(&mut self, sandbox: &str, process: &str) {
        self.set(TAG_SANDBOX, sandbox);
        self.set(TAG_PROCESS, process);
    }

    fn set(&mut self, name: &str, value: impl AsRef<[u8]>) {
        self.variables.insert(name.as_bytes().to_vec(), value.as_ref().to_vec());
    }

    /// Where programs are looked up.
    pub(crate) fn path(&self) -> CString {
        // A command without `PATH` is looked up where execvp(3) would: in the default one.
        let path = self.variables.get(b"PATH".as_slice()).map_or(PATH.as_bytes(), Vec::as_slice);
        CString::new(path).expect("values with NUL were refused")
    }

    /// Its size in the form that the kernel takes.
    pub(crate) fn bytes(&self) -> usize {
        self.variables.iter().map(|(name, value)| name.len() + value.len() + 2).sum()
    }

    /// `NAME=value` strings.
    pub(crate) fn into_strings(self) -> Vec<CString> {
        let join = |(name, value): Variable| CString::new([name, value].join(&b'=')).expect("names and values with NUL were refused");
        self.variables.into_iter().map(join).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Environment, Identity};

    fn identity() -> Identity {
        Identity { name: b"me".to_vec(), home: b"/home/me".to_vec() }
    }

    #[test]
    fn later_layers_win_and_tags_always_do() {
        let mut environment = Environment::new(&identity(), false);
        let pair = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        environment.add(&[pair("PAGER", "less"), pair("A", "1"), pair("A", "2"), pair("CRANNOG_SANDBOX", "forged")]).unwrap();
        environment.tag("sbx_1", "sbx_1/1000");
        let strings: Vec<String> = environment.into_strings().into_iter().map(|entry| entry.into_string().unwrap()).collect();
        for expected in ["PAGER=less", "A=2", "CRANNOG_SANDBOX=sbx_1", "CRANNOG_PROCESS=sbx_1/1000", "TERM=dumb", "HOME=/home/me"] {
            assert!(strings.iter().any(|entry| entry == expected), "{expected} in {strings:?}");
        }
        assert!(!strings.iter().any(|entry| entry == "A=1"));
    }

    #[test]
    fn what_no_environment_can_hold_is_refused() {
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")] {
            let mut environment = Environment::new(&identity(), true);
            let refused = environment.add(&[(name.as_bytes().to_vec(), value.as_bytes().to_vec())]);
            assert!(refused.is_err(), "{name:?}={value:?}");
        }
    }
}
