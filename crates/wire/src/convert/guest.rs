//! Who a guest is.

use std::path::PathBuf;
use std::time::Duration;

use super::{ConvertError, duration_ms};
use crate::message::{Hello, Tracking};
use crate::{GENERATION, proto};

impl From<Hello> for proto::HelloReply {
    fn from(hello: Hello) -> Self {
        let (tracking, cgroup) = match hello.tracking {
            Tracking::Cgroup(path) => ("cgroup", path.to_string_lossy().into_owned()),
            Tracking::Lineage => ("lineage", String::new()),
        };
        Self {
            generation: GENERATION,
            guest_version: hello.guest_version,
            sandbox: hello.sandbox,
            tracking: tracking.to_owned(),
            pid: hello.pid,
            uptime_ms: duration_ms(hello.uptime),
            processes_live: hello.processes_live,
            lease_remaining_ms: hello.lease_remaining.map(duration_ms),
            lease_generation: hello.lease_generation,
            cgroup,
        }
    }
}

impl TryFrom<proto::HelloReply> for Hello {
    type Error = ConvertError;

    fn try_from(hello: proto::HelloReply) -> Result<Self, ConvertError> {
        let tracking = match hello.tracking.as_str() {
            "cgroup" => Tracking::Cgroup(PathBuf::from(hello.cgroup)),
            "lineage" => Tracking::Lineage,
            _ => return Err(ConvertError::Invalid { field: "tracking", rule: "`cgroup` or `lineage`" }),
        };
        Ok(Self {
            guest_version: hello.guest_version,
            sandbox: hello.sandbox,
            tracking,
            pid: hello.pid,
            uptime: Duration::from_millis(hello.uptime_ms),
            processes_live: hello.processes_live,
            lease_remaining: hello.lease_remaining_ms.map(Duration::from_millis),
            lease_generation: hello.lease_generation,
        })
    }
}
