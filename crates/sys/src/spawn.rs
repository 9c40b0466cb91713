//! Starting programs without ever copying this process.
//!
//! A child is made by `clone` with `CLONE_VM | CLONE_VFORK`: it borrows our memory and a stack of its own, and this
//! thread sleeps until it has run `execve` or failed. So a start costs the same however large the caller is, and a
//! failing step is reported through memory, exactly. The price is that between `clone` and `execve` nothing may allocate, lock
//! or panic; everything is therefore prepared before (`plan`), and the child (`child`) makes bare system calls only.

mod child;
mod clone3;
mod error;
mod launch;
mod plan;
mod stack;

use std::ffi::{CStr, CString};
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub use error::{SpawnError, SpawnReason, SpawnStep};
pub use rustix::process::Resource;

/// The user that a program runs as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Real, effective and saved user id.
    pub uid: u32,
    /// Real, effective and saved group id.
    pub gid: u32,
    /// The supplementary groups; they replace ours. Changing them needs `CAP_SETGID`.
    pub groups: Vec<u32>,
}

/// Everything about a start. Build it with [`Command::new`] and set the fields that matter.
///
/// In the child every signal has its default disposition, none is blocked, and no descriptor is open but the three of
/// `stdio` and those of `keep_fds`.
#[derive(Debug)]
pub struct Command {
    /// The paths to try, in order, as execvp(3) does; see [`search_path`]. Relative ones start at the new working directory.
    pub search_path: Vec<CString>,
    /// The arguments, the name of the program first.
    pub argv: Vec<CString>,
    /// The whole environment, as `NAME=value`. Nothing is inherited.
    pub environment: Vec<CString>,
    /// The working directory as a path; entered with the rights of `user`. Ours if neither this nor `directory` is set.
    pub cwd: Option<CString>,
    /// The working directory as a descriptor; it wins over `cwd`. Entered with our own rights, as whoever opened it had them.
    pub directory: Option<OwnedFd>,
    /// Standard input, output and error.
    pub stdio: [OwnedFd; 3],
    /// Makes standard input, which must be a terminal, the controlling terminal. Needs `new_session`.
    pub controlling_terminal: bool,
    /// Starts a session: the child leads it and its process group, and has no controlling terminal.
    pub new_session: bool,
    /// Runs as somebody else.
    pub user: Option<Credentials>,
    /// Resource limits: soft, hard. `u64::MAX` is "unlimited".
    pub limits: Vec<(Resource, u64, u64)>,
    /// The mask of file modes.
    pub umask: u32,
    /// The directory of the cgroup (v2) that the child is born into, see [`crate::cgroup::Cgroup::directory`].
    pub cgroup: Option<OwnedFd>,
    /// Programs can't gain privileges by set-user-id files; see `PR_SET_NO_NEW_PRIVS`(2const).
    pub no_new_privs: bool,
    /// The signal that the child gets when the *thread* that started it ends. Not with `detached`.
    pub parent_death_signal: Option<i32>,
    /// How readily the kernel kills it when memory is short, −1000 to 1000; see `proc_pid_oom_score_adj(5)`. A caller that is neither
    /// root nor dumpable may not set it: until it runs its program the child counts as the caller.
    pub oom_score_adj: Option<i32>,
    /// Descriptors that the child has besides 0, 1 and 2, and their numbers there (3 or more).
    pub keep_fds: Vec<(OwnedFd, RawFd)>,
    /// The program becomes a child of init, or of the nearest subreaper, which may be ourselves.
    pub detached: bool,
}

/// A started program.
#[derive(Debug)]
pub struct Spawned {
    /// Its process id.
    pub pid: u32,
    /// Its pidfd, close-on-exec; none on kernels before 5.2.
    pub pidfd: Option<OwnedFd>,
}

impl Command {
    /// A command with an empty environment and umask 022, in our working directory, session and cgroup, as ourselves.
    pub fn new(search_path: Vec<CString>, argv: Vec<CString>, stdio: [OwnedFd; 3]) -> Self {
        Self {
            search_path,
            argv,
            environment: Vec::new(),
            cwd: None,
            directory: None,
            stdio,
            controlling_terminal: false,
            new_session: false,
            user: None,
            limits: Vec::new(),
            umask: 0o022,
            cgroup: None,
            no_new_privs: false,
            parent_death_signal: None,
            oom_score_adj: None,
            keep_fds: Vec::new(),
            detached: false,
        }
    }
}

/// The candidates for a program name: itself if it has a slash, else one path for each directory of `path` (the value
/// of the variable `PATH`). An empty directory means the working directory, as in execvp(3).
///
/// Empty when `program` is empty: starting it fails with [`SpawnReason::ProgramNotFound`].
pub fn search_path(program: &CStr, path: &CStr) -> Vec<CString> {
    let name = program.to_bytes();
    if name.is_empty() {
        return Vec::new();
    }
    if name.contains(&b'/') {
        return vec![program.to_owned()];
    }
    let join = |directory: &[u8]| {
        let directory = Path::new(std::ffi::OsStr::from_bytes(if directory.is_empty() { b"." } else { directory }));
        let candidate = directory.join(std::ffi::OsStr::from_bytes(name));
        CString::new(candidate.into_os_string().into_encoded_bytes()).expect("both parts come from C strings, which hold no NUL")
    };
    path.to_bytes().split(|byte| *byte == b':').map(join).collect()
}

/// Starts a program and returns when it runs (its `execve` succeeded) or could not be started.
///
/// The calling thread is blocked meanwhile, typically for less than a millisecond, and longer if the program lies on a
/// slow file system. A child that could not be started has been reaped. A started one must be reaped by the caller
/// ([`crate::reaper`]), unless it is `detached`.
///
/// A file that is executable but in no known format is run by `/bin/sh`, as execvp(3) does.
pub fn spawn(command: &Command) -> Result<Spawned, SpawnError> {
    launch::launch(command)
}
