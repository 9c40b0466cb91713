//! One command from start to end: output streams through, input streams in, signals are passed on, nothing stays behind.

use std::cell::Cell;
use std::time::Duration;

use crannog::{End, Ended, Follow, FollowEvent, ProcessId, Sandbox, Signal, StartSpec, Target};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use crate::failure::Failure;
use crate::input::Source;
use crate::interruptions::Interruptions;
use crate::output::json::ExecDocument;
use crate::output::relay::Sink;
use crate::output::words;
use crate::output::{self, Output};

/// How long a command may take to end after TERM or HUP was passed on to it. Shorter than supervisors wait before they KILL us.
const INTERRUPTED_GRACE: Duration = Duration::from_secs(2);
/// How long we wait for the confirmation that everything was ended. The guest ends it in any case.
const CLEANUP_WAIT: Duration = Duration::from_secs(3);

/// A command to run to its end.
#[derive(Debug)]
pub(crate) struct OneShot<'a> {
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) output: Output,
    pub(crate) input: Option<Source>,
}

/// How it went.
enum Outcome {
    Ended(Ended),
    /// A signal made us end it.
    Interrupted(Signal),
}

impl OneShot<'_> {
    /// Runs it. The answer is the exit code: the command's own, or 128 and the signal that ended either of us.
    pub(crate) async fn run(self, spec: StartSpec, interruptions: &mut Interruptions) -> Result<u8, Failure> {
        let Self { sandbox, output, input } = self;
        let mut sink = if output.is_json() { Sink::kept() } else { Sink::through() };
        let process = Started::default();
        let run = tokio::select! {
            run = sandbox.run(spec) => run?,
            signal = interruptions.next() => return Ok(code_of(signal)),
        };
        let conversation = Conversation { sandbox, output, process: &process };
        let (outcome, interrupted) = conversation.hold(run, &mut sink, input, interruptions).await;
        if let Some(process) = process.id.get()
            && (interrupted || outcome.is_err())
        {
            clean_up(sandbox, process).await;
        }
        match outcome? {
            Outcome::Interrupted(signal) => Ok(code_of(signal)),
            Outcome::Ended(ended) => report(output, sink, &ended),
        }
    }
}

/// The process's id, once it is known.
#[derive(Default)]
struct Started {
    id: Cell<Option<ProcessId>>,
    known: Notify,
}

struct Conversation<'a> {
    sandbox: &'a Sandbox,
    output: Output,
    process: &'a Started,
}

impl Conversation<'_> {
    /// Goes on until the command has ended or has to be. Also says whether a signal was passed on.
    async fn hold(
        &self,
        run: Follow,
        sink: &mut Sink,
        input: Option<Source>,
        interruptions: &mut Interruptions,
    ) -> (Result<Outcome, Failure>, bool) {
        let relay = std::pin::pin!(self.relay(run, sink));
        let feed = std::pin::pin!(self.feed(input));
        let (mut relay, mut feed) = (relay, feed);
        let mut input_done = false;
        let mut passed_on = None;
        let mut deadline = None;
        let outcome = loop {
            tokio::select! {
                ended = &mut relay => break ended.map(Outcome::Ended),
                end = &mut feed, if !input_done => match end {
                    Ok(()) => input_done = true,
                    Err(failure) => break Err(failure),
                },
                signal = interruptions.next() => {
                    if passed_on.is_some() {
                        break Ok(Outcome::Interrupted(signal));
                    }
                    passed_on = Some(signal);
                    self.pass_on(signal);
                    // A program may take Ctrl-C as a wish and go on; the other two mean the end.
                    deadline = (signal != Signal::INT).then(|| Instant::now() + INTERRUPTED_GRACE);
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    break Ok(Outcome::Interrupted(passed_on.unwrap_or(Signal::TERM)));
                }
            }
        };
        (outcome, passed_on.is_some())
    }

    async fn relay(&self, mut run: Follow, sink: &mut Sink) -> Result<Ended, Failure> {
        while let Some(event) = run.next().await? {
            match event {
                FollowEvent::Started(process) => {
                    self.process.id.set(Some(process));
                    self.process.known.notify_one();
                }
                FollowEvent::Output(part) => sink.take(&part).await?,
                FollowEvent::Lost(bytes) => self.output.warning(&format!("{} of output were dropped", words::bytes(bytes))),
                FollowEvent::Ended(ended) => return Ok(ended),
            }
        }
        Err(Failure::EndMissing)
    }

    async fn feed(&self, input: Option<Source>) -> Result<(), Failure> {
        let Some(source) = input else { return Ok(()) };
        self.process.known.notified().await;
        match self.process.id.get() {
            Some(process) => source.feed(self.sandbox, process).await,
            None => Ok(()),
        }
    }

    /// Passes a signal on, on a task of its own: the answer must not keep the output waiting.
    fn pass_on(&self, signal: Signal) {
        let Some(process) = self.process.id.get() else { return };
        let sandbox = self.sandbox.clone();
        // A process that has just ended needs no signal, and any other failure shows in the output's own stream.
        tokio::spawn(async move { drop(sandbox.signal(process, signal, Target::Foreground).await) });
    }
}

/// Ends what is left of the tree. By now the stream is closed, so the guest is doing the same by itself.
async fn clean_up(sandbox: &Sandbox, process: ProcessId) {
    let _ = timeout(CLEANUP_WAIT, sandbox.kill(process, Some(Duration::ZERO))).await;
}

fn report(output: Output, sink: Sink, ended: &Ended) -> Result<u8, Failure> {
    if let Sink::Kept { stdout, stderr } = sink {
        let (stdout, stderr) = (stdout.into_parts(), stderr.into_parts());
        output::document(&ExecDocument::of((&stdout.0, stdout.1), (&stderr.0, stderr.1), ended))?;
    } else if matches!(ended.end, End::TimedOut { .. } | End::OutOfMemory) {
        output.warning(&format!("the command {}", words::end(&ended.end)));
    }
    exit_code(&ended.end)
}

/// The exit code that stands for an end.
pub(crate) fn exit_code(end: &End) -> Result<u8, Failure> {
    match end {
        End::Lost { reason } => Err(Failure::EndUnknown { reason: reason.clone() }),
        known => Ok(known.exit_code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)),
    }
}

/// The exit code of a program that a signal ended.
pub(crate) fn code_of(signal: Signal) -> u8 {
    u8::try_from(128 + signal.number()).unwrap_or(u8::MAX)
}
