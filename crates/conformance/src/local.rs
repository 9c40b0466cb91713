//! The backend `local`: a guest beside us, under the same kernel.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crannog::Host;

use crate::place::{Need, Place};

/// Local sandboxes.
#[derive(Debug)]
pub struct Local {
    client: PathBuf,
}

impl Local {
    /// `client` is the `conformance-client` program.
    pub fn new(client: impl Into<PathBuf>) -> Self {
        Self { client: client.into() }
    }
}

impl Place for Local {
    fn name(&self) -> &'static str {
        "local"
    }

    fn host(&self, root: &Path) -> Result<Host, crannog::Error> {
        Host::at(root)
    }

    fn lacks(&self, need: Need) -> Option<String> {
        match need {
            Need::GuestProcess => None,
            Need::Root => (!is_root()).then(|| "only root may do this".to_owned()),
            Need::ProcessNamespace => {
                static WORKS: OnceLock<bool> = OnceLock::new();
                let works = *WORKS.get_or_init(|| succeeds(Command::new("unshare").args(["--pid", "--fork", "--mount-proc", "true"])));
                (!works).then(|| "no private process namespace can be made".to_owned())
            }
            Need::Program(name) => {
                let found = succeeds(Command::new("sh").args(["-c", &format!("command -v {name}")]).env("PATH", SANDBOX_PATH));
                (!found).then(|| format!("{name} is not installed"))
            }
        }
    }

    fn client(&self) -> &Path {
        &self.client
    }
}

/// Where commands of a sandbox look for programs.
const SANDBOX_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn succeeds(command: &mut Command) -> bool {
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}
