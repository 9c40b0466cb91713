//! A collect: wait as asked, then show what came since the cursor.
//!
//! Nothing is taken out of the log, so a collect that is dropped has changed nothing. Long windows are fed to conditions and made into views
//! in pieces with pauses in between, so that they do not hold up the other processes.

use crannog_core::collect::{Collect, Decision, Observation, Reason, Until, Wait};
use crannog_core::end::End;
use crannog_core::log::{Chunk, CursorBeyondEnd};
use crannog_core::process::{Stream, Update};
use crannog_core::utf8::Decoder;
use crannog_core::view::{View, ViewBuilder};

use crate::engine::Shared;
use crate::error::EngineError;
use crate::evidence;
use crate::process::Process;
use crate::reader::Pumped;

/// Bytes of the log looked at between two pauses for others.
const STEP_BYTES: usize = 1024 * 1024;

pub(crate) async fn collect(engine: &Shared, process: &Process, request: Collect) -> Result<Update, EngineError> {
    let (start, total) = {
        let state = process.state();
        (request.cursor.unwrap_or(state.position), state.log.total())
    };
    if start > total {
        return Err(EngineError::OffsetBeyondEnd { process: process.id, offset: start, total });
    }
    let reason = wait(engine, process, &request, start).await?;
    let waits_for_input = reason == Reason::Input || evidence::waits_for_input(process);
    if waits_for_input {
        take_in(engine, process);
    }
    let (view, end) = show(process, start, request.budget).await?;
    // The position moves with the answer, in one step with making it.
    if request.cursor.is_none() {
        let mut state = process.state();
        state.position = state.position.max(view.cursor);
    }
    Ok(answer(process, view, end, reason, waits_for_input))
}

fn answer(process: &Process, view: View, end: Option<End>, reason: Reason, waits_for_input: bool) -> Update {
    let is_running = process.state().is_leader_running();
    Update {
        process: process.id,
        text: view.text,
        raw: view.raw,
        start: view.start,
        cursor: view.cursor,
        omitted_bytes: view.omitted_bytes,
        lost_bytes: view.lost_bytes,
        original_token_count: view.original_token_count,
        waiting_for_input: waits_for_input && is_running,
        echo: evidence::echo(process).filter(|_| is_running),
        descendants_alive: end.is_some() && process.tree.is_alive(),
        // It may have ended while the view was made.
        reason: if end.is_some() { Reason::Exit } else { reason },
        end,
        written: None,
    }
}

/// Waits until a condition holds. Cancel-safe.
async fn wait(engine: &Shared, process: &Process, request: &Collect, start: u64) -> Result<Reason, EngineError> {
    let mut wait = Wait::new(request, engine.now(), start).map_err(EngineError::Conditions)?;
    let mut feed = wait.needs_text().then(|| Feed { next: start, decoders: None, chunk: Chunk::default() });
    // A flood would wake a collect for nothing that waits for the end alone.
    let looks_at_output = request.until.iter().any(|until| *until != Until::Exit);
    let mut waits_for_input = None;
    loop {
        let (changed, ended) = (process.output_changed.notified(), process.ended.notified());
        let (mut changed, mut ended) = (std::pin::pin!(changed), std::pin::pin!(ended));
        changed.as_mut().enable();
        ended.as_mut().enable();
        let has_more = match &mut feed {
            Some(feed) => feed.advance(process, &mut wait).map_err(|error| beyond(process, error))?,
            None => false,
        };
        let now = engine.now();
        let observation = observe(engine, process, has_more, waits_for_input.take());
        let (deadline, sample_at) = match wait.observe(now, &observation) {
            Decision::Done(reason) => return Ok(reason),
            Decision::WaitUntil { deadline, sample_input_at } => (deadline, sample_input_at),
        };
        if has_more {
            tokio::task::yield_now().await;
            continue;
        }
        if sample_at.is_some_and(|at| at <= now) {
            let seen = evidence::waits_for_input(process);
            // Output that was still on its way is looked at first; then it is asked again.
            waits_for_input = Some(seen && !take_in(engine, process));
            continue;
        }
        let wake_at = sample_at.map_or(deadline, |at| at.min(deadline));
        tokio::select! {
            () = changed, if looks_at_output => {}
            () = ended => {}
            () = tokio::time::sleep_until(engine.instant(wake_at)) => {}
        }
    }
}

/// Moves into the log what the kernel holds of the output. What a process prints before it waits for input is all there by the time it is
/// seen waiting, but its reader may not have had its turn. Whether there was anything.
fn take_in(engine: &Shared, process: &Process) -> bool {
    let mut came = false;
    for stream in [Stream::Stdout, Stream::Stderr] {
        if let Some(output) = process.outputs.get(stream)
            && !process.is_held()
        {
            came |= matches!(output.pump(process, stream, &engine.buffer), Pumped::Bytes(_));
        }
    }
    came
}

/// How the process stands. Its end counts once everything before it was fed to the conditions.
fn observe(engine: &Shared, process: &Process, has_more: bool, waits_for_input: Option<bool>) -> Observation {
    let state = process.state();
    Observation {
        end: state.log.visible_end(),
        last_output: state.output_at.map(|at| engine.since_origin(at)),
        has_ended: state.end.is_some() && !has_more,
        waits_for_input,
    }
}

/// Feeds the text of a transcript to the conditions of a wait.
struct Feed {
    next: u64,
    /// `None` where decoding has to begin anew: at the start and behind a gap.
    decoders: Option<[Decoder; 2]>,
    chunk: Chunk,
}

impl Feed {
    /// Takes one step. Whether there is more.
    fn advance(&mut self, process: &Process, wait: &mut Wait) -> Result<bool, CursorBeyondEnd> {
        let total = {
            let state = process.state();
            state.log.read(self.next, STEP_BYTES, &mut self.chunk)?;
            if self.chunk.skipped() > 0 || self.decoders.is_none() {
                let offset = self.chunk.offset();
                self.decoders = Some([Stream::Stdout, Stream::Stderr].map(|stream| state.log.decoder_at(stream, offset)));
            }
            state.log.total()
        };
        let Some([out, err]) = &mut self.decoders else { return Ok(false) };
        let mut text = String::new();
        for (stream, piece) in self.chunk.pieces() {
            let decoder = if stream == Stream::Stdout { &mut *out } else { &mut *err };
            decoder.decode(piece, &mut text);
        }
        wait.feed(&text);
        self.next = self.chunk.end();
        Ok(self.next < total)
    }
}

/// The view from `start` to the end of the output, and the end of the process if it was known when the view was completed. Cancel-safe.
async fn show(process: &Process, start: u64, budget: Option<u64>) -> Result<(View, Option<End>), EngineError> {
    let mut builder = ViewBuilder::new(start, budget);
    loop {
        {
            let mut state = process.state();
            let view = builder.step(&mut state.log, STEP_BYTES).map_err(|error| beyond(process, error))?;
            if let Some(view) = view {
                return Ok((view, state.end.as_ref().map(|ending| ending.end.clone())));
            }
        }
        tokio::task::yield_now().await;
    }
}

fn beyond(process: &Process, error: CursorBeyondEnd) -> EngineError {
    EngineError::OffsetBeyondEnd { process: process.id, offset: error.cursor, total: error.total }
}
