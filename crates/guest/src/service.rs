//! The protocol's calls, done by the engine.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crannog_core::collect::{Collect, Reason, Wait};
use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::process::{ProcessInfo, StartSpec, Stream, TerminalSize, Update, WriteSpec};
use crannog_core::screen::{RecordingPart, Screen, ScreenRequest};
use crannog_core::signal::{Signal, Target};
use crannog_core::transcript::{Killed, TranscriptPart};
use crannog_engine::{Engine, EngineError, Tracking as EngineTracking};
use crannog_wire::{EventStream, Failure, GuestService, Hello, RunSpec, Tracking};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::failure::{broken_off, fenced, refused};
use crate::lease::Lease;
use crate::run;

/// This guest.
#[derive(Debug)]
pub(crate) struct Guest {
    engine: Engine,
    sandbox: String,
    started: Instant,
    pub(crate) lease: Lease,
    /// Processes whose first window was asked for already: a repeated start shows it again instead of what follows it.
    shown: Mutex<VecDeque<ProcessId>>,
    /// A caller has ended the sandbox.
    pub(crate) ended_by_caller: Notify,
}

impl Guest {
    pub(crate) fn new(engine: Engine, sandbox: String, lease: Lease) -> Self {
        Self { engine, sandbox, started: Instant::now(), lease, shown: Mutex::default(), ended_by_caller: Notify::new() }
    }

    /// Ends every process, whoever waits for that.
    pub(crate) async fn end_all(&self, grace: Duration) -> Option<u32> {
        let engine = self.engine.clone();
        tokio::spawn(async move { engine.shutdown(grace).await }).await.ok()
    }

    /// The collect of a start: of a repeated one from the beginning, because the answer to the first was lost.
    fn first_window(&self, process: ProcessId, mut collect: Collect) -> Collect {
        // Ids are pushed and dropped whole, so a panic elsewhere cannot leave half of one.
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.contains(&process) {
            collect.cursor = collect.cursor.or(Some(0));
        } else {
            shown.truncate(limits::REQUEST_IDS_KEPT - 1);
            shown.push_front(process);
        }
        collect
    }

    /// An answer that shows nothing and stands at `offset`.
    fn standing(&self, process: ProcessId, offset: u64) -> Result<Update, Failure> {
        let info = self.engine.info(process).map_err(refused)?;
        Ok(Update {
            process,
            text: String::new(),
            raw: Vec::new(),
            start: offset,
            cursor: offset,
            omitted_bytes: 0,
            lost_bytes: 0,
            original_token_count: None,
            reason: if info.end.is_some() { Reason::Exit } else { Reason::Window },
            end: info.end,
            waiting_for_input: false,
            echo: None,
            descendants_alive: info.descendants_alive,
            written: None,
        })
    }
}

/// Refuses a wait that cannot be meant before anything is done: a start or a write must not happen and then be answered with a refusal.
fn check(collect: Option<&Collect>) -> Result<(), Failure> {
    let checked = collect.map(|collect| Wait::new(collect, Duration::ZERO, 0)).transpose();
    checked.map(drop).map_err(|error| refused(EngineError::Conditions(error)))
}

impl GuestService for Guest {
    fn hello(&self) -> Hello {
        Hello {
            guest_version: env!("CARGO_PKG_VERSION").to_owned(),
            sandbox: self.sandbox.clone(),
            tracking: match self.engine.tracking() {
                EngineTracking::Cgroup(path) => Tracking::Cgroup(path),
                EngineTracking::Lineage => Tracking::Lineage,
            },
            pid: std::process::id(),
            uptime: self.started.elapsed(),
            processes_live: self.engine.processes_live(),
            lease_remaining: self.lease.remaining(),
            lease_generation: self.lease.generation(),
        }
    }

    fn renew(&self, generation: u64, ttl: Option<Duration>) -> Result<u64, Failure> {
        self.lease.renew(generation, ttl).map_err(fenced)
    }

    async fn shutdown(&self, generation: u64, grace: Duration) -> Result<u32, Failure> {
        self.lease.check(generation).map_err(fenced)?;
        let ended = self.end_all(grace).await;
        self.ended_by_caller.notify_one();
        ended.ok_or_else(broken_off)
    }

    async fn start(&self, spec: StartSpec, collect: Option<Collect>) -> Result<Update, Failure> {
        check(collect.as_ref())?;
        let process = self.engine.start(spec).map_err(refused)?;
        match collect {
            Some(collect) => self.engine.collect(process, self.first_window(process, collect)).await.map_err(refused),
            None => self.standing(process, 0),
        }
    }

    async fn run(&self, run: RunSpec) -> Result<EventStream, Failure> {
        run::run(&self.engine, run)
    }

    async fn collect(&self, process: ProcessId, collect: Collect) -> Result<Update, Failure> {
        self.engine.collect(process, collect).await.map_err(refused)
    }

    async fn write(&self, process: ProcessId, write: WriteSpec, pause: Duration, collect: Option<Collect>) -> Result<Update, Failure> {
        check(collect.as_ref())?;
        let before = self.engine.info(process).map_err(refused)?.output_bytes;
        let written = self.engine.write(process, write).await.map_err(refused)?;
        let update = match collect {
            Some(collect) => {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                self.engine.collect(process, collect).await.map_err(refused)?
            }
            None => self.standing(process, before)?,
        };
        Ok(Update { written: Some(written), ..update })
    }

    fn close_stdin(&self, process: ProcessId) -> Result<(), Failure> {
        self.engine.close_stdin(process).map_err(refused)
    }

    fn resize(&self, process: ProcessId, size: TerminalSize) -> Result<(), Failure> {
        self.engine.resize(process, size).map_err(refused)
    }

    fn signal(&self, process: ProcessId, target: Target, signal: Signal) -> Result<(), Failure> {
        self.engine.signal(process, target, signal).map_err(refused)
    }

    async fn kill(&self, process: ProcessId, grace: Duration) -> Result<Killed, Failure> {
        self.engine.kill(process, grace).await.map_err(refused)
    }

    fn list(&self) -> Vec<ProcessInfo> {
        self.engine.list()
    }

    async fn wait_any(&self, processes: Vec<ProcessId>, timeout: Duration) -> Result<Vec<ProcessInfo>, Failure> {
        self.engine.wait_any(&processes, timeout).await.map_err(refused)
    }

    async fn read(&self, process: ProcessId, from: u64, bytes_max: usize, stream: Option<Stream>) -> Result<TranscriptPart, Failure> {
        self.engine.read(process, from, bytes_max, stream).await.map_err(refused)
    }

    fn follow(&self, process: ProcessId, from: u64, hold: bool, owns_terminal: bool) -> Result<EventStream, Failure> {
        run::follow(&self.engine, process, from, hold, owns_terminal)
    }

    async fn screen(&self, process: ProcessId, request: ScreenRequest) -> Result<Screen, Failure> {
        self.engine.screen(process, request).await.map_err(refused)
    }

    fn recording(&self, process: ProcessId, from: u64, bytes_max: usize) -> Result<RecordingPart, Failure> {
        self.engine.recording(process, from, bytes_max).map_err(refused)
    }
}
