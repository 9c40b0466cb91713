//! Runs and follows as streams of events.

use std::time::Duration;

use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::process::Stream;
use crannog_core::transcript::{FollowEvent, Gathered, Part};
use crannog_engine::{Engine, Follower};
use crannog_wire::{EventStream, Failure, RunSpec};
use futures_util::{StreamExt as _, stream};
use tokio::runtime::Handle;

use crate::failure::refused;

/// Starts a process and answers its events. Starting and following are one step, so nothing it prints is missed.
pub(crate) fn run(engine: &Engine, run: RunSpec) -> Result<EventStream, Failure> {
    let hold = run.spec.hold_for_follower && run.gather_bytes_max.is_none();
    let process = engine.start(run.spec).map_err(refused)?;
    let guard = EndWithCaller { engine: engine.clone(), process, armed: run.end_with_caller };
    if let Some(bytes_max) = run.gather_bytes_max {
        return Ok(gather(guard, bytes_max));
    }
    let follower = engine.follow(process, 0, hold).map_err(refused)?;
    Ok(events(follower, Some(guard)))
}

/// Follows a transcript, perhaps for a terminal of the caller's that takes the place of ours.
pub(crate) fn follow(engine: &Engine, process: ProcessId, from: u64, hold: bool, owns_terminal: bool) -> Result<EventStream, Failure> {
    let follower = engine.follow(process, from, hold).map_err(refused)?;
    Ok(events(if owns_terminal { follower.owning_terminal() } else { follower }, None))
}

fn events(follower: Follower, guard: Option<EndWithCaller>) -> EventStream {
    Box::pin(stream::unfold((follower, guard), async |(mut follower, mut guard)| {
        let event = follower.next().await?;
        if matches!(event, FollowEvent::Ended(_))
            && let Some(guard) = guard.take()
        {
            guard.disarm();
        }
        Some((Ok(event), (follower, guard)))
    }))
}

fn gather(guard: EndWithCaller, bytes_max: u64) -> EventStream {
    let started = FollowEvent::Started(guard.process);
    let rest = stream::once(async move {
        let gathered = guard.engine.gather(guard.process, bytes_max).await.map_err(refused);
        guard.disarm();
        stream::iter(match gathered {
            Ok(gathered) => pieces(gathered).into_iter().map(Ok).collect(),
            Err(failure) => vec![Err(failure)],
        })
    });
    Box::pin(stream::iter([Ok(started)]).chain(rest.flatten()))
}

/// A finished run in messages of bounded size. Offsets count within what is handed over of each stream.
fn pieces(gathered: Gathered) -> Vec<FollowEvent> {
    let cut = |stream: Stream, bytes: Vec<u8>| {
        let starts = (0..bytes.len()).step_by(limits::READ_REPLY_BYTES_MAX);
        let chunks = starts.zip(bytes.chunks(limits::READ_REPLY_BYTES_MAX));
        chunks.map(|(start, chunk)| FollowEvent::Output(Part { offset: start as u64, stream, bytes: chunk.to_vec() })).collect()
    };
    let mut events: Vec<FollowEvent> = cut(Stream::Stdout, gathered.stdout);
    events.extend::<Vec<FollowEvent>>(cut(Stream::Stderr, gathered.stderr));
    events.push(FollowEvent::Ended(gathered.ended));
    events
}

/// Ends a process's tree when it is dropped before the process has ended: its caller went away.
struct EndWithCaller {
    engine: Engine,
    process: ProcessId,
    armed: bool,
}

impl EndWithCaller {
    /// The process has ended by itself.
    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for EndWithCaller {
    fn drop(&mut self) {
        // Without a runtime the guest itself is ending, and everything with it.
        let Ok(runtime) = Handle::try_current() else { return };
        if self.armed {
            let (engine, process) = (self.engine.clone(), self.process);
            runtime.spawn(async move { end(&engine, process, limits::KILL_GRACE).await });
        }
    }
}

async fn end(engine: &Engine, process: ProcessId, grace: Duration) {
    if let Err(error) = engine.kill(process, grace).await {
        tracing::warn!(%process, %error, "a process whose caller went away could not be ended");
    }
}

#[cfg(test)]
mod tests {
    use crannog_core::end::End;
    use crannog_core::id::ProcessId;
    use crannog_core::limits::READ_REPLY_BYTES_MAX;
    use crannog_core::process::Stream;
    use crannog_core::transcript::{Ended, FollowEvent, Gathered, Usage};

    use super::pieces;

    #[test]
    fn a_large_run_is_handed_over_in_bounded_pieces() {
        let ended = Ended {
            end: End::Exited { code: 0 },
            duration_ms: 1,
            descendants_alive: false,
            stdout_omitted_bytes: 0,
            stderr_omitted_bytes: 0,
            usage: Usage::default(),
        };
        let (stdout, stderr) = (vec![b'o'; READ_REPLY_BYTES_MAX + 1], b"e".to_vec());
        let events = pieces(Gathered { process: ProcessId(1_000), stdout, stderr, ended });
        let shape: Vec<_> = events
            .iter()
            .map(|event| match event {
                FollowEvent::Output(part) => Some((part.stream, part.offset, part.bytes.len())),
                _ => None,
            })
            .collect();
        let second = READ_REPLY_BYTES_MAX as u64;
        assert_eq!(
            shape,
            [Some((Stream::Stdout, 0, READ_REPLY_BYTES_MAX)), Some((Stream::Stdout, second, 1)), Some((Stream::Stderr, 0, 1)), None]
        );
    }
}
