//! Streams of events that survive a broken connection.

use std::fmt;

use crannog_core::error::Operation;
use crannog_core::process::Stream;
use crannog_core::transcript::{FollowEvent, Gathered};
use tonic::{Status, Streaming};

use super::retry::{ATTEMPTS_MAX, Call, Repeat, is_broken, pause};
use super::{GuestClient, advance};
use crate::error::WireError;
use crate::message::RunSpec;
use crate::proto;

/// The events of a run or a follow.
///
/// Flow-controlled: the guest sends only a window ahead of the reader. Dropping it tells the guest that nobody listens; a run that ends
/// with its caller is then ended.
pub struct Events {
    client: GuestClient,
    /// `None` while the stream is broken.
    stream: Option<Streaming<proto::FollowEvent>>,
    resume: Resume,
    /// Broken streams since the last event.
    breaks: u32,
    started: bool,
    finished: bool,
}

/// How to go on after a break.
enum Resume {
    /// Nothing has come yet: the run's request id makes a second try the same run.
    Run(Box<proto::RunRequest>),
    Follow(proto::FollowRequest),
}

impl Events {
    pub(super) async fn of_run(client: GuestClient, run: RunSpec) -> Result<Self, WireError> {
        Self::open(client, Resume::Run(Box::new(run.into()))).await
    }

    pub(super) async fn of_follow(client: GuestClient, follow: proto::FollowRequest) -> Result<Self, WireError> {
        Self::open(client, Resume::Follow(follow)).await
    }

    async fn open(client: GuestClient, resume: Resume) -> Result<Self, WireError> {
        let stream = resume.open(&client).await?;
        Ok(Self { client, stream: Some(stream), resume, breaks: 0, started: false, finished: false })
    }

    /// The next event; `None` after the last, which is [`FollowEvent::Ended`]. Cancel-safe: an event is taken when it is answered.
    pub async fn next(&mut self) -> Result<Option<FollowEvent>, WireError> {
        if self.finished {
            return Ok(None);
        }
        loop {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                empty => {
                    pause(self.breaks.max(1)).await;
                    empty.insert(self.resume.open(&self.client).await?)
                }
            };
            let status = match stream.message().await {
                Ok(Some(event)) => match self.accept(event)? {
                    Some(event) => return Ok(Some(event)),
                    None => continue,
                },
                Ok(None) => Status::unavailable("the stream ended before the process did"),
                Err(status) => status,
            };
            self.stream = None;
            self.breaks += 1;
            if !is_broken(&status) || self.breaks >= ATTEMPTS_MAX {
                self.finished = true;
                return Err(WireError::from_status(self.resume.operation(), status));
            }
        }
    }

    /// Takes note of an event. `None` for one that only repeats how the stream began.
    fn accept(&mut self, event: proto::FollowEvent) -> Result<Option<FollowEvent>, WireError> {
        let event = Call::new(self.resume.operation(), Repeat::Always).understood(FollowEvent::try_from(event))?;
        self.breaks = 0;
        self.finished = matches!(event, FollowEvent::Ended(_));
        match &mut self.resume {
            Resume::Follow(follow) => follow.from = advance(follow.from, &event),
            // A gathered run is one answer in pieces: it is asked for again as a whole.
            Resume::Run(run) if run.gather_bytes_max.is_some() => {}
            Resume::Run(run) => {
                if let FollowEvent::Started(process) = event {
                    let hold = run.spec.as_ref().is_some_and(|spec| spec.hold_for_follower);
                    self.resume = Resume::Follow(proto::FollowRequest { process: process.0, from: 0, hold, owns_terminal: false });
                }
            }
        }
        let repeats = matches!(event, FollowEvent::Started(_)) && std::mem::replace(&mut self.started, true);
        Ok((!repeats).then_some(event))
    }
}

impl Resume {
    fn operation(&self) -> Operation {
        match self {
            Self::Run(_) => Operation::StartProcess,
            Self::Follow(_) => Operation::ReadTranscript,
        }
    }

    async fn open(&self, client: &GuestClient) -> Result<Streaming<proto::FollowEvent>, WireError> {
        let call = Call::new(self.operation(), Repeat::Always);
        match self {
            Self::Run(run) => client.call(call, (**run).clone(), async |stub, run| stub.run(run).await).await,
            Self::Follow(follow) => client.call(call, *follow, async |stub, follow| stub.follow(follow).await).await,
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Events").field("finished", &self.finished).finish_non_exhaustive()
    }
}

/// Runs to the end. Pieces of an answer that broke off are thrown away and the answer is asked for again.
pub(super) async fn gather(client: &GuestClient, run: RunSpec) -> Result<Gathered, WireError> {
    let resume = Resume::Run(Box::new(run.into()));
    let mut breaks = 0;
    loop {
        let mut stream = resume.open(client).await?;
        let status = match gather_once(&mut stream).await? {
            Ok(gathered) => return Ok(gathered),
            Err(status) => status,
        };
        breaks += 1;
        if !is_broken(&status) || breaks == ATTEMPTS_MAX {
            return Err(WireError::from_status(resume.operation(), status));
        }
        pause(breaks).await;
    }
}

async fn gather_once(stream: &mut Streaming<proto::FollowEvent>) -> Result<Result<Gathered, Status>, WireError> {
    let call = Call::new(Operation::StartProcess, Repeat::Always);
    let (mut process, mut stdout, mut stderr) = (None, Vec::new(), Vec::new());
    loop {
        let event = match stream.message().await {
            Ok(Some(event)) => call.understood(FollowEvent::try_from(event))?,
            Ok(None) => return Ok(Err(Status::unavailable("the answer broke off"))),
            Err(status) => return Ok(Err(status)),
        };
        match event {
            FollowEvent::Started(id) => process = Some(id),
            FollowEvent::Output(part) if part.stream == Stream::Stdout => stdout.extend_from_slice(&part.bytes),
            FollowEvent::Output(part) => stderr.extend_from_slice(&part.bytes),
            // What is missing is counted for each stream in the end.
            FollowEvent::Lost(_) => {}
            FollowEvent::Ended(ended) => {
                let process = call.understood(crate::convert::required("started", process))?;
                return Ok(Ok(Gathered { process, stdout, stderr, ended }));
            }
        }
    }
}
