//! A host of its own for each test: the real program, its own directory, and nothing left at the end.
//!
//! The guest program is the one that `CRANNOG_GUEST` names; `./test` builds it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Longest wait for anything that has to happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// The program under test.
pub(crate) const CRANNOG: &str = env!("CARGO_BIN_EXE_crannog");

/// A directory in which everything is kept. When dropped, every sandbox in it is ended.
pub(crate) struct Home {
    directory: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        assert!(std::env::var_os("CRANNOG_GUEST").is_some(), "set CRANNOG_GUEST to a built crannog-guest, as ./test does");
        Self { directory: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The program with this home and these arguments, not started yet.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(CRANNOG);
        command.args(arguments).env("CRANNOG_HOME", self.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs it with this input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // On a thread of its own: the program may print before it has read all.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    /// Runs it, expects success, and hands over what it printed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it with `--json`, expects success, and reads the document.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(&with_json(arguments));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Runs it with `--json`, expects failure, and hands over the exit code and the error.
    pub(crate) fn error(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.run(&with_json(arguments));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{arguments:?} succeeded");
        assert_eq!(text.lines().count(), 1, "one line: {text}");
        let document: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        (output.status.code().unwrap(), document["error"].clone())
    }

    /// A fresh sandbox's id.
    pub(crate) fn sandbox(&self) -> String {
        self.ok(&["up"]).trim().to_owned()
    }

    /// Waits until a process's output holds this text.
    pub(crate) fn wait_for(&self, sandbox: &str, process: &str, text: &str) {
        let until = format!("text:{text}");
        let update = self.json(&["collect", sandbox, process, "--cursor", "0", "--window", "20000", "--until", &until]);
        assert!(update["output"].as_str().unwrap().contains(text), "{update}");
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let down = self.run(&["down", "--all"]);
        if !std::thread::panicking() {
            assert!(down.status.success(), "{down:?}");
        }
    }
}

fn with_json<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    std::iter::once("--json").chain(arguments.iter().copied()).collect()
}

/// The number of the process that an answer is about.
pub(crate) fn process_of(update: &Value) -> String {
    update["process"].as_u64().unwrap_or_else(|| panic!("it runs: {update}")).to_string()
}

/// The bytes behind a base64 field.
pub(crate) fn bytes_of(document: &Value, field: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(document[field].as_str().unwrap()).unwrap()
}

/// Waits until something holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < DEADLINE, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Live processes whose command line holds this text.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        // One that ends meanwhile has no command line any more, and a zombie never has.
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_ours = pid != std::process::id();
        if is_ours && line.windows(text.len()).any(|window| window == text.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

/// How many live processes have exactly these arguments.
pub(crate) fn processes_running(arguments: &[&str]) -> usize {
    let line: Vec<u8> = arguments.iter().flat_map(|argument| [argument.as_bytes(), b"\0"].concat()).collect();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|found| found == line)).count()
}

/// A number that no other test uses as a time to sleep: it marks this test's processes.
pub(crate) fn marker() -> String {
    let nanoseconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    format!("{}.{nanoseconds:09}", 3_000 + std::process::id() % 1_000_000)
}

/// Ends a child that we started.
pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}
