//! What was measured on, and how busy it was with other things.

use std::fs;

use serde::Serialize;

/// The machine at one moment.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpus: usize,
    pub(crate) model: String,
    pub(crate) kernel: String,
    /// Processes that ran or wanted to, averaged over the last minute.
    pub(crate) load: f64,
}

impl Machine {
    pub(crate) fn look() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = text("/proc/cpuinfo");
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
        Self {
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            model: model.trim_start_matches(['\t', ' ', ':']).to_owned(),
            kernel: text("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: text("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default(),
        }
    }
}
