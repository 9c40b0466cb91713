//! An engine on a runtime of its own, for one test.
//!
//! An engine reaps every child of its operating system process, so two of them in one process would take each other's statuses. The test
//! runner of this repository (`cargo nextest`) gives each test a process. Under plain `cargo test` use `--test-threads 1`.

#![allow(dead_code, clippy::unwrap_used, clippy::unnecessary_wraps, unreachable_pub)]

use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use crannog_core::collect::{Collect, Until};
use crannog_core::end::End;
use crannog_core::id::ProcessId;
use crannog_core::process::{Connection, Program, StartSpec, Stdin, TerminalSize, Update, WriteSpec, Written};
use crannog_engine::{Engine, EngineConfig};

/// Longest that a test may take.
const TEST_MAX: Duration = Duration::from_mins(1);
/// Grace of the shutdown at the end of each test.
const GRACE: Duration = Duration::from_millis(100);

/// What a test works with.
pub struct Sandbox {
    pub engine: Engine,
    pub directory: tempfile::TempDir,
    /// Unique in the machine; tags every process of the test.
    pub id: String,
}

/// Runs a test on an engine with the default configuration.
pub fn run<F: Future<Output = ()>>(test: impl FnOnce(Sandbox) -> F) {
    run_with(|_| {}, test);
}

/// Runs a test on an engine whose configuration was changed. Afterwards everything is shut down and nothing may be left.
pub fn run_with<F: Future<Output = ()>>(configure: impl FnOnce(&mut EngineConfig), test: impl FnOnce(Sandbox) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let id = format!("test-{}", std::process::id());
        let spill = tempfile::tempdir().unwrap();
        let mut config = EngineConfig::new(&*id, directory.path(), 42);
        config.spill = Some(spill.path().to_owned());
        configure(&mut config);
        let engine = Engine::new(config).unwrap();
        let server = engine.clone();
        let serving = tokio::spawn(async move { server.serve().await });
        let sandbox = Sandbox { engine: engine.clone(), directory, id: id.clone() };
        tokio::time::timeout(TEST_MAX, test(sandbox)).await.expect("the test takes too long");
        engine.shutdown(GRACE).await;
        serving.abort();
        assert_eq!(tagged(&id), Vec::<String>::new(), "processes are left");
    });
}

/// Runs a test twice: with cgroups where they can be had, and tracking trees by lineage.
pub fn run_both<F: Future<Output = ()>>(test: impl Fn(Sandbox) -> F) {
    for cgroups in [true, false] {
        run_with(|config| config.cgroups = cgroups, &test);
    }
}

/// `bash -c` without a terminal and without input.
pub fn bash(text: &str) -> StartSpec {
    argv(&["bash", "-c", text])
}

pub fn argv(arguments: &[&str]) -> StartSpec {
    StartSpec::new(Program::Argv(arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect()))
}

pub trait SpecExt {
    fn on_terminal(self) -> Self;
    fn with_input(self) -> Self;
    fn with(self, name: &str, value: &str) -> Self;
    fn within(self, timeout: Duration) -> Self;
}

impl SpecExt for StartSpec {
    fn on_terminal(mut self) -> Self {
        self.connection = Connection::Terminal(TerminalSize::default());
        self
    }

    fn with_input(mut self) -> Self {
        self.connection = Connection::Pipes(Stdin::Piped);
        self
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.as_bytes().to_vec(), value.as_bytes().to_vec()));
        self
    }

    fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

/// A collect that waits for the window or the end.
pub fn window(window_ms: u64) -> Collect {
    Collect { cursor: None, window: Duration::from_millis(window_ms), until: Vec::new(), budget: None }
}

/// A collect that waits for a condition, or 20 s.
pub fn until(condition: Until) -> Collect {
    Collect { until: vec![condition], ..window(20_000) }
}

pub fn until_text(text: &str) -> Collect {
    until(Until::Text(text.to_owned()))
}

impl Sandbox {
    /// Starts and waits for the end. All output is in the answer.
    pub async fn finish(&self, spec: StartSpec) -> Update {
        let process = self.engine.start(spec).unwrap();
        self.end_of(process).await
    }

    /// Collects to the end.
    pub async fn end_of(&self, process: ProcessId) -> Update {
        let update = self.engine.collect(process, Collect { cursor: Some(0), ..window(30_000) }).await.unwrap();
        assert!(update.end.is_some(), "still running after {} bytes", update.cursor);
        update
    }

    pub async fn collect(&self, process: ProcessId, collect: Collect) -> Update {
        self.engine.collect(process, collect).await.unwrap()
    }

    pub async fn write(&self, process: ProcessId, bytes: impl AsRef<[u8]>) -> Written {
        self.engine.write(process, input(bytes)).await.unwrap()
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// A write with ten seconds of patience.
pub fn input(bytes: impl AsRef<[u8]>) -> WriteSpec {
    WriteSpec { bytes: bytes.as_ref().to_vec(), write_id: None, patience: Duration::from_secs(10) }
}

pub fn exited(code: u8) -> Option<End> {
    Some(End::Exited { code })
}

/// Waits until a condition holds.
pub async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Command lines of the living processes that carry a sandbox's tag.
pub fn tagged(id: &str) -> Vec<String> {
    let tag = format!("CRANNOG_SANDBOX={id}");
    let living = processes().into_iter().filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == tag.as_bytes())
    });
    living.map(command_line).filter(|line| !line.is_empty()).collect()
}

/// Whether a living process has exactly this command line, blanks between the arguments. Unlike [`tagged`] this finds who lost the tag.
pub fn is_running(line: &str) -> bool {
    processes().into_iter().any(|pid| command_line(pid) == line)
}

fn processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Empty for zombies.
fn command_line(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).trim_end_matches('\0').replace('\0', " ")
}

/// Children of ours that ended and were not reaped.
pub fn zombies() -> usize {
    let stat = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let own = std::process::id().to_string();
    let is_zombie = |pid: &u32| {
        let stat = stat(*pid);
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.first() == Some(&"Z") && fields.get(1) == Some(&own.as_str())
    };
    processes().iter().filter(|pid| is_zombie(pid)).count()
}

/// Our open descriptors.
pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Resident memory of ours, bytes.
pub fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
