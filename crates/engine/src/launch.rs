//! From what a caller asks for to a running process in the table.
//!
//! Everything that can be refused is refused before the kernel is asked. Then descriptors, spawn and table entry follow one another without
//! an await, so the reaper can't come in between and a failure leaves nothing behind.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crannog_core::id::ProcessId;
use crannog_core::limits;
use crannog_core::log::{Limits, OutputLog};
use crannog_core::process::{Connection, Program, StartSpec, TerminalSize};
use crannog_sys::spawn::{self, Command, SpawnError, SpawnReason};
use tokio::time::Instant;

use crate::connection::Connected;
use crate::engine::Engine;
use crate::environment::{Environment, SHELL};
use crate::error::EngineError;
use crate::host::{RunAs, limits_of};
use crate::process::{Leader, Parts, Process, State};
use crate::recording::{Header, Recording};
use crate::spill::Spill;
use crate::tree::Tree;
use crate::{input, reader, timeout};

/// Bytes of a command kept for listings.
const COMMAND_BYTES_MAX: usize = 4 * 1024;

pub(crate) fn start(engine: &Engine, spec: StartSpec) -> Result<ProcessId, EngineError> {
    input::check_id("request_id", spec.request_id.as_deref())?;
    if let Some(known) = spec.request_id.as_deref().and_then(|id| engine.0.table().repeated(id)) {
        return Ok(known);
    }
    let argv = argv(&spec.program)?;
    check_recording(engine, &spec)?;
    let run_as = engine.0.host.run_as(spec.user.as_deref())?;
    let id = engine.0.table().choose_id(|| engine.0.random.draw(), engine.0.config.processes_live_max)?;
    let tag = format!("{}/{id}", engine.0.config.sandbox);
    let environment = environment(engine, &spec, &run_as, &tag)?;
    check_arguments(&argv, &environment)?;
    let (connected, stdio) = Connected::open(spec.connection, &engine.0.host)?;
    let tree = Tree::new(&engine.0.host, id, &tag);
    let command = command(engine, &spec, run_as, argv, environment, stdio, &tree)?;
    let started = Instant::now();
    let spawned = spawn::spawn(&command);
    // Our copies of the child's ends go now: otherwise its output would never end.
    let tried = Tried::new(&command);
    drop(command);
    let spawned = match spawned {
        Ok(spawned) => spawned,
        Err(error) => {
            tree.release();
            return Err(refusal(error, &tried));
        }
    };
    tree.set_leader(spawned.pid);
    let log = OutputLog::new(
        Limits { archive_bytes: engine.0.config.spill_bytes, ..Limits::default() },
        engine.0.config.spill.as_ref().map_or_else(Spill::none, |directory| Spill::new(directory.clone(), format!("{id}"))),
    );
    let mut state = State::new(log, Leader::Running { pid: spawned.pid }, connected.terminal);
    state.recording = recording(engine, id, &spec, started);
    let parts = Parts { started, tree, input: connected.input, outputs: connected.outputs };
    let process = Arc::new(Process::new(id, display(&spec.program), parts, state));
    engine.0.table().insert(process.clone(), spawned.pid, spec.request_id);
    process.touch(u64::try_from(engine.0.now().as_millis()).unwrap_or(u64::MAX));
    reader::spawn(&process, &engine.0.buffer, &engine.0.screens);
    if let Some(after) = spec.timeout {
        timeout::arm(engine, &process, after);
    }
    Ok(id)
}

/// Refuses a size that no terminal has.
pub(crate) fn check_size(size: TerminalSize) -> Result<(), EngineError> {
    let sides = 1..=limits::TERMINAL_SIDE_MAX;
    if sides.contains(&size.rows) && sides.contains(&size.columns) {
        return Ok(());
    }
    let problem = format!("{} rows and {} columns; each has to be 1 to {}", size.rows, size.columns, limits::TERMINAL_SIDE_MAX);
    Err(EngineError::InvalidArgument { name: "terminal", problem })
}

/// Refuses a recording of what is no terminal, or that there is no place for.
fn check_recording(engine: &Engine, spec: &StartSpec) -> Result<(), EngineError> {
    let problem = match (&spec.connection, &engine.0.config.spill) {
        _ if !spec.record => return Ok(()),
        (Connection::Pipes(_), _) => "only a terminal can be recorded: start the process with one",
        (Connection::Terminal(_), None) => "this sandbox has no directory for recordings",
        (Connection::Terminal(_), Some(_)) => return Ok(()),
    };
    Err(EngineError::InvalidArgument { name: "record", problem: problem.to_owned() })
}

/// Begins the recording that a start asks for.
fn recording(engine: &Engine, id: ProcessId, spec: &StartSpec, started: Instant) -> Option<Box<Recording>> {
    let Connection::Terminal(size) = spec.connection else { return None };
    let directory = engine.0.config.spill.as_ref().filter(|_| spec.record)?;
    let timestamp = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let command = display(&spec.program);
    let header = Header { size, timestamp, command: &command };
    Some(Box::new(Recording::new(directory, &format!("{id}.cast"), started, header)))
}

fn argv(program: &Program) -> Result<Vec<CString>, EngineError> {
    let refused = |problem: &str| EngineError::InvalidArgument { name: "program", problem: problem.to_owned() };
    let arguments: Vec<&[u8]> = match program {
        Program::Argv(arguments) if arguments.is_empty() => return Err(refused("the argument vector is empty")),
        Program::Argv(arguments) => arguments.iter().map(Vec::as_slice).collect(),
        // The text may begin with a dash, which is not to be an option.
        Program::Shell(text) => vec![b"sh", b"-c", b"--", text],
    };
    let string = |argument: &&[u8]| CString::new(*argument).map_err(|_| refused("an argument holds a NUL byte"));
    arguments.iter().map(string).collect()
}

fn environment(engine: &Engine, spec: &StartSpec, run_as: &RunAs, tag: &str) -> Result<Environment, EngineError> {
    let has_terminal = matches!(spec.connection, Connection::Terminal(_));
    let mut environment = Environment::new(&run_as.identity, has_terminal);
    environment.add(&engine.0.config.environment)?;
    environment.add(&spec.environment)?;
    environment.tag(&engine.0.config.sandbox, tag);
    Ok(environment)
}

fn check_arguments(argv: &[CString], environment: &Environment) -> Result<(), EngineError> {
    let bytes = arguments_bytes(argv) + environment.bytes();
    if bytes > limits::ARGUMENT_BYTES_MAX {
        return Err(EngineError::ArgumentsTooLarge { bytes, source: std::io::ErrorKind::ArgumentListTooLong.into() });
    }
    Ok(())
}

fn arguments_bytes(arguments: &[CString]) -> usize {
    arguments.iter().map(|argument| argument.as_bytes_with_nul().len()).sum()
}

fn command(
    engine: &Engine,
    spec: &StartSpec,
    run_as: RunAs,
    argv: Vec<CString>,
    environment: Environment,
    stdio: [OwnedFd; 3],
    tree: &Tree,
) -> Result<Command, EngineError> {
    let search_path = match &spec.program {
        Program::Shell(_) => vec![CString::new(SHELL).expect("a constant without NUL")],
        Program::Argv(_) => spawn::search_path(&argv[0], &environment.path()),
    };
    let workspace = engine.0.config.workspace.as_os_str().as_encoded_bytes();
    let cwd = match spec.cwd.as_deref() {
        None => workspace.to_vec(),
        Some(cwd) if cwd.starts_with(b"/") => cwd.to_vec(),
        Some(cwd) => [workspace, cwd].join(&b'/'),
    };
    let cwd = CString::new(cwd).map_err(|_| EngineError::InvalidArgument { name: "cwd", problem: "it holds a NUL byte".to_owned() })?;
    let is_terminal = matches!(spec.connection, Connection::Terminal(_));
    let mut command = Command::new(search_path, argv, stdio);
    command.environment = environment.into_strings();
    // The workspace is the sandbox's own, so another user may stand in it whoever may pass the directories above.
    if run_as.credentials.is_some() && !spec.cwd.as_deref().is_some_and(|cwd| cwd.starts_with(b"/")) {
        command.directory = Some(open_directory(&cwd)?);
    }
    command.cwd = Some(cwd);
    command.controlling_terminal = is_terminal;
    command.new_session = true;
    command.user = run_as.credentials;
    command.limits = limits_of(&spec.limits, &engine.0.host);
    command.cgroup = tree.entrance().map_err(|source| EngineError::Spawn { step: "opening the cgroup".to_owned(), source })?;
    Ok(command)
}

fn open_directory(path: &CStr) -> Result<OwnedFd, EngineError> {
    // The dot refuses everything but a directory before it is opened.
    let inside = Path::new(OsStr::from_bytes(path.to_bytes())).join(".");
    let failed = |source| EngineError::WorkingDirectory { directory: path.to_string_lossy().into_owned(), source };
    File::open(inside).map(OwnedFd::from).map_err(failed)
}

/// What was tried, for the message of a failure.
struct Tried {
    program: String,
    directory: String,
    user: String,
    bytes: usize,
}

impl Tried {
    fn new(command: &Command) -> Self {
        let text = |string: Option<&CString>| string.map(|string| string.to_string_lossy().into_owned()).unwrap_or_default();
        Self {
            program: text(command.argv.first().filter(|_| command.search_path.len() != 1).or(command.search_path.first())),
            directory: text(command.cwd.as_ref()),
            user: command.user.as_ref().map(|user| user.uid.to_string()).unwrap_or_default(),
            bytes: arguments_bytes(&command.argv) + arguments_bytes(&command.environment),
        }
    }
}

fn refusal(error: SpawnError, tried: &Tried) -> EngineError {
    let (reason, SpawnError { step, source }) = (error.reason(), error);
    match reason {
        SpawnReason::ProgramNotFound => EngineError::ProgramNotFound { program: tried.program.clone(), source },
        SpawnReason::NotExecutable => EngineError::ProgramNotExecutable { program: tried.program.clone(), source },
        SpawnReason::ArgumentsTooLong => EngineError::ArgumentsTooLarge { bytes: tried.bytes, source },
        SpawnReason::DirectoryNotFound | SpawnReason::DirectoryForbidden => {
            EngineError::WorkingDirectory { directory: tried.directory.clone(), source }
        }
        SpawnReason::UserForbidden => EngineError::UserUnavailable { user: tried.user.clone(), source },
        _ => EngineError::Spawn { step: step.to_string(), source },
    }
}

/// The command as a person reads it.
fn display(program: &Program) -> String {
    let mut text = match program {
        Program::Shell(text) => String::from_utf8_lossy(text).into_owned(),
        Program::Argv(arguments) => {
            let arguments: Vec<_> = arguments.iter().map(|argument| String::from_utf8_lossy(argument)).collect();
            arguments.join(" ")
        }
    };
    text.truncate(text.floor_char_boundary(COMMAND_BYTES_MAX));
    text
}
