//! Memory and processor time of processes, as the kernel counts them.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

/// A process that is measured.
#[derive(Debug, Clone)]
pub(crate) struct Meter {
    proc: String,
}

impl Meter {
    pub(crate) fn of(pid: u32) -> Self {
        Self { proc: format!("/proc/{pid}") }
    }

    pub(crate) fn of_this_program() -> Self {
        Self { proc: "/proc/self".to_owned() }
    }

    /// Resident bytes. Counted page by page: the figure in `status` may lag by some hundred kB.
    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        self.field("smaps_rollup", "Rss:")
    }

    /// Resident bytes, of pages shared with others only this process's share.
    pub(crate) fn proportional_bytes(&self) -> Result<u64> {
        self.field("smaps_rollup", "Pss:")
    }

    /// Most that was ever resident since the start or [`Meter::forget_peak`].
    pub(crate) fn peak_bytes(&self) -> Result<u64> {
        self.field("status", "VmHWM:")
    }

    /// Starts the peak anew from what is resident now (proc(5), `clear_refs`).
    pub(crate) fn forget_peak(&self) -> Result<()> {
        let path = format!("{}/clear_refs", self.proc);
        fs::write(&path, "5").with_context(|| format!("{path}: run as the user of the process, or as root"))
    }

    /// Processor time of all its present threads together.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let mut nanoseconds = 0;
        let tasks = format!("{}/task", self.proc);
        for task in fs::read_dir(&tasks).with_context(|| tasks.clone())? {
            let path = task?.path().join("schedstat");
            // A thread may end between the listing and the look.
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let first = text.split(' ').next().context("schedstat is empty")?;
            nanoseconds += first.parse::<u64>().with_context(|| path.display().to_string())?;
        }
        ensure!(nanoseconds > 0, "the kernel does not count processor time in schedstat");
        Ok(Duration::from_nanos(nanoseconds))
    }

    fn field(&self, file: &str, name: &str) -> Result<u64> {
        let path = format!("{}/{file}", self.proc);
        let text = fs::read_to_string(&path).with_context(|| format!("{path}: another user's process needs root"))?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("{path} has no {name}"))?;
        let kibibytes: u64 = value.trim().trim_end_matches(" kB").parse().with_context(|| format!("{path}: {name}{value}"))?;
        Ok(kibibytes * 1024)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Meter;

    #[test]
    fn the_peak_shows_memory_that_was_given_back() {
        const BYTES: u64 = 32 << 20;
        let meter = Meter::of_this_program();
        meter.forget_peak().unwrap();
        let before = meter.resident_bytes().unwrap();
        drop(std::hint::black_box(vec![1_u8; usize::try_from(BYTES).unwrap()]));
        assert!(meter.peak_bytes().unwrap() > before + BYTES / 2);
        assert!(meter.proportional_bytes().unwrap() <= meter.resident_bytes().unwrap());
        assert!(!meter.cpu().unwrap().is_zero());
    }
}
