//! `recording`: fetches what was recorded of a process's terminal.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use crannog::RecordingState;
use serde_json::json;
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use super::ProcessArguments;
use crate::failure::Failure;
use crate::output::{self, Output, words};

/// Fetch the recording of a process that was started with `--record`
///
/// It is in the format asciicast v3, which `replay` and other players show.
#[derive(Debug, Args)]
pub(crate) struct Recording {
    #[command(flatten)]
    process: ProcessArguments,

    /// Write it to this file instead of stdout.
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<OsString>,
}

impl Recording {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let process = self.process.process();
        let mut recording = self.process.open().await?.recording(process).await?;
        let state = recording.state();
        match self.output.map(PathBuf::from) {
            None => {
                while let Some(piece) = recording.next().await? {
                    output::data(&piece)?;
                }
            }
            Some(path) => {
                write(&mut recording, path).await?;
                if output.is_json() {
                    output::document(&json!({"process": process.0, "bytes": recording.size(), "state": word(state)}))?;
                }
            }
        }
        match state {
            RecordingState::Cut => output.warning(&format!("it was cut after {}", words::bytes(recording.size()))),
            RecordingState::Failed => output.warning("it could not be recorded any further in the sandbox, and ends early"),
            RecordingState::Running | RecordingState::Complete => {}
        }
        Ok(())
    }
}

async fn write(recording: &mut crannog::Recording, path: PathBuf) -> Result<(), Failure> {
    let written = |result: std::io::Result<()>| result.map_err(|source| Failure::WriteRecording { path: path.clone(), source });
    let mut file = File::create(&path).await.map_err(|source| Failure::WriteRecording { path: path.clone(), source })?;
    while let Some(piece) = recording.next().await? {
        written(file.write_all(&piece).await)?;
    }
    written(file.flush().await)
}

fn word(state: RecordingState) -> &'static str {
    match state {
        RecordingState::Running => "running",
        RecordingState::Complete => "complete",
        RecordingState::Cut => "cut",
        RecordingState::Failed => "failed",
    }
}
