//! Who descends from a process, read from `/proc`: the way to know a tree where no cgroup can be made.
//!
//! A daemon leaves its parent (double fork) and its session (setsid), but not its environment. So membership has three
//! marks, each enough: parentage, session or group shared with a member, and a tag in the environment that a process
//! started with. A snapshot may miss what is born while it is taken; whoever kills by it repeats until it comes back empty.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Read};

use rustix::fs::{Dir, Mode, OFlags, open, openat};

use crate::pidfd::Identity;

/// Longer than any `stat`: the name has at most 64 bytes and the 51 numbers 20 digits each.
const STAT_BYTES_MAX: usize = 2048;

/// The kernel's own bound on arguments and environment together.
const ENVIRON_BYTES_MAX: u64 = 6 * 1024 * 1024;

/// One process at the time of the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The pid.
    pub pid: u32,
    /// The state as `/proc` writes it: `R` running, `S` sleeping, `D` waiting for a device, `T` stopped, `Z` zombie…
    pub state: u8,
    /// The parent's pid.
    pub parent: u32,
    /// The process group.
    pub group: u32,
    /// The session.
    pub session: u32,
    /// The device number of the controlling terminal (as `st_rdev`), 0 for none.
    pub terminal: u64,
    /// The number of threads.
    pub threads: u32,
    /// When it started, in clock ticks since boot.
    pub start_time: u64,
}

/// All processes that could be seen at one time.
#[derive(Clone, Debug, Default)]
pub struct ProcessTable {
    processes: BTreeMap<u32, Process>,
}

impl Process {
    /// Its name for good.
    pub fn identity(&self) -> Identity {
        Identity { pid: self.pid, start_time: self.start_time }
    }

    /// Something of it can still run. A leader that ended before its other threads looks like a zombie but is not.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x') || self.threads > 1
    }

    /// It is on a processor, waits for one, or waits in the kernel without being interruptible: it may write soon.
    pub fn is_busy(&self) -> bool {
        matches!(self.state, b'R' | b'D')
    }
}

impl ProcessTable {
    /// The process with this pid.
    pub fn get(&self, pid: u32) -> Option<&Process> {
        self.processes.get(&pid)
    }

    /// All of them, by pid.
    pub fn iter(&self) -> impl Iterator<Item = &Process> {
        self.processes.values()
    }

    fn living(&self) -> impl Iterator<Item = &Process> {
        self.iter().filter(|process| process.is_alive())
    }
}

impl FromIterator<Process> for ProcessTable {
    fn from_iter<I: IntoIterator<Item = Process>>(processes: I) -> Self {
        Self { processes: processes.into_iter().map(|process| (process.pid, process)).collect() }
    }
}

/// Reads the table. Costs 5 to 25 µs for each process of the machine, so a busy one takes milliseconds: not for tight loops.
pub fn snapshot() -> io::Result<ProcessTable> {
    let proc = open("/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut buffer = [0; STAT_BYTES_MAX];
    let mut table = ProcessTable::default();
    for entry in Dir::read_from(&proc)? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.to_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let mut path = name.to_bytes().to_vec();
        path.extend_from_slice(b"/stat");
        // Whoever ended since the directory was read is simply not there.
        let Ok(file) = openat(&proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else { continue };
        let Ok(length) = rustix::io::read(&file, &mut buffer[..]) else { continue };
        if let Some(process) = parse_stat(&buffer[..length]) {
            table.processes.insert(process.pid, process);
        }
    }
    Ok(table)
}

/// The living members of the tree of `root`, by pid.
///
/// They are: `root` itself, whoever descends from a member, whoever shares a session or group with one or has one of
/// `sessions`, and whoever was started with the environment entry `tag` (`NAME=value`; empty for none). Our own process
/// and session and init are never members.
///
/// `root` may have ended: what it left is found by its session, which keeps its number, by `sessions` and by the tag.
pub fn members(table: &ProcessTable, root: Identity, tag: &[u8], sessions: &[u32]) -> Vec<Identity> {
    let tagged = |pid| !tag.is_empty() && has_environment_entry(pid, tag);
    let own_session = table.get(std::process::id()).map_or(0, |process| process.session);
    members_where(table, root, sessions, &[std::process::id(), 1], own_session, tagged)
}

/// All living processes that were started with an environment entry: what is left of a sandbox whose guest is gone.
pub fn tagged(table: &ProcessTable, tag: &[u8]) -> Vec<Identity> {
    let own = std::process::id();
    table.living().filter(|process| process.pid != own && has_environment_entry(process.pid, tag)).map(Process::identity).collect()
}

/// The rule without the machine.
fn members_where(
    table: &ProcessTable,
    root: Identity,
    sessions: &[u32],
    strangers: &[u32],
    own_session: u32,
    tagged: impl Fn(u32) -> bool,
) -> Vec<Identity> {
    let mut tree = Tree { members: HashSet::new(), groups: sessions.iter().copied().collect(), own_session };
    let root_reused = table.get(root.pid).is_some_and(|process| process.identity() != root);
    if !root_reused {
        tree.members.insert(root.pid);
        tree.groups.insert(root.pid);
    }
    tree.groups.retain(|group| ![0, own_session].contains(group));
    let mut rest: Vec<&Process> = table.living().filter(|process| !strangers.contains(&process.pid)).collect();
    tree.grow(&mut rest);
    // The tag costs most, so it is asked last, once, and of those only who don't belong for another reason.
    let (by_tag, mut rest): (Vec<&Process>, Vec<&Process>) = rest.into_iter().partition(|process| tagged(process.pid));
    for process in by_tag {
        tree.add(process);
    }
    tree.grow(&mut rest);
    table.living().filter(|process| tree.members.contains(&process.pid)).map(Process::identity).collect()
}

/// A tree while it is found.
struct Tree {
    members: HashSet<u32>,
    /// Sessions and process groups that belong to it; both are numbers of processes.
    groups: HashSet<u32>,
    own_session: u32,
}

impl Tree {
    /// Moves everybody who belongs out of `rest`, until nobody does any more.
    fn grow(&mut self, rest: &mut Vec<&Process>) {
        loop {
            let before = rest.len();
            rest.retain(|process| {
                let belongs = self.claims(process);
                if belongs {
                    self.add(process);
                }
                !belongs
            });
            if rest.len() == before {
                break;
            }
        }
    }

    fn claims(&self, process: &Process) -> bool {
        [process.pid, process.parent].iter().any(|pid| self.members.contains(pid))
            || [process.session, process.group].iter().any(|group| self.groups.contains(group))
    }

    fn add(&mut self, process: &Process) {
        self.members.insert(process.pid);
        if process.session != self.own_session {
            self.groups.extend([process.session, process.group].into_iter().filter(|group| *group != 0));
        }
    }
}

/// Whether a process was started with exactly this entry in its environment. False where we may not look.
pub fn has_environment_entry(pid: u32, entry: &[u8]) -> bool {
    let Ok(file) = File::open(format!("/proc/{pid}/environ")) else { return false };
    let mut environment = Vec::new();
    // What was read before an error still counts.
    let _ = file.take(ENVIRON_BYTES_MAX).read_to_end(&mut environment);
    environment.split(|byte| *byte == 0).any(|candidate| candidate == entry)
}

/// One process from the text of its `stat`, see `proc_pid_stat(5)`.
pub(crate) fn parse_stat(stat: &[u8]) -> Option<Process> {
    // The name is in parentheses and may contain anything, so its end is the last one.
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let pid = std::str::from_utf8(stat.get(..open)?).ok()?.trim_end().parse().ok()?;
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |index: usize| -> Option<i64> { fields.get(index - 3)?.parse().ok() };
    Some(Process {
        pid,
        state: *fields.first()?.as_bytes().first()?,
        parent: unsigned(number(4)?),
        group: unsigned(number(5)?),
        session: unsigned(number(6)?),
        terminal: device(number(7)?),
        threads: unsigned(number(20)?),
        start_time: fields.get(22 - 3)?.parse().ok()?,
    })
}

/// Ids of another pid namespace are written as 0 or −1.
fn unsigned(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// The kernel writes 12 bits of major and 20 of minor number, packed into a signed int.
fn device(packed: i64) -> u64 {
    let packed = u32::from_ne_bytes(i32::try_from(packed).unwrap_or(0).to_ne_bytes());
    rustix::fs::makedev((packed >> 8) & 0xfff, (packed & 0xff) | ((packed >> 12) & 0xf_ff00))
}

#[cfg(test)]
mod tests;
