//! The life of a guest: from two inherited descriptors to the end of every process.
//!
//! Whoever starts it has bound the socket already, so callers may connect before the guest is ready and are answered when it is. It ends when
//! its lease runs out, when a caller says so, or by SIGTERM or SIGINT; each time it ends its processes first.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::RawFd;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use crannog_core::limits;
use crannog_engine::{Engine, EngineConfig, EngineError};
use crannog_sys::own_process;
use crannog_wire::config::CONFIG_BYTES_MAX;
use crannog_wire::convert::ConvertError;
use crannog_wire::{GuestConfig, server};
use tokio::net::UnixListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::lease::Lease;
use crate::log;
use crate::service::Guest;

/// Threads for the few calls that may block on a disk. One guest has one disk.
const BLOCKING_THREADS_MAX: usize = 2;
/// An idle thread costs memory and a spawn costs microseconds.
const BLOCKING_THREAD_IDLE: Duration = Duration::from_secs(1);
/// Time for answers that are on their way when everything has ended. They only have to reach the socket: what is in it can be read after
/// we have gone. A caller that does not read is not waited for longer.
const LAST_ANSWERS: Duration = Duration::from_millis(250);

#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error("descriptor {number} cannot be used as the {purpose}; start the guest through a crannog backend")]
    Descriptor { number: RawFd, purpose: &'static str, source: io::Error },
    #[error("the config cannot be read")]
    ReadConfig(#[source] io::Error),
    #[error("the config cannot be meant")]
    Config(#[source] ConvertError),
    #[error("the guest could not protect itself: {step} failed")]
    Protect { step: &'static str, source: io::Error },
    #[error("the runtime could not be started")]
    Runtime(#[source] io::Error),
    #[error("the engine could not be started")]
    Engine(#[source] EngineError),
    #[error("the socket cannot be served")]
    Serve(#[source] server::ServeError),
    #[error("the socket's task ended on its own; please report it")]
    Stopped,
}

/// Serves until the guest's life is over.
pub(crate) fn serve(listen_fd: RawFd, config_fd: RawFd) -> Result<(), ServeError> {
    own_process::hide_from_peers().map_err(|source| ServeError::Protect { step: "hiding from other processes", source })?;
    let listener = listener(listen_fd)?;
    let config = config(config_fd)?;
    log::start(&config.log_filter);
    if let Err(error) = own_process::raise_open_files() {
        tracing::warn!(%error, "the number of open files stays as it is");
    }
    let runtime = runtime().map_err(ServeError::Runtime)?;
    let served = runtime.block_on(live(listener, config));
    // A thread that hangs on a disk must not keep an ended guest.
    runtime.shutdown_background();
    served
}

fn listener(number: RawFd) -> Result<StdListener, ServeError> {
    let failed = |source| ServeError::Descriptor { number, purpose: "listening socket", source };
    let listener = StdListener::from(own_process::inherited(number).map_err(failed)?);
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

fn config(number: RawFd) -> Result<GuestConfig, ServeError> {
    let failed = |source| ServeError::Descriptor { number, purpose: "config", source };
    let file = File::from(own_process::inherited(number).map_err(failed)?);
    let mut bytes = Vec::new();
    file.take(CONFIG_BYTES_MAX as u64).read_to_end(&mut bytes).map_err(ServeError::ReadConfig)?;
    GuestConfig::decode(&bytes).map_err(ServeError::Config)
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING_THREADS_MAX).thread_keep_alive(BLOCKING_THREAD_IDLE).build()
}

async fn live(listener: StdListener, config: GuestConfig) -> Result<(), ServeError> {
    let mut signals = Signals::new().map_err(ServeError::Runtime)?;
    let listener = UnixListener::from_std(listener).map_err(ServeError::Runtime)?;
    let lease = Lease::provisional(config.lease_generation, config.lease_unconfirmed);
    let sandbox = config.sandbox.clone();
    let engine = Engine::new(engine_config(config)).map_err(ServeError::Engine)?;
    let reaper = engine.clone();
    tokio::spawn(async move { reaper.serve().await });

    let guest = Arc::new(Guest::new(engine, sandbox, lease));
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = server::serve(guest.clone(), server::unix_incoming(listener), async {
        // A dropped sender means that the guest ends, too.
        let _ = stopped.await;
    });
    let mut serving = tokio::spawn(serving);
    let cause = tokio::select! {
        () = guest.ended_by_caller.notified() => "a caller",
        () = guest.lease.expired() => "the end of the lease",
        name = signals.next() => name,
        served = &mut serving => {
            guest.end_all(limits::KILL_GRACE).await;
            return served.unwrap_or(Ok(())).map_err(ServeError::Serve).and(Err(ServeError::Stopped));
        }
    };
    tracing::info!(cause, "ending");
    guest.end_all(limits::KILL_GRACE).await;
    let _ = stop.send(());
    if tokio::time::timeout(LAST_ANSWERS, serving).await.is_err() {
        tracing::warn!("callers that do not read were left behind");
    }
    Ok(())
}

fn engine_config(config: GuestConfig) -> EngineConfig {
    EngineConfig {
        sandbox: config.sandbox,
        workspace: config.workspace,
        environment: config.environment,
        spill: config.spill,
        spill_bytes: config.spill_bytes,
        processes_live_max: config.processes_live_max,
        cgroups: config.cgroups,
        seed: config.seed,
    }
}

/// Signals to the guest itself. A hang-up is taken and ignored: the terminal it was started from does not own it.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    _hangup: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The signal that ends the guest.
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
