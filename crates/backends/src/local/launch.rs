//! Starting a guest: run directory, socket, process, first answer.
//!
//! The socket listens before the guest runs, so connecting needs no wait for readiness: the kernel keeps the connection until the guest
//! takes it.

use std::ffi::{CStr, CString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use crannog_core::limits;
use crannog_sys::spawn::{Command, spawn};
use crannog_wire::{ClientOptions, GuestClient, GuestConfig, Tracking, UnixConnector, WireError};

use crate::backend::{Place, Placed, Placement};
use crate::error::BackendError;
use crate::identity::GuestProcess;
use crate::local::connection::{SOCKET, check};
use crate::local::paths::Paths;
use crate::local::{destroy, guest_binary};

/// What a guest writes to; it bounds it itself.
const LOG: &str = "guest.log";
/// Transcripts that left memory.
const SPILL: &str = "spill";
/// The guest's copies of its socket and its config.
const LISTEN_FD: i32 = 3;
const CONFIG_FD: i32 = 4;
/// Bytes of the log's end that are told when a guest does not answer.
const LOG_TOLD_BYTES_MAX: u64 = 2_048;

/// Places a sandbox; takes everything back if its guest does not answer.
pub(super) async fn place(paths: &Paths, order: Place) -> Result<Placed, BackendError> {
    let placement = order.placement.clone();
    match start(paths, order).await {
        Ok(placed) => Ok(placed),
        Err((error, guest)) => {
            let failed = Placement { guest, ..placement };
            // The first failure is the one to tell.
            let _ = destroy::destroy(&failed, Duration::ZERO).await;
            Err(error)
        }
    }
}

/// A failure comes with the guest, if it was started.
async fn start(paths: &Paths, order: Place) -> Result<Placed, (BackendError, Option<GuestProcess>)> {
    let mut placement = order.placement.clone();
    let paths = paths.clone();
    let prepared = tokio::task::spawn_blocking(move || prepare(&paths, &order)).await;
    let started = prepared.unwrap_or_else(|source| Err(BackendError::Interrupted { source }));
    let (process, connector) = started.map_err(|error| (error, None))?;
    placement.guest = Some(process);
    let failed = |error, placement: &Placement| (error, placement.guest.clone());

    let guest = GuestClient::new(connector, ClientOptions { answer_timeout: limits::CONNECT_TIMEOUT });
    let hello = match guest.hello().await {
        Ok(hello) => hello,
        Err(source) => return Err(failed(silent(&placement.runtime, source), &placement)),
    };
    check(&placement, &hello).map_err(|error| failed(error, &placement))?;
    if let Tracking::Cgroup(path) = &hello.tracking {
        placement.cgroup = Some(path.clone());
    }
    Ok(Placed { guest, placement, hello })
}

/// Everything up to the running process.
fn prepare(paths: &Paths, order: &Place) -> Result<(GuestProcess, UnixConnector), BackendError> {
    let program = guest_binary::find(paths)?;
    let run = &order.placement.runtime;
    make_directories(paths, &order.placement)?;
    let directory = File::open(run).map_err(|source| make_failed(run, source))?;
    let listener = listen(&directory).map_err(|source| BackendError::Listen { path: run.join(SOCKET), source })?;
    let config = config_file(run, &config(order))?;
    let process = launch(&program, run, listener, config)?;
    Ok((process, UnixConnector::beneath(OwnedFd::from(directory), SOCKET)))
}

fn make_directories(paths: &Paths, placement: &Placement) -> Result<(), BackendError> {
    for passage in [paths.state(), &paths.workspaces(), paths.runtime()] {
        paths.make_passage(passage).map_err(|source| make_failed(passage, source))?;
    }
    if placement.workspace_owned {
        paths.make_workspace(&placement.workspace).map_err(|source| make_failed(&placement.workspace, source))?;
    }
    for private in [placement.runtime.clone(), placement.runtime.join(SPILL)] {
        let made = DirBuilder::new().mode(0o700).create(&private);
        made.map_err(|source| make_failed(&private, source))?;
    }
    Ok(())
}

fn make_failed(path: &Path, source: io::Error) -> BackendError {
    BackendError::Make { path: path.to_owned(), source }
}

fn listen(directory: &File) -> io::Result<UnixListener> {
    UnixListener::bind(format!("/proc/self/fd/{}/{SOCKET}", directory.as_raw_fd()))
}

fn config(order: &Place) -> GuestConfig {
    let placement = &order.placement;
    let mut config = GuestConfig::new(placement.sandbox.as_str(), &placement.workspace);
    config.environment.clone_from(&order.environment);
    config.spill = Some(placement.runtime.join(SPILL));
    config.spill_bytes = order.spill_bytes;
    config.processes_live_max = order.processes_live_max;
    config.lease_generation = placement.lease_generation;
    config.seed = order.seed;
    config
}

/// A file that holds the config and has no name any more: the environment may hold secrets, and a pipe might be too small.
fn config_file(run: &Path, config: &GuestConfig) -> Result<OwnedFd, BackendError> {
    let path = run.join("config");
    let written = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path).and_then(|mut file| {
        fs::remove_file(&path)?;
        file.write_all(&config.encode())?;
        file.seek(SeekFrom::Start(0))?;
        Ok(OwnedFd::from(file))
    });
    written.map_err(|source| make_failed(&path, source))
}

/// Starts the guest: nobody's child but init's, in a session of its own, with nothing of our environment.
fn launch(program: &Path, run: &Path, listener: UnixListener, config: OwnedFd) -> Result<GuestProcess, BackendError> {
    let path = run.join(LOG);
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(&path).map_err(|source| make_failed(&path, source))?;
    let copy = log.try_clone().map_err(|source| make_failed(&path, source))?;
    let null = File::open("/dev/null").map_err(|source| make_failed(Path::new("/dev/null"), source))?;

    let file = CString::new(program.as_os_str().as_bytes()).expect("a path that was looked up on disk has no NUL");
    let words: [&CStr; 6] = [c"crannog-guest", c"serve", c"--listen-fd", c"3", c"--config-fd", c"4"];
    let argv = words.map(CStr::to_owned).to_vec();
    let mut command = Command::new(vec![file], argv, [null.into(), copy.into(), log.into()]);
    command.cwd = Some(c"/".to_owned());
    command.umask = 0o077;
    command.new_session = true;
    command.detached = true;
    command.keep_fds = vec![(listener.into(), LISTEN_FD), (config, CONFIG_FD)];
    let started = spawn(&command).map_err(|source| BackendError::Spawn { path: program.to_owned(), source })?;
    // One that ended already has no identity; then nobody will answer on the socket, and that is told with its log.
    Ok(GuestProcess::of(started.pid).unwrap_or(GuestProcess { pid: started.pid, start_time: 0, boot: String::new() }))
}

/// A guest that does not answer, with what it had to say.
fn silent(run: &Path, source: WireError) -> BackendError {
    let tail = |mut file: File| {
        let len = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(len.saturating_sub(LOG_TOLD_BYTES_MAX)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        io::Result::Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let log = File::open(run.join(LOG)).and_then(tail).unwrap_or_default();
    BackendError::Silent { log, source }
}
