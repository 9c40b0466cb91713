//! Calls to a guest.
//!
//! A client is cheap to clone and connects when it is first used. When its stream breaks, the next attempt opens another: calls that
//! do not act twice (every read and wait; starts and writes, because they carry ids) are tried again, a bounded number of times. Each
//! call has a deadline: the wait that it asks for and [`ClientOptions::answer_timeout`] on top.
//!
//! Dropping the future of a call gives the call up: the guest stops waiting for it. What it had begun to do to a process (a write, a
//! kill) is done to its end. A client belongs to the tokio runtime it is made in.

mod events;
mod request_ids;
mod retry;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crannog_core::collect::Collect;
use crannog_core::error::Operation;
use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::process::{ProcessInfo, StartSpec, Stream, TerminalSize, Update, WriteSpec};
use crannog_core::screen::{RecordingPart, Screen, ScreenRequest};
use crannog_core::signal::{Signal, Target};
use crannog_core::transcript::{FollowEvent, Gathered, Killed, TranscriptPart};
use hyper_util::rt::TokioIo;
use tonic::transport::{Channel, Endpoint};

pub use self::events::Events;
use self::request_ids::RequestIds;
use self::retry::{Call, Repeat};
use crate::connector::Connector;
use crate::convert::{self, duration_ms};
use crate::error::WireError;
use crate::message::{Hello, RunSpec};
use crate::proto::guest_client::GuestClient as Stub;
use crate::{GENERATION, proto};

/// Bytes of one answer that are taken: the largest view as text and as raw bytes, and what is around it.
const ANSWER_BYTES_MAX: usize = 2 * 16 * 1024 * 1024 + 1024 * 1024;
/// Bytes of one stream that the guest may send ahead of its reader.
const STREAM_WINDOW_BYTES: u32 = 1024 * 1024;
/// The same for a connection. Practically none: a reader that lags on one stream must not hold up the others.
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024 * 1024;
/// One frame. Large, because a local socket loses nothing and each frame costs a wake-up.
const FRAME_BYTES_MAX: u32 = 256 * 1024;
/// The headers and trailers of one answer; a refusal travels in them.
const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// How long a guest may take to answer, beyond the wait that a call asks for.
    pub answer_timeout: Duration,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { answer_timeout: Duration::from_secs(15) }
    }
}

/// A client of one guest.
#[derive(Clone)]
pub struct GuestClient {
    stub: Stub<Channel>,
    ids: Arc<RequestIds>,
    options: ClientOptions,
}

impl GuestClient {
    /// A client that reaches its guest by `connector`. Must be called within a tokio runtime. Nothing is sent yet.
    pub fn new(connector: impl Connector, options: ClientOptions) -> Self {
        let connector = Arc::new(connector);
        let open = tower::service_fn(move |_| {
            let connecting = connector.connect();
            async move { connecting.await.map(TokioIo::new) }
        });
        let channel = Endpoint::from_static("http://guest")
            .connect_timeout(limits::CONNECT_TIMEOUT)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_frame_size(FRAME_BYTES_MAX)
            .http2_max_header_list_size(HEADER_BYTES_MAX)
            .connect_with_connector_lazy(open);
        let stub = Stub::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX);
        Self { stub, ids: Arc::new(RequestIds::new()), options }
    }

    /// Who is there. Refuses a guest of another protocol generation.
    pub async fn hello(&self) -> Result<Hello, WireError> {
        let call = Call::new(Operation::Open, Repeat::Always);
        let request = proto::HelloRequest { generation: GENERATION };
        let reply = self.call(call, request, async |stub, request| stub.hello(request).await).await?;
        if reply.generation != GENERATION {
            return Err(WireError::Generation { theirs: reply.generation });
        }
        call.understood(reply.try_into())
    }

    /// Confirms or extends the lease; without `ttl` the sandbox lives until it is destroyed. Answers the generation that holds. An
    /// older generation than the guest's is refused with `lease_fenced`.
    pub async fn renew(&self, generation: u64, ttl: Option<Duration>) -> Result<u64, WireError> {
        let request = proto::RenewRequest { generation, ttl_ms: ttl.map(duration_ms) };
        let call = Call::new(Operation::Renew, Repeat::Always);
        let reply = self.call(call, request, async |stub, request| stub.renew(request).await).await?;
        Ok(reply.generation)
    }

    /// Ends every process (TERM, `grace`, KILL) and then the guest. Answers how many processes were ended.
    pub async fn shutdown(&self, generation: u64, grace: Duration) -> Result<u32, WireError> {
        let request = proto::ShutdownRequest { generation, grace_ms: duration_ms(grace) };
        let call = Call::new(Operation::Destroy, Repeat::Always).waiting(grace);
        let reply = self.call(call, request, async |stub, request| stub.shutdown(request).await).await?;
        Ok(reply.ended)
    }

    /// Starts a process and collects its first window; without `collect` it answers at once. A request id is made up when there is none.
    pub async fn start(&self, mut spec: StartSpec, collect: Option<Collect>) -> Result<Update, WireError> {
        convert::check_size(&spec)?;
        spec.request_id.get_or_insert_with(|| self.ids.next());
        let call = Call::new(Operation::StartProcess, Repeat::Always).waiting(window(collect.as_ref()));
        let request = proto::StartRequest { spec: Some(spec.into()), collect: collect.map(Into::into) };
        let reply = self.call(call, request, async |stub, request| stub.start(request).await).await?;
        call.understood(reply.try_into())
    }

    /// Starts a process and streams its output until it ends. When the stream breaks it goes on where it was.
    pub async fn run(&self, mut run: RunSpec) -> Result<Events, WireError> {
        convert::check_size(&run.spec)?;
        run.spec.request_id.get_or_insert_with(|| self.ids.next());
        Events::of_run(self.clone(), run).await
    }

    /// Starts a process, waits for its end, and answers up to `bytes_max` bytes of each stream, their middle left out.
    /// `end_with_caller` ends the process's tree when this future is dropped before. No deadline but the process's own timeout.
    pub async fn gather(&self, mut spec: StartSpec, bytes_max: u64, end_with_caller: bool) -> Result<Gathered, WireError> {
        convert::check_size(&spec)?;
        spec.request_id.get_or_insert_with(|| self.ids.next());
        events::gather(self, RunSpec { spec, gather_bytes_max: Some(bytes_max), end_with_caller }).await
    }

    /// Waits for output, the end, or a condition. With a cursor it is tried again when the answer is lost; without one only when it
    /// was not sent, because the guest's own cursor moves with each answer.
    pub async fn collect(&self, process: ProcessId, collect: Collect) -> Result<Update, WireError> {
        let call = Call::new(Operation::Collect, repeat_of(Some(&collect))).waiting(window(Some(&collect)));
        let request = proto::CollectRequest { process: process.0, collect: Some(collect.into()) };
        let reply = self.call(call, request, async |stub, request| stub.collect(request).await).await?;
        call.understood(reply.try_into())
    }

    /// Writes to a process, pauses, then collects; without `collect` it answers as soon as the bytes are accepted, and the cursor is where
    /// the transcript stood before the write. A write id is made up when there is none. With a collect that has no cursor it is tried
    /// again only when it was not sent, as for [`GuestClient::collect`].
    pub async fn write(
        &self,
        process: ProcessId,
        mut write: WriteSpec,
        pause: Duration,
        collect: Option<Collect>,
    ) -> Result<Update, WireError> {
        if write.bytes.len() > limits::WRITE_BYTES_MAX {
            return Err(convert::ConvertError::TooLong { field: "data", len: write.bytes.len(), limit: limits::WRITE_BYTES_MAX }.into());
        }
        write.write_id.get_or_insert_with(|| self.ids.next());
        let wait = write.patience.saturating_add(pause).saturating_add(window(collect.as_ref()));
        let call = Call::new(Operation::WriteProcess, repeat_of(collect.as_ref())).waiting(wait);
        let mut request = convert::write_request(process, write, pause);
        request.collect = collect.map(Into::into);
        let reply = self.call(call, request, async |stub, request| stub.write(request).await).await?;
        call.understood(reply.try_into())
    }

    /// Closes a process's input.
    pub async fn close_stdin(&self, process: ProcessId) -> Result<(), WireError> {
        let call = Call::new(Operation::CloseStdin, Repeat::Always);
        let request = proto::ProcessRequest { process: process.0 };
        self.call(call, request, async |stub, request| stub.close_stdin(request).await).await.map(drop)
    }

    /// Resizes a process's terminal.
    pub async fn resize(&self, process: ProcessId, size: TerminalSize) -> Result<(), WireError> {
        let call = Call::new(Operation::Resize, Repeat::Always);
        let request = proto::ResizeRequest { process: process.0, size: Some(size.into()) };
        self.call(call, request, async |stub, request| stub.resize(request).await).await.map(drop)
    }

    /// Sends a signal. Not tried again once sent, because two signals are not one.
    pub async fn signal(&self, process: ProcessId, target: Target, signal: Signal) -> Result<(), WireError> {
        let call = Call::new(Operation::Signal, Repeat::UnlessSent);
        let target = proto::Target::from(target).into();
        let request = proto::SignalRequest { process: process.0, signal: convert::signal_number(signal), target };
        self.call(call, request, async |stub, request| stub.signal(request).await).await.map(drop)
    }

    /// Ends a process with its whole tree: TERM, `grace`, KILL. A grace of zero kills at once.
    pub async fn kill(&self, process: ProcessId, grace: Duration) -> Result<Killed, WireError> {
        let call = Call::new(Operation::Kill, Repeat::Always).waiting(grace);
        let request = proto::KillRequest { process: process.0, grace_ms: duration_ms(grace) };
        let reply = self.call(call, request, async |stub, request| stub.kill(request).await).await?;
        call.understood(reply.try_into())
    }

    /// All processes that are still known.
    pub async fn list(&self) -> Result<Vec<ProcessInfo>, WireError> {
        let call = Call::new(Operation::List, Repeat::Always);
        let reply = self.call(call, proto::Empty {}, async |stub, request| stub.list(request).await).await?;
        call.understood(reply.processes.into_iter().map(ProcessInfo::try_from).collect())
    }

    /// Waits until one of `processes` has ended and answers those that have; none when `timeout` passed. At most
    /// [`limits::WAIT_ANY_MAX`] processes.
    pub async fn wait_any(&self, processes: &[ProcessId], timeout: Duration) -> Result<Vec<ProcessInfo>, WireError> {
        let call = Call::new(Operation::Collect, Repeat::Always).waiting(timeout);
        let processes = processes.iter().map(|process| process.0).collect();
        let request = proto::WaitAnyRequest { processes, timeout_ms: duration_ms(timeout) };
        let reply = self.call(call, request, async |stub, request| stub.wait_any(request).await).await?;
        call.understood(reply.ended.into_iter().map(ProcessInfo::try_from).collect())
    }

    /// Raw bytes of a transcript: of one stream, or of both in arrival order. At most [`limits::READ_REPLY_BYTES_MAX`] bytes are answered.
    pub async fn read(&self, process: ProcessId, from: u64, bytes_max: usize, stream: Option<Stream>) -> Result<TranscriptPart, WireError> {
        let call = Call::new(Operation::ReadTranscript, Repeat::Always);
        let stream = stream.map_or(proto::Stream::Unspecified, proto::Stream::from).into();
        let bytes_max = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        let request = proto::ReadRequest { process: process.0, from, bytes_max, stream };
        let reply = self.call(call, request, async |stub, request| stub.read(request).await).await?;
        call.understood(reply.try_into())
    }

    /// Raw bytes of a transcript as they come, until the process has ended and everything was sent. When the stream breaks it goes on
    /// where it was. `hold` slows the process down rather than lose bytes while this reader lags.
    pub async fn follow(&self, process: ProcessId, from: u64, hold: bool) -> Result<Events, WireError> {
        Events::of_follow(self.clone(), proto::FollowRequest { process: process.0, from, hold, owns_terminal: false }).await
    }

    /// Follows a transcript to show it on a terminal of the caller's: while this lasts the guest answers nothing that programs ask of
    /// their terminal, because that terminal does.
    pub async fn attach(&self, process: ProcessId, from: u64) -> Result<Events, WireError> {
        Events::of_follow(self.clone(), proto::FollowRequest { process: process.0, from, hold: false, owns_terminal: true }).await
    }

    /// What a process's terminal shows.
    pub async fn screen(&self, process: ProcessId, request: ScreenRequest) -> Result<Screen, WireError> {
        let ScreenRequest { since, scrollback_skip, scrollback_lines } = request;
        let call = Call::new(Operation::Screen, Repeat::Always);
        let request = proto::ScreenRequest { process: process.0, since, scrollback_skip, scrollback_lines };
        let reply = self.call(call, request, async |stub, request| stub.screen(request).await).await?;
        call.understood(reply.try_into())
    }

    /// A piece of the recording of a process's terminal. At most [`limits::READ_REPLY_BYTES_MAX`] bytes are answered.
    pub async fn recording(&self, process: ProcessId, from: u64, bytes_max: usize) -> Result<RecordingPart, WireError> {
        let call = Call::new(Operation::ReadRecording, Repeat::Always);
        let bytes_max = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        let request = proto::RecordingRequest { process: process.0, from, bytes_max };
        let reply = self.call(call, request, async |stub, request| stub.recording(request).await).await?;
        call.understood(reply.try_into())
    }
}

impl fmt::Debug for GuestClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GuestClient").field("options", &self.options).finish_non_exhaustive()
    }
}

fn window(collect: Option<&Collect>) -> Duration {
    collect.map_or(Duration::ZERO, |collect| collect.window)
}

/// A collect from the guest's own cursor is another collect when it is made again.
fn repeat_of(collect: Option<&Collect>) -> Repeat {
    if collect.is_some_and(|collect| collect.cursor.is_none()) { Repeat::UnlessSent } else { Repeat::Always }
}

/// Where a stream of events stands after `event` when it stood at `next`.
fn advance(next: u64, event: &FollowEvent) -> u64 {
    match event {
        FollowEvent::Output(part) => part.offset.saturating_add(part.bytes.len() as u64),
        FollowEvent::Lost(bytes) => next.saturating_add(*bytes),
        FollowEvent::Started(_) | FollowEvent::Ended(_) => next,
    }
}
