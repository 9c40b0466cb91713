//! What the suite needs of a backend: a way to make sandboxes, and honest answers about what can be seen from outside.

use std::path::Path;

use crannog::{Host, SandboxOptions};

/// Something that a case may need beyond a sandbox. A place that lacks it makes the case say why it is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The guest is a process of this machine that may be stopped, killed and measured.
    GuestProcess,
    /// The caller is root: other users, mounts.
    Root,
    /// Private process namespaces can be made (`unshare --pid`).
    ProcessNamespace,
    /// A program that is not part of every system.
    Program(&'static str),
}

/// A backend under test.
pub trait Place: Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &'static str;

    /// Where this place keeps things. Every call makes a new, empty host.
    fn host(&self, root: &Path) -> Result<Host, crannog::Error>;

    /// Options that every sandbox of this place starts from.
    fn options(&self) -> SandboxOptions {
        SandboxOptions::new()
    }

    /// Why the place cannot give what is needed, or `None` when it can.
    fn lacks(&self, need: Need) -> Option<String>;

    /// The `conformance-client` program, for cases in which the caller is a process of its own.
    fn client(&self) -> &Path;
}
