//! What a guest is told when it is started.
//!
//! One message on an inherited descriptor, so nothing of it shows in the guest's argument vector or environment.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::time::Duration;

use crannog_core::limits;
use prost::Message as _;

use crate::convert::{ConvertError, duration_ms};
use crate::proto;

/// Longest encoded config. The environment is the bulk of it.
pub const CONFIG_BYTES_MAX: usize = limits::ARGUMENT_BYTES_MAX + 64 * 1024;

/// The start of a guest.
#[derive(Clone, PartialEq, Eq)]
pub struct GuestConfig {
    /// The sandbox's id.
    pub sandbox: String,
    /// Absolute path of the workspace, as the guest sees it.
    pub workspace: PathBuf,
    /// Environment of every command, on top of the guest's clean one.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// Directory for transcripts on disk. `None`: they are kept in memory alone.
    pub spill: Option<PathBuf>,
    /// Bytes of one transcript on disk.
    pub spill_bytes: u64,
    /// Live processes at once, 1 to [`limits::PROCESSES_LIVE_MAX`].
    pub processes_live_max: u32,
    /// First lease generation; a renewal with an older one is refused.
    pub lease_generation: u64,
    /// How long the guest waits for its creator to confirm the lease.
    pub lease_unconfirmed: Duration,
    /// Follow process trees by cgroup where the kernel grants one.
    pub cgroups: bool,
    /// Which events are logged: a level, or a list of `target=level`. Empty: warnings.
    pub log_filter: String,
    /// Bits from which process ids are drawn.
    pub seed: u64,
}

impl GuestConfig {
    /// A guest with default limits.
    pub fn new(sandbox: impl Into<String>, workspace: impl Into<PathBuf>) -> Self {
        Self {
            sandbox: sandbox.into(),
            workspace: workspace.into(),
            environment: Vec::new(),
            spill: None,
            spill_bytes: limits::TRANSCRIPT_SPILL_BYTES_DEFAULT,
            processes_live_max: limits::PROCESSES_LIVE_DEFAULT,
            lease_generation: 1,
            lease_unconfirmed: limits::LEASE_UNCONFIRMED,
            cgroups: true,
            log_filter: String::new(),
            seed: 0,
        }
    }

    /// The message for the guest.
    pub fn encode(&self) -> Vec<u8> {
        let path = |path: &PathBuf| path.as_os_str().as_bytes().to_vec();
        proto::GuestConfig {
            sandbox: self.sandbox.clone(),
            workspace: path(&self.workspace),
            environment: self.environment.iter().cloned().map(|(name, value)| proto::Variable { name, value }).collect(),
            spill: self.spill.as_ref().map(path),
            spill_bytes: Some(self.spill_bytes),
            processes_live_max: Some(self.processes_live_max),
            lease_generation: self.lease_generation,
            lease_unconfirmed_ms: Some(duration_ms(self.lease_unconfirmed)),
            cgroups: self.cgroups,
            log_filter: self.log_filter.clone(),
            seed: self.seed,
        }
        .encode_to_vec()
    }

    /// Reads the message.
    pub fn decode(bytes: &[u8]) -> Result<Self, ConvertError> {
        let config = proto::GuestConfig::decode(bytes).map_err(ConvertError::Decode)?;
        let path = |bytes: Vec<u8>| PathBuf::from(OsString::from_vec(bytes));
        let workspace = path(config.workspace);
        if !workspace.is_absolute() {
            return Err(ConvertError::Invalid { field: "workspace", rule: "an absolute path" });
        }
        let processes_live_max = config.processes_live_max.unwrap_or(limits::PROCESSES_LIVE_DEFAULT);
        if !(1..=limits::PROCESSES_LIVE_MAX).contains(&processes_live_max) {
            return Err(ConvertError::Invalid { field: "processes_live_max", rule: "1 to 8192" });
        }
        Ok(Self {
            sandbox: config.sandbox,
            workspace,
            environment: crate::convert::environment(config.environment)?,
            spill: config.spill.map(path),
            spill_bytes: config.spill_bytes.unwrap_or(limits::TRANSCRIPT_SPILL_BYTES_DEFAULT),
            processes_live_max,
            lease_generation: config.lease_generation,
            lease_unconfirmed: config.lease_unconfirmed_ms.map_or(limits::LEASE_UNCONFIRMED, Duration::from_millis),
            cgroups: config.cgroups,
            log_filter: config.log_filter,
            seed: config.seed,
        })
    }
}

impl fmt::Debug for GuestConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        formatter
            .debug_struct("GuestConfig")
            .field("sandbox", &self.sandbox)
            .field("workspace", &self.workspace)
            .field("variables", &self.environment.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::GuestConfig;

    #[test]
    fn a_config_arrives_as_it_was_sent_and_debug_hides_values() {
        let mut config = GuestConfig::new("sbx_1", "/srv/w");
        config.environment = vec![(b"TOKEN".to_vec(), b"hunter2".to_vec())];
        config.spill = Some("/run/spill".into());
        assert_eq!(GuestConfig::decode(&config.encode()).unwrap(), config);
        assert!(!format!("{config:?}").contains("hunter2"));
    }

    #[test]
    fn a_config_that_cannot_be_meant_is_refused() {
        assert!(GuestConfig::decode(b"\xff\xff").is_err());
        assert!(GuestConfig::decode(&GuestConfig::new("sbx_1", "relative").encode()).is_err());
        let mut config = GuestConfig::new("sbx_1", "/w");
        config.processes_live_max = 0;
        assert!(GuestConfig::decode(&config.encode()).is_err());
    }
}
