//! A guest without processes, and a line to it that can be cut.

use std::collections::BTreeSet;
use std::net::Shutdown;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crannog_core::collect::{Collect, Reason};
use crannog_core::end::End;
use crannog_core::error::ErrorCode;
use crannog_core::id::ProcessId;
use crannog_core::process::{ProcessInfo, StartSpec, Stream, TerminalSize, Update, WriteSpec};
use crannog_core::screen::{Cursor, RecordingPart, RecordingState, Screen, ScreenRequest, ScreenRow};
use crannog_core::signal::{Signal, Target};
use crannog_core::transcript::{Ended, FollowEvent, Killed, Part, TranscriptPart, Usage};
use crannog_wire::connector::Connecting;
use crannog_wire::message::{Hello, RunSpec, Tracking};
use crannog_wire::server::{self, Caller};
use crannog_wire::{ByteStream, ClientOptions, Connector, EventStream, Failure, GuestClient, GuestService};
use futures_util::{StreamExt as _, stream};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, watch};

/// Output of the fake transcript that one event carries.
pub(crate) const EVENT_BYTES: usize = 16 * 1024;
/// Events of the fake transcript.
pub(crate) const EVENTS: u64 = 400;

/// A guest that tells what was asked of it.
pub(crate) struct Fake {
    pub(crate) log: Mutex<Vec<String>>,
    pub(crate) request_ids: Mutex<BTreeSet<String>>,
    /// Calls of `collect` and `signal` wait until this is true.
    pub(crate) answering: watch::Sender<bool>,
    /// Calls that wait now.
    pub(crate) waiting: watch::Sender<usize>,
    /// Events that were asked for.
    pub(crate) pulled: Arc<AtomicU64>,
    pub(crate) stream_dropped: Arc<AtomicBool>,
}

impl Fake {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            log: Mutex::default(),
            request_ids: Mutex::default(),
            answering: watch::Sender::new(true),
            waiting: watch::Sender::new(0),
            pulled: Arc::default(),
            stream_dropped: Arc::default(),
        })
    }

    pub(crate) fn count(&self, call: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|entry| *entry == call).count()
    }

    /// Waits until `call` was made `count` times.
    pub(crate) async fn until_called(&self, call: &str, count: usize) {
        let called = async {
            while self.count(call) < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), called).await.unwrap();
    }

    /// Waits until `count` calls wait.
    pub(crate) async fn until_waiting(&self, count: usize) {
        let mut waiting = self.waiting.subscribe();
        tokio::time::timeout(Duration::from_secs(10), waiting.wait_for(|now| *now == count)).await.unwrap().unwrap();
    }

    async fn answer(&self, call: &str) {
        self.log.lock().unwrap().push(call.to_owned());
        self.waiting.send_modify(|waiting| *waiting += 1);
        let _leave = Leave(&self.waiting);
        self.answering.subscribe().wait_for(|answering| *answering).await.unwrap();
    }

    /// The fake transcript from `from` on, in events of [`EVENT_BYTES`].
    fn events(&self, from: u64) -> EventStream {
        let pulled = self.pulled.clone();
        let dropped = SetOnDrop(self.stream_dropped.clone());
        let first = from / EVENT_BYTES as u64;
        let output = stream::iter(first..EVENTS).map(move |number| {
            let _dropped = &dropped;
            pulled.fetch_add(1, Ordering::SeqCst);
            let bytes = vec![u8::try_from(number % 251).unwrap(); EVENT_BYTES];
            Ok(FollowEvent::Output(Part { offset: number * EVENT_BYTES as u64, stream: Stream::Stdout, bytes }))
        });
        let started = stream::iter([Ok(FollowEvent::Started(ProcessId(1_000)))]);
        let ended = stream::iter([Ok(FollowEvent::Ended(ended()))]);
        Box::pin(started.chain(output).chain(ended))
    }
}

struct Leave<'waiting>(&'waiting watch::Sender<usize>);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|waiting| *waiting -= 1);
    }
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn ended() -> Ended {
    Ended {
        end: End::Exited { code: 0 },
        duration_ms: 1,
        descendants_alive: false,
        stdout_omitted_bytes: 0,
        stderr_omitted_bytes: 0,
        usage: Usage::default(),
    }
}

fn update(process: ProcessId, text: &str) -> Update {
    Update {
        process,
        text: text.to_owned(),
        raw: text.as_bytes().to_vec(),
        start: 0,
        cursor: text.len() as u64,
        omitted_bytes: 0,
        lost_bytes: 0,
        original_token_count: None,
        end: None,
        waiting_for_input: false,
        echo: None,
        descendants_alive: false,
        reason: Reason::Window,
        written: None,
    }
}

impl GuestService for Fake {
    fn hello(&self) -> Hello {
        Hello {
            guest_version: "1".to_owned(),
            sandbox: "sbx_fake".to_owned(),
            tracking: Tracking::Lineage,
            pid: 1,
            uptime: Duration::ZERO,
            processes_live: 0,
            lease_remaining: None,
            lease_generation: 1,
        }
    }

    fn renew(&self, generation: u64, _ttl: Option<Duration>) -> Result<u64, Failure> {
        if generation < 5 {
            return Err(Failure::new(ErrorCode::LeaseFenced, "this lease is generation 5").with("generation", 5));
        }
        Ok(generation)
    }

    async fn shutdown(&self, _generation: u64, _grace: Duration) -> Result<u32, Failure> {
        Ok(0)
    }

    async fn start(&self, spec: StartSpec, _collect: Option<Collect>) -> Result<Update, Failure> {
        self.request_ids.lock().unwrap().insert(spec.request_id.unwrap());
        self.answer("start").await;
        Ok(update(ProcessId(1_000), "started"))
    }

    async fn run(&self, _run: RunSpec) -> Result<EventStream, Failure> {
        self.answer("run").await;
        Ok(self.events(0))
    }

    async fn collect(&self, process: ProcessId, _collect: Collect) -> Result<Update, Failure> {
        self.answer("collect").await;
        assert_ne!(process.0, 666, "a fault");
        Ok(update(process, "collected"))
    }

    async fn write(&self, process: ProcessId, write: WriteSpec, _pause: Duration, _collect: Option<Collect>) -> Result<Update, Failure> {
        self.answer("write").await;
        Ok(update(process, &String::from_utf8(write.bytes).unwrap()))
    }

    fn close_stdin(&self, _process: ProcessId) -> Result<(), Failure> {
        Err(Failure::new(ErrorCode::StdinClosed, "there is no input"))
    }

    fn resize(&self, _process: ProcessId, _size: TerminalSize) -> Result<(), Failure> {
        Ok(())
    }

    fn signal(&self, _process: ProcessId, _target: Target, _signal: Signal) -> Result<(), Failure> {
        self.log.lock().unwrap().push("signal".to_owned());
        Ok(())
    }

    async fn kill(&self, _process: ProcessId, _grace: Duration) -> Result<Killed, Failure> {
        Ok(Killed { end: End::Cancelled { signal: Signal::TERM }, reached: 1, complete: true })
    }

    fn list(&self) -> Vec<ProcessInfo> {
        Vec::new()
    }

    async fn wait_any(&self, _processes: Vec<ProcessId>, _timeout: Duration) -> Result<Vec<ProcessInfo>, Failure> {
        Ok(Vec::new())
    }

    async fn read(&self, _process: ProcessId, _from: u64, bytes_max: usize, _stream: Option<Stream>) -> Result<TranscriptPart, Failure> {
        Ok(TranscriptPart { parts: Vec::new(), next: bytes_max as u64, lost_bytes: 0, total: 0, end: None })
    }

    fn follow(&self, _process: ProcessId, from: u64, _hold: bool, owns_terminal: bool) -> Result<EventStream, Failure> {
        let call = if owns_terminal { "attach" } else { "follow" };
        self.log.lock().unwrap().push(format!("{call} {from}"));
        Ok(self.events(from))
    }

    async fn screen(&self, _process: ProcessId, request: ScreenRequest) -> Result<Screen, Failure> {
        Ok(Screen {
            size: TerminalSize::default(),
            rows: vec![ScreenRow { row: 3, text: "shown".to_owned() }],
            cursor: Cursor { row: 3, column: 5, visible: true },
            title: "title".to_owned(),
            alternate: true,
            version: request.since.unwrap_or(1) + 1,
            offset: 9,
            rendered_from: 4,
            scrollback: vec!["gone".to_owned(); request.scrollback_lines as usize],
            scrollback_total: request.scrollback_skip + request.scrollback_lines,
            end: Some(End::Exited { code: 7 }),
        })
    }

    fn recording(&self, _process: ProcessId, from: u64, bytes_max: usize) -> Result<RecordingPart, Failure> {
        Ok(RecordingPart { bytes: vec![b'x'; bytes_max], total: from + bytes_max as u64, state: RecordingState::Cut })
    }
}

/// Connects callers to a fake guest, and can cut every line there is.
#[derive(Clone)]
pub(crate) struct Exchange {
    callers: mpsc::UnboundedSender<StdStream>,
    lines: Arc<Mutex<Vec<StdStream>>>,
    /// Connections are refused.
    pub(crate) closed: Arc<AtomicBool>,
}

impl Exchange {
    pub(crate) fn new(fake: Arc<Fake>) -> Self {
        let (callers, mut waiting) = mpsc::unbounded_channel::<StdStream>();
        let incoming =
            stream::poll_fn(move |context| waiting.poll_recv(context)).map(|stream| UnixStream::from_std(stream).map(Caller::new));
        tokio::spawn(server::serve(fake, incoming, std::future::pending()));
        Self { callers, lines: Arc::default(), closed: Arc::default() }
    }

    pub(crate) fn client(&self) -> GuestClient {
        GuestClient::new(self.clone(), ClientOptions { answer_timeout: Duration::from_secs(10) })
    }

    pub(crate) fn cut(&self) {
        for line in self.lines.lock().unwrap().drain(..) {
            line.shutdown(Shutdown::Both).unwrap();
        }
    }

    pub(crate) fn connections(&self) -> usize {
        self.lines.lock().unwrap().len()
    }

    /// A line on which anything can be said.
    pub(crate) fn line(&self) -> StdStream {
        let (near, far) = StdStream::pair().unwrap();
        far.set_nonblocking(true).unwrap();
        near.set_nonblocking(true).unwrap();
        self.callers.send(far).unwrap();
        near
    }
}

impl Connector for Exchange {
    fn connect(&self) -> Connecting {
        if self.closed.load(Ordering::SeqCst) {
            return Box::pin(async { Err(std::io::ErrorKind::ConnectionRefused.into()) });
        }
        let near = self.line();
        self.lines.lock().unwrap().push(near.try_clone().unwrap());
        Box::pin(async { Ok(Box::new(UnixStream::from_std(near)?) as ByteStream) })
    }
}
