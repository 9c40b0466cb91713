//! Where the local backend keeps things.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crannog_core::id::SandboxId;

/// The two roots: of what must outlive a restart of the machine, and of what need not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    state: PathBuf,
    runtime: PathBuf,
    /// Commands may run as other users, who then have to get to their workspace.
    is_root: bool,
}

impl Paths {
    /// The roots that the environment names: all below `CRANNOG_HOME`; else, for root, `/var/lib/crannog` and `/run/crannog`; else `crannog`
    /// below `XDG_STATE_HOME` (`~/.local/state`) and `XDG_RUNTIME_DIR` (else `run` below the first). `None` without any home.
    pub fn from_environment() -> Option<Self> {
        Self::choose(|name| std::env::var_os(name).filter(|value| !value.is_empty()), is_root())
    }

    /// Everything below one directory, which must be absolute.
    pub fn below(directory: &Path) -> Self {
        Self { state: directory.to_owned(), runtime: directory.join("run"), is_root: is_root() }
    }

    fn choose(variable: impl Fn(&str) -> Option<OsString>, is_root: bool) -> Option<Self> {
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        if let Some(home) = variable("CRANNOG_HOME") {
            let home = std::path::absolute(home).ok()?;
            return Some(Self { runtime: home.join("run"), state: home, is_root });
        }
        if is_root {
            return Some(Self { state: "/var/lib/crannog".into(), runtime: "/run/crannog".into(), is_root });
        }
        let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?.join("crannog");
        let runtime = absolute("XDG_RUNTIME_DIR").map_or_else(|| state.join("run"), |runtime| runtime.join("crannog"));
        Some(Self { state, runtime, is_root })
    }

    /// The root of what must outlive a restart of the machine.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The root of what need not.
    pub fn runtime(&self) -> &Path {
        &self.runtime
    }

    /// The file of records, in a directory that only its owner may enter.
    pub fn store(&self) -> PathBuf {
        self.state.join("store/crannog.db")
    }

    /// The fresh workspace of a sandbox.
    pub fn workspace(&self, sandbox: &SandboxId) -> PathBuf {
        self.workspaces().join(sandbox.as_str())
    }

    pub(crate) fn workspaces(&self) -> PathBuf {
        self.state.join("workspaces")
    }

    /// The run directory of a sandbox.
    pub fn sandbox(&self, sandbox: &SandboxId) -> PathBuf {
        self.runtime.join(sandbox.as_str())
    }

    /// Guest programs that travelled inside another program.
    #[cfg(any(feature = "embedded-guest", test))]
    pub(crate) fn guests(&self) -> PathBuf {
        self.state.join("guest")
    }

    /// Makes the root of what must outlive a restart, before anything below it is.
    pub fn make_state(&self) -> io::Result<()> {
        self.make_passage(&self.state)
    }

    /// Makes a root or a directory of workspaces: others may pass through, if they know the way, only where other users run commands.
    pub(crate) fn make_passage(&self, directory: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(if self.is_root { 0o711 } else { 0o700 }).create(directory)
    }

    /// Makes a fresh workspace.
    pub(crate) fn make_workspace(&self, directory: &Path) -> io::Result<()> {
        DirBuilder::new().mode(if self.is_root { 0o755 } else { 0o700 }).create(directory)
    }
}

/// The effective user of this process is root.
fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    ids.and_then(|ids| ids.split_ascii_whitespace().nth(1)) == Some("0")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use super::Paths;

    fn choose(variables: &[(&str, &str)], is_root: bool) -> Option<(String, String)> {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        let paths = Paths::choose(variable, is_root)?;
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        Some((text(paths.state()), text(paths.runtime())))
    }

    #[test]
    fn the_environment_names_the_roots() {
        let is = |state: &str, runtime: &str| Some((state.to_owned(), runtime.to_owned()));
        assert_eq!(choose(&[("CRANNOG_HOME", "/a"), ("HOME", "/h")], true), is("/a", "/a/run"));
        assert_eq!(choose(&[("HOME", "/h")], true), is("/var/lib/crannog", "/run/crannog"));
        assert_eq!(choose(&[("HOME", "/h")], false), is("/h/.local/state/crannog", "/h/.local/state/crannog/run"));
        let set = [("HOME", "/h"), ("XDG_STATE_HOME", "/s"), ("XDG_RUNTIME_DIR", "/r")];
        assert_eq!(choose(&set, false), is("/s/crannog", "/r/crannog"));
        assert_eq!(choose(&[("XDG_STATE_HOME", "relative"), ("HOME", "/h")], false).unwrap().0, "/h/.local/state/crannog");
        assert_eq!(choose(&[], false), None);
    }
}
