//! Control groups, version 2, used for one thing: knowing and ending a whole process tree, whatever its members do.
//!
//! No controller is needed, so an otherwise empty hierarchy is enough. Groups are named by path; nothing is kept open.
//! See cgroups(7) and the kernel's `cgroup-v2` document.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, accessat, open};

use crate::pidfd::PidFd;

mod location;

/// A fork bomb can outrun single kills; a kernel with `cgroup.kill` needs one round.
const KILL_ROUNDS_MAX: usize = 64;

/// The kernel may hold a group for a moment after its last process left.
const REMOVE_ATTEMPTS_MAX: usize = 8;
const REMOVE_PAUSE: Duration = Duration::from_millis(1);

/// A tree of groups deeper than this is not ours.
const DEPTH_MAX: usize = 16;

/// The place where this process may make groups: below its own.
#[derive(Clone, Debug)]
pub struct Cgroups {
    own: PathBuf,
}

/// One group. Dropping it changes nothing: it lasts until [`Cgroup::remove`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    path: PathBuf,
}

impl Cgroups {
    /// Finds the hierarchy and our group in it, and tries whether we may make groups there and put processes into them.
    ///
    /// `None` where we may not (most containers, users without delegation) or where there is no version 2.
    pub fn detect() -> Option<Self> {
        let own = location::own_group().ok().flatten()?;
        let cgroups = Self { own };
        // Moving a process needs the right to write here, in the common ancestor, and not only in the new group.
        accessat(CWD, cgroups.own.join("cgroup.procs"), Access::WRITE_OK, AtFlags::EACCESS).ok()?;
        let probe = cgroups.create(&format!("crannog-probe-{}", std::process::id())).ok()?;
        let usable = probe.populated().is_ok();
        probe.remove().ok()?;
        usable.then_some(cgroups)
    }

    /// Makes a group below our own.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if there is one of this name: it may hold processes of an earlier run, see [`Cgroups::find`].
    pub fn create(&self, name: &str) -> io::Result<Cgroup> {
        create_in(&self.own, name)
    }

    /// A group that an earlier process made.
    pub fn find(&self, name: &str) -> io::Result<Option<Cgroup>> {
        let path = self.own.join(plain(name)?);
        Ok(path.is_dir().then_some(Cgroup { path }))
    }
}

impl Cgroup {
    /// The group at a path that was taken from [`Cgroup::path`] before, perhaps by another process.
    ///
    /// # Errors
    ///
    /// `NotFound` if it is gone, `InvalidInput` if it is something else than a group.
    pub fn at(path: &Path) -> io::Result<Self> {
        fs::metadata(path)?;
        if !path.join("cgroup.events").is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Makes a group within this one.
    pub fn child(&self, name: &str) -> io::Result<Self> {
        create_in(&self.path, name)
    }

    /// Where it is, to be found again by [`Cgroup::at`].
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its directory, close-on-exec: what [`crate::spawn::Command::cgroup`] takes.
    pub fn directory(&self) -> io::Result<OwnedFd> {
        Ok(open(&self.path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// The file that moves a process here when its pid (0 for the writer itself) is written; close-on-exec.
    ///
    /// Moving a process that runs already takes 5 to 20 ms; let it be born here instead.
    pub fn procs_fd(&self) -> io::Result<OwnedFd> {
        Ok(open(self.path.join("cgroup.procs"), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// The pids of all processes here and below that have not been reaped. Those of another pid namespace are 0 there and
    /// left out here.
    pub fn processes(&self) -> io::Result<Vec<u32>> {
        let mut pids = Vec::new();
        collect_processes(&self.path, DEPTH_MAX, &mut pids)?;
        pids.sort_unstable();
        pids.dedup();
        Ok(pids)
    }

    /// Some process here or below is alive. Zombies don't count.
    ///
    /// # Errors
    ///
    /// `NotFound` once the group is removed.
    pub fn populated(&self) -> io::Result<bool> {
        let events = fs::read_to_string(self.path.join("cgroup.events"))?;
        Ok(events.lines().any(|line| line == "populated 1"))
    }

    /// Sends a signal to every process here and below, and says to how many. One that appears meanwhile may be missed.
    ///
    /// The membership is read again after each process was pinned by its pidfd, so no signal can reach a stranger that got
    /// the number of a process that ended.
    pub fn signal(&self, signal: i32) -> io::Result<usize> {
        let pinned: Vec<(u32, PidFd)> = self.processes()?.into_iter().filter_map(|pid| Some((pid, PidFd::open(pid).ok()?))).collect();
        let still = self.processes()?;
        let reached = |(pid, pidfd): &&(u32, PidFd)| still.binary_search(pid).is_ok() && pidfd.send_signal(signal).is_ok();
        Ok(pinned.iter().filter(reached).count())
    }

    /// Ends every process here and below at once, also those that fork meanwhile. They may take a moment to be gone.
    ///
    /// # Errors
    ///
    /// `NotFound` once the group is removed. Without `cgroup.kill` (kernels before 5.14) `WouldBlock` when new processes
    /// kept appearing faster than they could be killed: try again.
    pub fn kill(&self) -> io::Result<()> {
        match fs::write(self.path.join("cgroup.kill"), "1") {
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.path.is_dir() => self.kill_one_by_one(),
            done => done,
        }
    }

    /// Removes the group and those below it, when no process is left in them.
    ///
    /// Blocks for a few milliseconds at most.
    ///
    /// # Errors
    ///
    /// `ResourceBusy` while a process is left. A group that is gone already is no error.
    pub fn remove(&self) -> io::Result<()> {
        for _ in 1..REMOVE_ATTEMPTS_MAX {
            match remove_tree(&self.path, DEPTH_MAX) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy && !self.populated().unwrap_or(false) => {
                    std::thread::sleep(REMOVE_PAUSE);
                }
                done => return done,
            }
        }
        remove_tree(&self.path, DEPTH_MAX)
    }

    fn kill_one_by_one(&self) -> io::Result<()> {
        for _ in 0..KILL_ROUNDS_MAX {
            if !self.populated()? {
                return Ok(());
            }
            self.signal(libc::SIGKILL)?;
        }
        if self.populated()? { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
    }
}

fn create_in(parent: &Path, name: &str) -> io::Result<Cgroup> {
    let path = parent.join(plain(name)?);
    DirBuilder::new().create(&path)?;
    Ok(Cgroup { path })
}

/// A name must stay one component, and not be one of the kernel's own files.
fn plain(name: &str) -> io::Result<&str> {
    let valid = !name.is_empty() && !name.starts_with('.') && !name.starts_with("cgroup.") && !name.contains(['/', '\n', '\0']);
    if valid { Ok(name) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

fn collect_processes(path: &Path, depth: usize, pids: &mut Vec<u32>) -> io::Result<()> {
    match fs::read_to_string(path.join("cgroup.procs")) {
        Ok(text) => pids.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()).filter(|pid| *pid != 0)),
        // A threaded group lists its processes in its ancestor.
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {}
        Err(error) if error.raw_os_error() == Some(libc::ENODEV) => return Err(io::ErrorKind::NotFound.into()),
        Err(error) => return Err(error),
    }
    for child in children(path, depth)? {
        match collect_processes(&child, depth - 1, pids) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => done?,
        }
    }
    Ok(())
}

fn remove_tree(path: &Path, depth: usize) -> io::Result<()> {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    };
    match children(path, depth) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?.iter().try_for_each(|child| remove_tree(child, depth - 1))?,
    }
    gone(fs::remove_dir(path))
}

/// The groups directly below; an error instead of an endless walk when there are too many levels.
fn children(path: &Path, depth: usize) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    if depth == 0 && !found.is_empty() {
        return Err(io::ErrorKind::QuotaExceeded.into());
    }
    Ok(found)
}
