//! A real guest, started as a backend starts it, and ended with everything it runs.

use std::ffi::CString;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crannog_core::collect::{Collect, Until};
use crannog_core::process::{Connection, Program, StartSpec, Stdin};
use crannog_sys::pidfd::Identity;
use crannog_sys::reaper::{self, WaitStatus};
use crannog_sys::spawn::{Command, spawn};
use crannog_wire::{ClientOptions, GuestClient, GuestConfig, UnixConnector};
use tempfile::TempDir;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_crannog-guest");
/// Nothing here takes this long unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// A guest and its folder.
pub(crate) struct TestGuest {
    pub(crate) identity: Identity,
    folder: TempDir,
    ended: bool,
}

impl TestGuest {
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    /// A guest whose config was changed.
    pub(crate) fn with(change: impl FnOnce(&mut GuestConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("workspace");
        let spill = folder.path().join("spill");
        std::fs::create_dir(&workspace).unwrap();
        std::fs::create_dir(&spill).unwrap();
        let unique = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        let mut config = GuestConfig::new(format!("test{unique}"), workspace);
        config.spill = Some(spill);
        config.seed = u64::from(std::process::id());
        change(&mut config);
        let identity = launch(folder.path(), &config);
        Self { identity, folder, ended: false }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("guest.sock")
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("guest.log")).unwrap()
    }

    pub(crate) fn client(&self) -> GuestClient {
        GuestClient::new(UnixConnector::new(self.socket()), ClientOptions::default())
    }

    /// A client of a guest whose lease is confirmed without an end.
    pub(crate) async fn confirmed(&self) -> GuestClient {
        let client = self.client();
        client.renew(1, None).await.unwrap();
        client
    }

    pub(crate) fn signal(&self, signal: i32) {
        assert!(self.identity.signal(signal).unwrap(), "the guest is there");
    }

    /// Waits until the guest has ended and answers how.
    pub(crate) fn wait(mut self) -> WaitStatus {
        self.ended = true;
        let deadline = Instant::now() + PATIENCE;
        while self.identity.pin().unwrap().is_alive().unwrap() {
            assert!(Instant::now() < deadline, "the guest still runs; its log: {}", self.log());
            std::thread::sleep(Duration::from_millis(2));
        }
        reaper::wait_for(self.identity.pid).unwrap().0
    }
}

impl Drop for TestGuest {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let _ = self.identity.signal(SIGTERM);
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.identity.pin().is_ok_and(|guest| guest.is_alive().unwrap_or(false)) {
            if Instant::now() > deadline {
                let _ = self.identity.signal(SIGKILL);
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = reaper::wait_for(self.identity.pid);
    }
}

fn launch(folder: &Path, config: &GuestConfig) -> Identity {
    let listener = UnixListener::bind(folder.join("guest.sock")).unwrap();
    let mut config_file = tempfile::tempfile().unwrap();
    config_file.write_all(&config.encode()).unwrap();
    config_file.seek(SeekFrom::Start(0)).unwrap();
    let log = File::create(folder.join("guest.log")).unwrap();
    let null = File::open("/dev/null").unwrap();

    let program = CString::new(Path::new(PROGRAM).as_os_str().as_bytes()).unwrap();
    let words = ["crannog-guest", "serve", "--listen-fd", "3", "--config-fd", "4"];
    let argv = words.map(|word| CString::new(word).unwrap()).to_vec();
    let mut command = Command::new(vec![program], argv, [null.into(), log.try_clone().unwrap().into(), log.into()]);
    command.new_session = true;
    command.keep_fds = vec![(listener.into(), 3), (config_file.into(), 4)];
    Identity::of(spawn(&command).unwrap().pid).unwrap()
}

/// A shell command with pipes and no input.
pub(crate) fn shell(text: &str) -> StartSpec {
    StartSpec::new(Program::Shell(text.as_bytes().to_vec()))
}

/// The same, with input.
pub(crate) fn shell_with_input(text: &str) -> StartSpec {
    StartSpec { connection: Connection::Pipes(Stdin::Piped), ..shell(text) }
}

/// From `cursor`, until the process ends or `until` holds.
pub(crate) fn collect(cursor: u64, until: impl Into<Option<Until>>) -> Collect {
    Collect { cursor: Some(cursor), window: PATIENCE, until: until.into().into_iter().collect(), budget: None }
}

/// Waits until nobody has this pid any more.
pub(crate) async fn until_gone(pid: u32) {
    let deadline = Instant::now() + PATIENCE;
    while Identity::of(pid).is_ok() {
        assert!(Instant::now() < deadline, "process {pid} still runs");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The kernel's number that a command printed with `echo $$`.
pub(crate) fn printed_pid(text: &str) -> u32 {
    text.lines().next().unwrap().parse().unwrap()
}
