//! A fresh sandbox for one case, with the verbs that cases use. A verb without `try_` panics when the product refuses.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crannog::{
    Error, ErrorCode, ExecOutput, Host, Input, Killed, ProcessId, ProcessInfo, Sandbox, SandboxOptions, Signal, Target, TerminalSize,
    Update,
};
use tempfile::TempDir;

use crate::place::{Need, Place};
use crate::processes;
use crate::run::{Run, Wait};
use crate::whole::Whole;

/// Longest time that a case follows one process to its end.
const FINISH_MAX: Duration = Duration::from_secs(90);
/// How long a process of a destroyed sandbox may still be seen: the kernel tears an exiting process down after its exit is reported.
const GONE_MAX: Duration = Duration::from_secs(2);

/// A host of its own with one sandbox in it.
pub struct Room {
    place: Arc<dyn Place>,
    root: TempDir,
    host: Host,
    sandbox: Sandbox,
    neighbours: Mutex<Vec<Arc<Room>>>,
}

impl std::fmt::Debug for Room {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Room").field("place", &self.place.name()).field("sandbox", &self.id()).finish_non_exhaustive()
    }
}

impl Room {
    /// Makes a host and a sandbox.
    pub async fn open(place: Arc<dyn Place>, options: SandboxOptions) -> Self {
        let root = tempfile::Builder::new().prefix("crannog-").tempdir().unwrap();
        let host = place.host(root.path()).unwrap();
        let sandbox = Sandbox::create(&host, options).await.unwrap_or_else(|error| panic!("no sandbox: {error:?}"));
        Self { place, root, host, sandbox, neighbours: Mutex::new(Vec::new()) }
    }

    /// Another room, on a host of its own, that is cleaned up with this one.
    pub async fn neighbour(&self, options: SandboxOptions) -> Arc<Room> {
        let room = Arc::new(Box::pin(Self::open(Arc::clone(&self.place), options)).await);
        self.neighbours.lock().unwrap().push(Arc::clone(&room));
        room
    }

    /// Destroys the sandbox and says what is left of it and of its neighbours. May be called again.
    pub async fn close(&self) -> Vec<String> {
        let mut left = Vec::new();
        let neighbours: Vec<_> = self.neighbours.lock().unwrap().clone();
        for neighbour in neighbours {
            left.extend(Box::pin(neighbour.close()).await);
        }
        let guest = self.guest_if_local().await;
        match self.host.destroy(self.id()).await {
            Ok(()) => {}
            Err(error) if error.code() == ErrorCode::SandboxNotFound => {}
            Err(error) => left.push(format!("destroy failed: {error:?}")),
        }
        if let Some(guest) = guest
            && !processes::eventually(GONE_MAX, || processes::running(guest).is_none()).await
        {
            left.push(format!("the guest {guest}"));
        }
        if self.lacks(Need::GuestProcess).is_none() {
            processes::eventually(GONE_MAX, || processes::of_sandbox(self.id()).is_empty()).await;
            left.extend(processes::of_sandbox(self.id()).into_iter().map(|seen| format!("{seen:?}")));
        }
        left.extend(paths_with(self.root.path(), self.id()).into_iter().map(|path| path.display().to_string()));
        left
    }

    /// The sandbox.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The sandbox's id.
    pub fn id(&self) -> &str {
        self.sandbox.id().as_str()
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Where the host keeps things; `CRANNOG_HOME` of programs that are to see the same sandboxes.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The place.
    pub fn place(&self) -> &dyn Place {
        &*self.place
    }

    /// Why the place lacks what a case needs; the case then ends, and its output says so.
    pub fn lacks(&self, need: Need) -> Option<String> {
        self.place.lacks(need)
    }

    /// The kernel's number of the guest. Only where [`Need::GuestProcess`] is met.
    pub async fn guest(&self) -> u32 {
        self.guest_if_local().await.expect("this place has a guest process")
    }

    async fn guest_if_local(&self) -> Option<u32> {
        if self.lacks(Need::GuestProcess).is_some() {
            return None;
        }
        self.sandbox.info().await.ok()?.guest_pid
    }

    /// Starts a process and waits its first window.
    pub async fn try_start(&self, run: Run) -> Result<Update, Error> {
        self.sandbox.start_and_collect(run.spec(), run.collect()).await
    }

    /// As [`Self::try_start`].
    pub async fn start(&self, run: Run) -> Update {
        self.try_start(run.clone()).await.unwrap_or_else(|error| panic!("start of {run:?}: {error:?}"))
    }

    /// The next window.
    pub async fn try_collect(&self, process: ProcessId, wait: Wait) -> Result<Update, Error> {
        self.sandbox.collect(process, wait.0).await
    }

    /// As [`Self::try_collect`].
    pub async fn collect(&self, process: ProcessId, wait: Wait) -> Update {
        self.try_collect(process, wait).await.unwrap_or_else(|error| panic!("collect of {process}: {error:?}"))
    }

    /// Writes with a patience of the window, at least a second, then waits the window.
    pub async fn try_write(&self, process: ProcessId, bytes: impl AsRef<[u8]>, wait: Wait) -> Result<Update, Error> {
        // A write that asks for no window still gives the process a moment to take the bytes.
        let patience = wait.0.window.max(Duration::from_secs(1));
        self.sandbox.write_and_collect(process, Input::new(bytes.as_ref()).patience(patience), wait.0).await
    }

    /// As [`Self::try_write`].
    pub async fn write(&self, process: ProcessId, bytes: impl AsRef<[u8]>, wait: Wait) -> Update {
        self.try_write(process, bytes, wait).await.unwrap_or_else(|error| panic!("write to {process}: {error:?}"))
    }

    /// Closes the input.
    pub async fn close_stdin(&self, process: ProcessId) {
        self.sandbox.close_stdin(process).await.unwrap_or_else(|error| panic!("close-stdin of {process}: {error:?}"));
    }

    /// Resizes the terminal.
    pub async fn try_resize(&self, process: ProcessId, rows: u16, columns: u16) -> Result<(), Error> {
        self.sandbox.resize(process, TerminalSize { rows, columns }).await
    }

    /// Sends a signal.
    pub async fn signal(&self, process: ProcessId, signal: Signal, target: Target) {
        self.sandbox.signal(process, signal, target).await.unwrap_or_else(|error| panic!("signal to {process}: {error:?}"));
    }

    /// Ends a process with its tree, with the default grace.
    pub async fn kill(&self, process: ProcessId) -> Killed {
        self.try_kill(process).await.unwrap_or_else(|error| panic!("kill of {process}: {error:?}"))
    }

    /// As [`Self::kill`].
    pub async fn try_kill(&self, process: ProcessId) -> Result<Killed, Error> {
        self.sandbox.kill(process, None).await
    }

    /// All processes that the sandbox knows.
    pub async fn list(&self) -> Vec<ProcessInfo> {
        self.sandbox.processes().await.unwrap_or_else(|error| panic!("list: {error:?}"))
    }

    /// One line of the list.
    pub async fn info(&self, process: ProcessId) -> ProcessInfo {
        self.sandbox.process(process).await.unwrap_or_else(|error| panic!("info of {process}: {error:?}"))
    }

    /// Runs a command to its end with separate streams.
    pub async fn try_exec(&self, run: Run) -> Result<ExecOutput, Error> {
        self.sandbox.exec(run.into_command()).await
    }

    /// As [`Self::try_exec`].
    pub async fn exec(&self, run: Run) -> ExecOutput {
        self.try_exec(run.clone()).await.unwrap_or_else(|error| panic!("exec of {run:?}: {error:?}"))
    }

    /// The standard output of a short bash text that must succeed, without its last line end.
    pub async fn bash(&self, text: &str) -> String {
        let output = self.exec(Run::bash(text)).await;
        assert_eq!(output.exit_code(), Some(0), "{text}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end_matches('\n').to_owned()
    }

    /// Joins answers from `first` to the end of the process.
    pub async fn finish(&self, first: Update) -> Whole {
        self.finish_in_windows(first, 10_000).await
    }

    /// As [`Self::finish`], asking in windows of this length.
    pub async fn finish_in_windows(&self, first: Update, window_ms: u64) -> Whole {
        let deadline = Instant::now() + FINISH_MAX;
        let mut whole = Whole::of(&first);
        while whole.end.is_none() {
            assert!(Instant::now() < deadline, "no end within {FINISH_MAX:?}: {:?}", whole.texts.last());
            let next = self.collect(whole.process, Wait::ms(window_ms).from(whole.cursor)).await;
            whole.add(&next);
        }
        whole
    }

    /// Starts and follows to the end.
    pub async fn whole(&self, run: Run) -> Whole {
        let first = self.start(run).await;
        self.finish(first).await
    }

    /// Joins answers from `first` until the text holds `wanted`, at most ten seconds.
    pub async fn read_until(&self, first: Update, wanted: &str) -> Whole {
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut whole = Whole::of(&first);
        while !whole.text.contains(wanted) {
            assert!(Instant::now() < deadline && whole.end.is_none(), "no {wanted:?} in {:?}", whole.text);
            let next = self.collect(whole.process, Wait::ms(50).from(whole.cursor)).await;
            whole.add(&next);
        }
        whole
    }
}

/// Every path below `root` with `id` in its name.
fn paths_with(root: &Path, id: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().contains(id) {
                found.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                directories.push(entry.path());
            }
        }
    }
    found
}
