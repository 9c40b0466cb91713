//! Guests that can't be mistaken for later processes with the same number, also after the machine was started again.

use std::fs;
use std::io;

use crannog_sys::pidfd::{Identity, PidFd};

/// A process, known by its number, when it started, and in which run of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestProcess {
    /// Its kernel number.
    pub pid: u32,
    /// When it started, in clock ticks since the machine did (`proc_pid_stat(5)`, field 22).
    pub start_time: u64,
    /// Which run of the machine (`/proc/sys/kernel/random/boot_id`).
    pub boot: String,
}

impl GuestProcess {
    /// The process that has this number now.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let Identity { pid, start_time } = Identity::of(pid)?;
        Ok(Self { pid, start_time, boot: boot() })
    }

    /// This process. `None` where `/proc` can't be read.
    pub fn this() -> Option<Self> {
        Self::of(std::process::id()).ok()
    }

    /// It runs. One that has ended and was not reaped does not.
    pub fn is_alive(&self) -> bool {
        self.pin().is_some_and(|process| process.is_alive().unwrap_or(true))
    }

    /// It is stopped (SIGSTOP, a debugger), so it will not answer.
    pub(crate) fn is_stopped(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let state = status.lines().find_map(|line| line.strip_prefix("State:"));
        state.is_some_and(|state| state.trim_start().starts_with(['T', 't'])) && self.is_alive()
    }

    /// Pins it. `None` if it is gone.
    pub(crate) fn pin(&self) -> Option<PidFd> {
        if self.boot != boot() {
            return None;
        }
        Identity { pid: self.pid, start_time: self.start_time }.pin().ok()
    }
}

/// The machine's run. Empty where the kernel does not tell; then numbers and start times have to do.
fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::GuestProcess;

    fn eventually(what: &str, condition: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !condition() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_process_is_alive_until_it_has_ended_even_if_nobody_reaped_it() {
        let mut cat = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let process = GuestProcess::of(cat.id()).unwrap();
        assert!(process.is_alive() && !process.is_stopped());
        let (mut later, mut reboot) = (process.clone(), process.clone());
        later.start_time += 1;
        reboot.boot.push('x');
        assert!(!later.is_alive() && !reboot.is_alive());
        process.pin().unwrap().send_signal(19).unwrap();
        eventually("it stops", || process.is_stopped());
        process.pin().unwrap().send_signal(18).unwrap();
        drop(cat.stdin.take());
        eventually("it ends", || !process.is_alive());
        cat.wait().unwrap();
        assert!(GuestProcess::this().unwrap().is_alive());
    }
}
