//! A collect: wait as asked, then show what came since the cursor.
//!
//! Nothing is taken out of the log, so a collect that is dropped has changed nothing. The view is made in pieces with pauses in between: a
//! long window does not hold up the other processes.

use crannog_core::collect::{Collect, Reason};
use crannog_core::process::Update;
use crannog_core::view::{View, ViewBuilder};

use crate::engine::Shared;
use crate::error::EngineError;
use crate::process::Process;

/// Bytes of the log looked at between two pauses for others.
const STEP_BYTES: usize = 1024 * 1024;

pub(crate) async fn collect(_engine: &Shared, process: &Process, request: Collect) -> Result<Update, EngineError> {
    let (start, total) = {
        let state = process.state();
        (request.cursor.unwrap_or(state.position), state.log.total())
    };
    if start > total {
        return Err(EngineError::OffsetBeyondEnd { process: process.id, offset: start, total });
    }
    let reason = match tokio::time::timeout(request.window, process.until_ended()).await {
        Ok(_) => Reason::Exit,
        Err(_) => Reason::Window,
    };
    let (view, end) = show(process, start, request.budget).await?;
    if request.cursor.is_none() {
        let mut state = process.state();
        state.position = state.position.max(view.cursor);
    }
    Ok(Update {
        process: process.id,
        text: view.text,
        raw: view.raw,
        start: view.start,
        cursor: view.cursor,
        omitted_bytes: view.omitted_bytes,
        lost_bytes: view.lost_bytes,
        original_token_count: view.original_token_count,
        waiting_for_input: false,
        echo: None,
        descendants_alive: end.is_some() && process.tree.is_alive(),
        reason: if end.is_some() { Reason::Exit } else { reason },
        end,
        written: None,
    })
}

/// The view from `start` to the end of the output, and the end of the process if it was known when the view was completed.
async fn show(process: &Process, start: u64, budget: Option<u64>) -> Result<(View, Option<crannog_core::end::End>), EngineError> {
    let mut builder = ViewBuilder::new(start, budget);
    loop {
        {
            let mut state = process.state();
            let view = builder.step(&mut state.log, STEP_BYTES).map_err(|error| EngineError::OffsetBeyondEnd {
                process: process.id,
                offset: error.cursor,
                total: error.total,
            })?;
            if let Some(view) = view {
                return Ok((view, state.end.as_ref().map(|ending| ending.end.clone())));
            }
        }
        tokio::task::yield_now().await;
    }
}
