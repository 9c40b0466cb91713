//! The handle: every operation that callers have.

use std::sync::Arc;
use std::time::Duration;

use crannog_core::collect::Collect;
use crannog_core::id::ProcessId;
use crannog_core::process::{ProcessInfo, StartSpec, Stream, TerminalSize, Update, WriteSpec, Written};
use crannog_core::signal::{Signal, Target};
use crannog_core::transcript::{Gathered, Killed, TranscriptPart};

use crate::config::{EngineConfig, Tracking};
use crate::error::EngineError;
use crate::follow::Follower;

/// The processes of one sandbox. Clones are handles to the same engine.
#[derive(Debug, Clone)]
pub struct Engine(#[allow(dead_code)] Arc<EngineConfig>);

#[allow(clippy::todo, unused_variables, clippy::unused_async)]
impl Engine {
    pub fn new(config: EngineConfig) -> Result<Self, EngineError> { todo!() }
    pub async fn serve(&self) { todo!() }
    pub fn start(&self, spec: StartSpec) -> Result<ProcessId, EngineError> { todo!() }
    pub async fn collect(&self, process: ProcessId, collect: Collect) -> Result<Update, EngineError> { todo!() }
    pub async fn write(&self, process: ProcessId, write: WriteSpec) -> Result<Written, EngineError> { todo!() }
    pub fn close_stdin(&self, process: ProcessId) -> Result<(), EngineError> { todo!() }
    pub fn resize(&self, process: ProcessId, size: TerminalSize) -> Result<(), EngineError> { todo!() }
    pub fn signal(&self, process: ProcessId, target: Target, signal: Signal) -> Result<(), EngineError> { todo!() }
    pub async fn kill(&self, process: ProcessId, grace: Duration) -> Result<Killed, EngineError> { todo!() }
    pub fn list(&self) -> Vec<ProcessInfo> { todo!() }
    pub fn info(&self, process: ProcessId) -> Result<ProcessInfo, EngineError> { todo!() }
    pub async fn wait_any(&self, processes: &[ProcessId], timeout: Duration) -> Result<Vec<ProcessInfo>, EngineError> { todo!() }
    pub async fn read(&self, process: ProcessId, from: u64, bytes_max: usize, stream: Option<Stream>) -> Result<TranscriptPart, EngineError> { todo!() }
    pub fn follow(&self, process: ProcessId, from: u64, hold: bool) -> Result<Follower, EngineError> { todo!() }
    pub async fn gather(&self, process: ProcessId, bytes_max_per_stream: u64) -> Result<Gathered, EngineError> { todo!() }
    pub fn processes_live(&self) -> u32 { todo!() }
    pub fn tracking(&self) -> Tracking { todo!() }
    pub async fn shutdown(&self, grace: Duration) -> u32 { todo!() }
}
