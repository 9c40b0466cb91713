//! What the kernel grants: handles on processes, terminals, `/proc`, cgroups, descriptors.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{PidfdFlags, Resource, getpid, getrlimit, pidfd_open};
use rustix::pty::{OpenptFlags, openpt};

use super::Check;

/// Descriptors that a guest with the default number of processes needs, with room: each process takes up to four.
const DESCRIPTORS_MIN: u64 = 1_024;

/// All of them.
pub(super) fn checks() -> Vec<Check> {
    vec![kernel(), process_handles(), terminals(), proc_files(), tracking(), descriptors()]
}

fn kernel() -> Check {
    let name = rustix::system::uname();
    Check::ok("kernel", format!("{} {}", name.release().to_string_lossy(), name.machine().to_string_lossy()))
}

fn process_handles() -> Check {
    match pidfd_open(getpid(), PidfdFlags::empty()) {
        Ok(_) => Check::ok("signals", "processes can be held by descriptor (pidfd)"),
        Err(error) => {
            Check::fail("signals", format!("pidfd_open: {error}"), "use Linux 5.9 or newer, and allow pidfd_open in the seccomp profile")
        }
    }
}

fn terminals() -> Check {
    match openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY) {
        Ok(_) => Check::ok("terminals", "terminals can be opened"),
        Err(error) => Check::fail("terminals", format!("/dev/ptmx: {error}"), "mount devpts at /dev/pts"),
    }
}

/// The files that say whether a process waits for input (`proc_pid_syscall(5)`).
fn proc_files() -> Check {
    if let Err(error) = fs::read_to_string("/proc/self/stat") {
        return Check::fail("proc", format!("/proc/self/stat: {error}"), "mount /proc");
    }
    match fs::read_to_string("/proc/self/syscall") {
        Ok(_) => Check::ok("proc", "/proc tells what processes wait for"),
        Err(error) => Check::warn(
            "proc",
            format!("/proc/self/syscall: {error}"),
            "waiting for input is told from the place in the kernel alone, which says less",
        ),
    }
}

fn tracking() -> Check {
    const HINT: &str = "process trees are followed by their lineage; a writable cgroup v2 tree makes that exact and killing atomic";
    let Some(mount) = cgroup_mount(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default()) else {
        return Check::warn("tracking", "lineage: no cgroup v2 tree is mounted", HINT);
    };
    let ours = own_cgroup(&mount, &fs::read_to_string("/proc/self/cgroup").unwrap_or_default());
    match try_leaf(&ours) {
        Ok(true) => Check::ok("tracking", format!("cgroup: {} can hold sandboxes", ours.display())),
        Ok(false) => Check::warn("tracking", "lineage: this kernel's cgroups cannot be killed at once", HINT),
        Err(error) => Check::warn("tracking", format!("lineage: {}: {error}", ours.display()), HINT),
    }
}

/// Makes a cgroup and removes it again. Answers whether it could have been killed.
fn try_leaf(parent: &Path) -> io::Result<bool> {
    let leaf = parent.join(format!("crannog-doctor-{}", std::process::id()));
    fs::create_dir(&leaf)?;
    let can_kill = leaf.join("cgroup.kill").exists();
    fs::remove_dir(&leaf)?;
    Ok(can_kill)
}

/// Where cgroup v2 is mounted, by `proc_pid_mountinfo(5)`: the fifth field is the place, the one behind the dash the type.
fn cgroup_mount(mountinfo: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let place = mount.split(' ').nth(4)?;
        source.starts_with("cgroup2 ").then(|| PathBuf::from(place))
    })
}

/// Our own cgroup in that tree, by cgroups(7): the line of hierarchy 0.
fn own_cgroup(mount: &Path, cgroups: &str) -> PathBuf {
    let path = cgroups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let own = if path.is_empty() { mount.to_owned() } else { mount.join(path) };
    // In a container the path may be the host's, which is not there.
    if own.is_dir() { own } else { mount.to_owned() }
}

fn descriptors() -> Check {
    let limit = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let told = if limit == u64::MAX { "unlimited".to_owned() } else { limit.to_string() };
    if limit < DESCRIPTORS_MIN {
        return Check::warn(
            "descriptors",
            format!("{told} open files at most"),
            "raise the hard limit (ulimit -Hn) to run many processes at once",
        );
    }
    Check::ok("descriptors", format!("{told} open files at most"))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{cgroup_mount, own_cgroup};

    #[test]
    fn the_second_version_is_found_beside_the_first() {
        let mountinfo = "30 24 0:26 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n\
                         31 24 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw\n";
        assert_eq!(cgroup_mount(mountinfo), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(cgroup_mount("1 2 0:1 / / rw - ext4 /dev/root rw\n"), None);
    }

    #[test]
    fn a_path_that_is_not_there_falls_back_to_the_mount() {
        assert_eq!(own_cgroup(Path::new("/"), "4:cpu:/x\n0::/no/such/group\n"), Path::new("/"));
        assert_eq!(own_cgroup(Path::new("/"), "0::/proc\n"), Path::new("/proc"));
    }
}
