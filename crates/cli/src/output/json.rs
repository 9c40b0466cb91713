//! The JSON documents. Their fields are a promise: fields may be added, none changes its meaning.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crannog::{End, Ended, Killed, ProcessInfo, Reason, SandboxInfo, Screen, Update};
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;

/// The answer to `start`, `write` and `collect`.
#[derive(Debug, Serialize)]
pub(crate) struct UpdateDocument {
    /// Null once the end has been reported.
    process: Option<u32>,
    output: String,
    output_b64: String,
    start: u64,
    cursor: u64,
    omitted_bytes: u64,
    lost_bytes: u64,
    original_token_count: Option<u64>,
    exit_code: Option<i32>,
    end: Option<Value>,
    reason: &'static str,
    waiting_for_input: bool,
    echo: Option<bool>,
    descendants_alive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Value>,
}

impl UpdateDocument {
    pub(crate) fn of(update: Update) -> Self {
        Self {
            process: update.end.is_none().then_some(update.process.0),
            output_b64: STANDARD.encode(&update.raw),
            output: update.text,
            start: update.start,
            cursor: update.cursor,
            omitted_bytes: update.omitted_bytes,
            lost_bytes: update.lost_bytes,
            original_token_count: update.original_token_count,
            exit_code: update.end.as_ref().and_then(End::exit_code),
            end: update.end.as_ref().map(end),
            reason: reason(update.reason),
            waiting_for_input: update.waiting_for_input,
            echo: update.echo,
            descendants_alive: update.descendants_alive,
            written: update
                .written
                .map(|written| json!({"accepted": written.accepted, "line_too_long": written.line_too_long, "repeated": written.repeated})),
        }
    }
}

/// The answer to `run` and `exec`.
#[derive(Debug, Serialize)]
pub(crate) struct ExecDocument {
    stdout_b64: String,
    stderr_b64: String,
    stdout_omitted_bytes: u64,
    stderr_omitted_bytes: u64,
    end: Value,
    exit_code: Option<i32>,
    duration_ms: u64,
    descendants_alive: bool,
    user_us: u64,
    system_us: u64,
    memory_peak_bytes: u64,
}

impl ExecDocument {
    /// `stdout` and `stderr` are each what was kept and how many bytes were left out.
    pub(crate) fn of(stdout: (&[u8], u64), stderr: (&[u8], u64), ended: &Ended) -> Self {
        Self {
            stdout_b64: STANDARD.encode(stdout.0),
            stderr_b64: STANDARD.encode(stderr.0),
            stdout_omitted_bytes: stdout.1 + ended.stdout_omitted_bytes,
            stderr_omitted_bytes: stderr.1 + ended.stderr_omitted_bytes,
            end: end(&ended.end),
            exit_code: ended.end.exit_code(),
            duration_ms: ended.duration_ms,
            descendants_alive: ended.descendants_alive,
            user_us: ended.usage.user_us,
            system_us: ended.usage.system_us,
            memory_peak_bytes: ended.usage.memory_peak_bytes,
        }
    }
}

/// A sandbox, as `up`, `ls` and `info` show it.
#[derive(Debug, Serialize)]
pub(crate) struct SandboxDocument {
    id: String,
    name: Option<String>,
    state: &'static str,
    backend: String,
    level: &'static str,
    workspace: String,
    workspace_owned: bool,
    created: String,
    lease_ms: Option<u64>,
    lease_remaining_ms: Option<u64>,
    lease_generation: u64,
    processes_live: Option<u32>,
    tracking: Option<&'static str>,
    guest_pid: Option<u32>,
}

impl SandboxDocument {
    pub(crate) fn of(info: SandboxInfo) -> Self {
        Self {
            id: info.id.to_string(),
            name: info.name,
            state: info.state.as_str(),
            backend: info.backend,
            level: info.level,
            workspace: info.workspace.to_string_lossy().into_owned(),
            workspace_owned: info.workspace_owned,
            created: timestamp(info.created),
            lease_ms: info.lease.map(milliseconds),
            lease_remaining_ms: info.lease_remaining.map(milliseconds),
            lease_generation: info.lease_generation,
            processes_live: info.processes_live,
            tracking: info.tracking,
            guest_pid: info.guest_pid,
        }
    }
}

/// A process, as `ps` shows it.
#[derive(Debug, Serialize)]
pub(crate) struct ProcessDocument {
    process: u32,
    command: String,
    pid: Option<u32>,
    terminal: Option<Value>,
    stdin_open: bool,
    age_ms: u64,
    duration_ms: Option<u64>,
    end: Option<Value>,
    exit_code: Option<i32>,
    output_bytes: u64,
    lost_bytes: u64,
    descendants_alive: bool,
}

impl ProcessDocument {
    pub(crate) fn of(info: ProcessInfo) -> Self {
        Self {
            process: info.process.0,
            command: info.command,
            pid: info.pid,
            terminal: info.terminal.map(|size| json!({"rows": size.rows, "columns": size.columns})),
            stdin_open: info.stdin_open,
            age_ms: info.age_ms,
            duration_ms: info.duration_ms,
            exit_code: info.end.as_ref().and_then(End::exit_code),
            end: info.end.as_ref().map(end),
            output_bytes: info.output_bytes,
            lost_bytes: info.lost_bytes,
            descendants_alive: info.descendants_alive,
        }
    }
}

/// What a kill did.
#[derive(Debug, Serialize)]
pub(crate) struct KillDocument {
    process: u32,
    end: Value,
    exit_code: Option<i32>,
    reached: u32,
    complete: bool,
}

impl KillDocument {
    pub(crate) fn of(process: u32, killed: &Killed) -> Self {
        Self { process, end: end(&killed.end), exit_code: killed.end.exit_code(), reached: killed.reached, complete: killed.complete }
    }
}

/// What a terminal shows.
#[derive(Debug, Serialize)]
pub(crate) struct ScreenDocument {
    process: u32,
    version: u64,
    size: Value,
    rows: Vec<Value>,
    cursor: Value,
    title: String,
    alternate: bool,
    offset: u64,
    rendered_from: u64,
    scrollback: Vec<String>,
    scrollback_total: u32,
    end: Option<Value>,
}

impl ScreenDocument {
    pub(crate) fn of(process: u32, screen: Screen) -> Self {
        let cursor = screen.cursor;
        Self {
            process,
            version: screen.version,
            size: json!({"rows": screen.size.rows, "columns": screen.size.columns}),
            rows: screen.rows.into_iter().map(|row| json!({"row": row.row, "text": row.text})).collect(),
            cursor: json!({"row": cursor.row, "column": cursor.column, "visible": cursor.visible}),
            title: screen.title,
            alternate: screen.alternate,
            offset: screen.offset,
            rendered_from: screen.rendered_from,
            scrollback: screen.scrollback,
            scrollback_total: screen.scrollback_total,
            end: screen.end.as_ref().map(end),
        }
    }
}

/// A failure, on stderr.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorDocument {
    error: ErrorBody,
}

#[derive(Debug, Serialize)]
struct ErrorBody {
    code: &'static str,
    operation: Option<&'static str>,
    message: String,
    hint: Option<String>,
    retryable: Option<bool>,
    context: BTreeMap<String, String>,
}

impl ErrorDocument {
    pub(crate) fn of(failure: &Failure) -> Self {
        Self {
            error: ErrorBody {
                code: failure.code().as_str(),
                operation: failure.operation(),
                message: failure.message(),
                hint: failure.hint(),
                retryable: failure.retryable(),
                context: failure.context(),
            },
        }
    }
}

/// An end: its kind and what belongs to it.
pub(crate) fn end(end: &End) -> Value {
    let kind = end.kind();
    match end {
        End::Exited { code } => json!({"kind": kind, "code": code}),
        End::Signalled { signal, core_dumped } => {
            json!({"kind": kind, "signal": signal.number(), "name": signal.to_string(), "core_dumped": core_dumped})
        }
        End::TimedOut { after_ms } => json!({"kind": kind, "after_ms": after_ms}),
        End::OutOfMemory => json!({"kind": kind}),
        End::Cancelled { signal } => json!({"kind": kind, "signal": signal.number(), "name": signal.to_string()}),
        End::Lost { reason } => json!({"kind": kind, "reason": reason}),
    }
}

/// A moment as RFC 3339, in UTC.
pub(crate) fn timestamp(moment: SystemTime) -> String {
    jiff::Timestamp::try_from(moment).map(|moment| format!("{moment:.0}")).unwrap_or_default()
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Window => "window",
        Reason::Exit => "exit",
        Reason::Text => "text",
        Reason::Regex => "regex",
        Reason::Silent => "silent",
        Reason::Input => "input",
        Reason::Bytes => "bytes",
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
