//! Why a program could not be started: the step, the word of the kernel, and what that means to the caller.

use std::fmt;
use std::io;

/// What a start does, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum SpawnStep {
    /// Checking the command and making its descriptors ready, in the caller.
    Prepare = 1,
    /// Making the child.
    Clone,
    /// Entering the cgroup.
    Cgroup,
    /// Starting a session.
    Session,
    /// Placing the descriptors.
    Descriptors,
    /// Taking the controlling terminal.
    ControllingTerminal,
    /// Setting the out-of-memory score.
    OomScore,
    /// Setting a resource limit.
    Limit,
    /// Setting the supplementary groups.
    Groups,
    /// Changing the group.
    Group,
    /// Changing the user.
    User,
    /// Entering the working directory.
    Directory,
    /// Giving up new privileges.
    NoNewPrivileges,
    /// Tying the child to its parent.
    ParentDeath,
    /// Running the program.
    Exec,
}

impl SpawnStep {
    const ALL: [Self; 15] = [
        Self::Prepare,
        Self::Clone,
        Self::Cgroup,
        Self::Session,
        Self::Descriptors,
        Self::ControllingTerminal,
        Self::OomScore,
        Self::Limit,
        Self::Groups,
        Self::Group,
        Self::User,
        Self::Directory,
        Self::NoNewPrivileges,
        Self::ParentDeath,
        Self::Exec,
    ];

    /// The step that a child reported by number.
    pub(super) fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|step| *step as i32 == number)
    }
}

impl fmt::Display for SpawnStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Prepare => "preparing the command",
            Self::Clone => "making the child process",
            Self::Cgroup => "entering the cgroup",
            Self::Session => "starting a session",
            Self::Descriptors => "placing the descriptors",
            Self::ControllingTerminal => "taking the controlling terminal",
            Self::OomScore => "setting the out-of-memory score",
            Self::Limit => "setting a resource limit",
            Self::Groups => "setting the supplementary groups",
            Self::Group => "changing the group",
            Self::User => "changing the user",
            Self::Directory => "entering the working directory",
            Self::NoNewPrivileges => "giving up new privileges",
            Self::ParentDeath => "tying the child to its parent",
            Self::Exec => "running the program",
        })
    }
}

/// A start that failed. Nothing of it is left: no process, no descriptor.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the program: {step} failed; {}", reason(*.step, .source).advice())]
pub struct SpawnError {
    /// The step that failed.
    pub step: SpawnStep,
    /// The word of the kernel.
    pub source: io::Error,
}

/// What a failed start means to whoever asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpawnReason {
    /// No candidate exists (or the interpreter that a script names does not).
    ProgramNotFound,
    /// The program exists but may not be executed, or is a directory.
    NotExecutable,
    /// Arguments and environment together are too long for the kernel, or one of them is over 128 KiB.
    ArgumentsTooLong,
    /// The working directory is missing or not a directory.
    DirectoryNotFound,
    /// The working directory may not be entered by this user.
    DirectoryForbidden,
    /// We may not become this user.
    UserForbidden,
    /// Processes, memory or descriptors ran out; later it may work.
    ResourcesExhausted,
    /// Anything else: see the step and the source.
    Other,
}

impl SpawnReason {
    fn advice(self) -> &'static str {
        match self {
            Self::ProgramNotFound => "check the name and the PATH, or install it",
            Self::NotExecutable => "make the file executable (chmod +x) or run it by its interpreter",
            Self::ArgumentsTooLong => "shorten the arguments or pass the data by a file or standard input",
            Self::DirectoryNotFound => "create the working directory or choose another",
            Self::DirectoryForbidden => "choose a working directory that the user may enter",
            Self::UserForbidden => "run as the current user or start with more privileges",
            Self::ResourcesExhausted => "end other processes or raise the limit, then try again",
            Self::Other => "the cause says why",
        }
    }
}

impl SpawnError {
    pub(super) fn new(step: SpawnStep, source: impl Into<io::Error>) -> Self {
        Self { step, source: source.into() }
    }

    pub(super) fn from_errno(step: SpawnStep, errno: i32) -> Self {
        Self::new(step, io::Error::from_raw_os_error(errno))
    }

    /// What it means to whoever asked for the start.
    pub fn reason(&self) -> SpawnReason {
        reason(self.step, &self.source)
    }
}

fn reason(step: SpawnStep, source: &io::Error) -> SpawnReason {
    match (step, source.raw_os_error().unwrap_or_default()) {
        (_, libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => SpawnReason::ResourcesExhausted,
        (SpawnStep::Exec, libc::ENOENT | libc::ENOTDIR) => SpawnReason::ProgramNotFound,
        (SpawnStep::Exec, libc::EACCES | libc::EPERM | libc::EISDIR | libc::ENOEXEC) => SpawnReason::NotExecutable,
        (SpawnStep::Exec, libc::E2BIG) => SpawnReason::ArgumentsTooLong,
        (SpawnStep::Directory, libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::ENAMETOOLONG) => SpawnReason::DirectoryNotFound,
        (SpawnStep::Directory, libc::EACCES) => SpawnReason::DirectoryForbidden,
        (SpawnStep::Groups | SpawnStep::Group | SpawnStep::User, libc::EPERM) => SpawnReason::UserForbidden,
        _ => SpawnReason::Other,
    }
}
