//! From a request to the service and back.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crannog_core::collect::Collect;
use crannog_core::error::ErrorCode;
use crannog_core::id::ProcessId;
use crannog_core::limits;
use futures_util::{FutureExt as _, Stream, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::{Request, Response, Status};

use crate::convert::{self, ConvertError, required};
use crate::error::Failure;
use crate::proto::{self, guest_server::Guest};
use crate::service::{EventStream, GuestService};

/// The protocol's calls over a service.
pub(super) struct Handlers<Service> {
    service: Arc<Service>,
    /// Places for calls that may wait long.
    places: Arc<Semaphore>,
}

impl<Service> Handlers<Service> {
    pub(super) fn new(service: Arc<Service>) -> Self {
        Self { service, places: Arc::new(Semaphore::new(limits::GUEST_CALLS_MAX)) }
    }

    /// A place among the waiting calls.
    async fn place(&self) -> Result<OwnedSemaphorePermit, Failure> {
        let closed = |_| Failure::new(ErrorCode::Internal, "the guest takes no calls any more");
        self.places.clone().acquire_owned().await.map_err(closed)
    }
}

/// Answers a call; a panic in it becomes a refusal, because the guest serves others, too.
async fn answer<Value, Message: From<Value>>(work: impl Future<Output = Result<Value, Failure>>) -> Result<Response<Message>, Status> {
    let value = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| Err(panicked(&*panic)))?;
    Ok(Response::new(value.into()))
}

fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let what = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    Failure::new(ErrorCode::Internal, "the guest met a fault of its own; please report it").with("panic", what)
}

/// The events as messages; the place is given up with the stream.
fn messages(events: EventStream, place: OwnedSemaphorePermit) -> EventMessages {
    let caught = AssertUnwindSafe(events).catch_unwind().map(|event| event.unwrap_or_else(|panic| Err(panicked(&*panic))));
    Box::pin(caught.map(move |event| {
        let _held = &place;
        event.map(proto::FollowEvent::from).map_err(Status::from)
    }))
}

type EventMessages = Pin<Box<dyn Stream<Item = Result<proto::FollowEvent, Status>> + Send>>;

fn collect(message: Option<proto::Collect>) -> Result<Option<Collect>, ConvertError> {
    message.map(Collect::try_from).transpose()
}

fn grace(ms: u64) -> Duration {
    Duration::from_millis(ms).min(limits::KILL_GRACE_MAX)
}

impl From<()> for proto::Empty {
    fn from((): ()) -> Self {
        Self {}
    }
}

#[tonic::async_trait]
impl<Service: GuestService> Guest for Handlers<Service> {
    type RunStream = EventMessages;
    type FollowStream = EventMessages;

    async fn hello(&self, _request: Request<proto::HelloRequest>) -> Result<Response<proto::HelloReply>, Status> {
        answer(async { Ok(self.service.hello()) }).await
    }

    async fn renew(&self, request: Request<proto::RenewRequest>) -> Result<Response<proto::RenewReply>, Status> {
        let proto::RenewRequest { generation, ttl_ms } = request.into_inner();
        answer(async {
            let ttl = ttl_ms.map(Duration::from_millis);
            if ttl.is_some_and(|ttl| !(limits::LEASE_MIN..=limits::LEASE_MAX).contains(&ttl)) {
                return Err(ConvertError::Invalid { field: "ttl_ms", rule: "1 s to 366 days" }.into());
            }
            self.service.renew(generation, ttl).map(|generation| proto::RenewReply { generation })
        })
        .await
    }

    async fn shutdown(&self, request: Request<proto::ShutdownRequest>) -> Result<Response<proto::ShutdownReply>, Status> {
        let proto::ShutdownRequest { generation, grace_ms } = request.into_inner();
        answer(async { self.service.shutdown(generation, grace(grace_ms)).await.map(|ended| proto::ShutdownReply { ended }) }).await
    }

    async fn start(&self, request: Request<proto::StartRequest>) -> Result<Response<proto::Update>, Status> {
        let request = request.into_inner();
        answer(async {
            let spec = required("spec", request.spec)?.try_into()?;
            let collect = collect(request.collect)?;
            let _place = self.place().await?;
            self.service.start(spec, collect).await
        })
        .await
    }

    async fn run(&self, request: Request<proto::RunRequest>) -> Result<Response<EventMessages>, Status> {
        answer(async {
            let run = request.into_inner().try_into()?;
            let place = self.place().await?;
            Ok(messages(self.service.run(run).await?, place))
        })
        .await
    }

    async fn collect(&self, request: Request<proto::CollectRequest>) -> Result<Response<proto::Update>, Status> {
        let request = request.into_inner();
        answer(async {
            let collect = required("collect", request.collect)?.try_into()?;
            let _place = self.place().await?;
            self.service.collect(ProcessId(request.process), collect).await
        })
        .await
    }

    async fn write(&self, request: Request<proto::WriteRequest>) -> Result<Response<proto::Update>, Status> {
        let request = request.into_inner();
        answer(async {
            let write = convert::write_spec(request.data, request.write_id, request.patience_ms)?;
            let pause = Duration::from_millis(request.pause_ms.min(limits::WINDOW_MS_MAX));
            let collect = collect(request.collect)?;
            let _place = self.place().await?;
            self.service.write(ProcessId(request.process), write, pause, collect).await
        })
        .await
    }

    async fn close_stdin(&self, request: Request<proto::ProcessRequest>) -> Result<Response<proto::Empty>, Status> {
        answer(async { self.service.close_stdin(ProcessId(request.into_inner().process)) }).await
    }

    async fn resize(&self, request: Request<proto::ResizeRequest>) -> Result<Response<proto::Empty>, Status> {
        let request = request.into_inner();
        answer(async {
            let size = required("size", request.size)?.try_into()?;
            self.service.resize(ProcessId(request.process), size)
        })
        .await
    }

    async fn signal(&self, request: Request<proto::SignalRequest>) -> Result<Response<proto::Empty>, Status> {
        let request = request.into_inner();
        answer(async {
            let target = proto::Target::try_from(request.target)
                .map_err(|_| ConvertError::Invalid { field: "target", rule: "the foreground, the group or the tree" })?;
            self.service.signal(ProcessId(request.process), target.into(), convert::signal(request.signal)?)
        })
        .await
    }

    async fn kill(&self, request: Request<proto::KillRequest>) -> Result<Response<proto::KillReply>, Status> {
        let proto::KillRequest { process, grace_ms } = request.into_inner();
        answer(self.service.kill(ProcessId(process), grace(grace_ms))).await
    }

    async fn list(&self, _request: Request<proto::Empty>) -> Result<Response<proto::ListReply>, Status> {
        answer(async {
            let processes = self.service.list().into_iter().map(proto::ProcessInfo::from).collect();
            Ok(proto::ListReply { processes })
        })
        .await
    }

    async fn wait_any(&self, request: Request<proto::WaitAnyRequest>) -> Result<Response<proto::WaitAnyReply>, Status> {
        let request = request.into_inner();
        answer(async {
            let len = request.processes.len();
            if len > limits::WAIT_ANY_MAX {
                return Err(ConvertError::TooLong { field: "processes", len, limit: limits::WAIT_ANY_MAX }.into());
            }
            let processes = request.processes.into_iter().map(ProcessId).collect();
            let _place = self.place().await?;
            let ended = self.service.wait_any(processes, Duration::from_millis(request.timeout_ms)).await?;
            Ok(proto::WaitAnyReply { ended: ended.into_iter().map(proto::ProcessInfo::from).collect() })
        })
        .await
    }

    async fn read(&self, request: Request<proto::ReadRequest>) -> Result<Response<proto::ReadReply>, Status> {
        let request = request.into_inner();
        answer(async {
            let stream = convert::stream_choice(request.stream());
            let bytes_max = usize::try_from(request.bytes_max).unwrap_or(usize::MAX).min(limits::READ_REPLY_BYTES_MAX);
            let _place = self.place().await?;
            self.service.read(ProcessId(request.process), request.from, bytes_max, stream).await
        })
        .await
    }

    async fn follow(&self, request: Request<proto::FollowRequest>) -> Result<Response<EventMessages>, Status> {
        let proto::FollowRequest { process, from, hold, owns_terminal } = request.into_inner();
        answer(async {
            let place = self.place().await?;
            Ok(messages(self.service.follow(ProcessId(process), from, hold, owns_terminal)?, place))
        })
        .await
    }

    async fn screen(&self, request: Request<proto::ScreenRequest>) -> Result<Response<proto::ScreenReply>, Status> {
        let request = request.into_inner();
        answer(async {
            let process = ProcessId(request.process);
            let request = request.try_into()?;
            let _place = self.place().await?;
            self.service.screen(process, request).await
        })
        .await
    }

    async fn recording(&self, request: Request<proto::RecordingRequest>) -> Result<Response<proto::RecordingReply>, Status> {
        let proto::RecordingRequest { process, from, bytes_max } = request.into_inner();
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX).min(limits::READ_REPLY_BYTES_MAX);
        answer(async { self.service.recording(ProcessId(process), from, bytes_max) }).await
    }
}
