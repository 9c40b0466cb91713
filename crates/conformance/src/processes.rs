//! What the kernel says about processes, from outside the sandbox: the judge of "nothing is left".

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A process as seen in `/proc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its number.
    pub pid: u32,
    /// Its arguments, separated by spaces.
    pub command: String,
    /// State letter, as proc(5) has them.
    pub state: char,
}

/// Waits until `condition` holds, at most `limit`. Returns whether it came to hold.
pub async fn eventually(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if condition() {
            return true;
        }
        if start.elapsed() >= limit {
            return condition();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Running processes whose arguments contain `marker`.
pub fn matching(marker: &str) -> Vec<Seen> {
    all().filter(|seen| seen.state != 'Z' && seen.command.contains(marker)).collect()
}

/// Running processes that carry the mark of this sandbox in their environment.
pub fn of_sandbox(id: &str) -> Vec<Seen> {
    let tag = format!("CRANNOG_SANDBOX={id}");
    let tagged = |seen: &Seen| {
        let environment = fs::read(format!("/proc/{}/environ", seen.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == tag.as_bytes())
    };
    all().filter(|seen| seen.state != 'Z' && tagged(seen)).collect()
}

/// Running processes that have anything to do with this directory: by argument, environment, working directory or descriptor.
pub fn touching(directory: &Path) -> Vec<Seen> {
    let text = directory.to_string_lossy();
    let touches = |seen: &Seen| {
        let environment = fs::read(format!("/proc/{}/environ", seen.pid)).unwrap_or_default();
        let cwd = fs::read_link(format!("/proc/{}/cwd", seen.pid)).unwrap_or_default();
        seen.command.contains(&*text)
            || String::from_utf8_lossy(&environment).contains(&*text)
            || cwd.starts_with(directory)
            || descriptors(seen.pid).unwrap_or_default().iter().any(|path| path.starts_with(directory))
    };
    all().filter(|seen| seen.state != 'Z' && seen.pid != std::process::id() && touches(seen)).collect()
}

/// Children of `parent`, dead ones that nobody waited for included.
pub fn children(parent: u32) -> Vec<Seen> {
    all().filter(|seen| parent_of(seen.pid) == Some(parent)).collect()
}

/// The process with this number, unless it is gone or a zombie.
pub fn running(pid: u32) -> Option<Seen> {
    seen(pid).filter(|seen| seen.state != 'Z')
}

/// Open descriptors, as what they point to. `None` when the kernel refuses to say.
pub fn descriptors(pid: u32) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    Some(entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).collect())
}

/// Resident memory in bytes.
pub fn resident_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
}

/// Processor time used so far, user and kernel. The kernel counts in hundredths of a second.
pub fn processor_time(pid: u32) -> Duration {
    let ticks: u64 = stat_fields(pid).map_or(0, |fields| {
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
        number(11) + number(12)
    });
    Duration::from_millis(ticks * 10)
}

/// The parent's number.
pub fn parent_of(pid: u32) -> Option<u32> {
    stat_fields(pid)?.get(1)?.parse().ok()
}

fn all() -> impl Iterator<Item = Seen> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(seen)
}

fn seen(pid: u32) -> Option<Seen> {
    let state = stat_fields(pid)?.first()?.chars().next()?;
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let command = String::from_utf8_lossy(&arguments).trim_end_matches('\0').replace('\0', " ");
    Some(Seen { pid, command, state })
}

/// Fields of `/proc/PID/stat` from the state on; the name before it may hold anything, so it is cut at its last parenthesis.
fn stat_fields(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, rest) = stat.rsplit_once(") ")?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}
