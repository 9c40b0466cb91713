//! What to start.

use std::time::Duration;

use crannog_core::limits;
use crannog_core::process::{Connection, Program, ResourceLimits, StartSpec, Stdin, TerminalSize};

use super::{ConvertError, duration_ms, required, retry_id};
use crate::message::RunSpec;
use crate::proto;

impl From<TerminalSize> for proto::TerminalSize {
    fn from(size: TerminalSize) -> Self {
        Self { rows: size.rows.into(), columns: size.columns.into() }
    }
}

impl TryFrom<proto::TerminalSize> for TerminalSize {
    type Error = ConvertError;

    fn try_from(size: proto::TerminalSize) -> Result<Self, ConvertError> {
        let checked = |field, cells: u32| {
            u16::try_from(cells)
                .ok()
                .filter(|cells| (1..=limits::TERMINAL_SIDE_MAX).contains(cells))
                .ok_or(ConvertError::Invalid { field, rule: "1 to 4096 cells" })
        };
        Ok(Self { rows: checked("rows", size.rows)?, columns: checked("columns", size.columns)? })
    }
}

impl From<ResourceLimits> for proto::ResourceLimits {
    fn from(limits: ResourceLimits) -> Self {
        let ResourceLimits { memory_bytes, cpu_seconds, open_files, file_bytes, processes } = limits;
        Self { memory_bytes, cpu_seconds, open_files, file_bytes, processes }
    }
}

impl From<proto::ResourceLimits> for ResourceLimits {
    fn from(limits: proto::ResourceLimits) -> Self {
        let proto::ResourceLimits { memory_bytes, cpu_seconds, open_files, file_bytes, processes } = limits;
        Self { memory_bytes, cpu_seconds, open_files, file_bytes, processes }
    }
}

impl From<StartSpec> for proto::StartSpec {
    fn from(spec: StartSpec) -> Self {
        let (terminal, stdin_piped) = match spec.connection {
            Connection::Terminal(size) => (Some(size.into()), false),
            Connection::Pipes(stdin) => (None, stdin == Stdin::Piped),
        };
        Self {
            program: Some(match spec.program {
                Program::Argv(arguments) => proto::start_spec::Program::Argv(proto::Argv { arguments }),
                Program::Shell(text) => proto::start_spec::Program::Shell(text),
            }),
            terminal,
            stdin_piped,
            environment: spec.environment.into_iter().map(|(name, value)| proto::Variable { name, value }).collect(),
            cwd: spec.cwd,
            user: spec.user,
            limits: (spec.limits != ResourceLimits::default()).then(|| spec.limits.into()),
            timeout_ms: spec.timeout.map(duration_ms),
            hold_for_follower: spec.hold_for_follower,
            request_id: spec.request_id,
            record: spec.record,
        }
    }
}

impl TryFrom<proto::StartSpec> for StartSpec {
    type Error = ConvertError;

    fn try_from(spec: proto::StartSpec) -> Result<Self, ConvertError> {
        let program = program(required("program", spec.program)?)?;
        let environment = environment(spec.environment)?;
        check_argument_bytes(&program, &environment)?;
        if let Some(cwd) = &spec.cwd {
            without_nul("cwd", cwd)?;
        }
        let timeout = spec.timeout_ms.map(Duration::from_millis);
        if timeout.is_some_and(|timeout| timeout > limits::TIMEOUT_MAX) {
            return Err(ConvertError::Invalid { field: "timeout_ms", rule: "at most 366 days" });
        }
        Ok(Self {
            program,
            connection: match spec.terminal {
                Some(size) => Connection::Terminal(size.try_into()?),
                None if spec.stdin_piped => Connection::Pipes(Stdin::Piped),
                None => Connection::Pipes(Stdin::Closed),
            },
            environment,
            cwd: spec.cwd,
            user: spec.user,
            limits: spec.limits.map(ResourceLimits::from).unwrap_or_default(),
            timeout,
            hold_for_follower: spec.hold_for_follower,
            request_id: retry_id("request_id", spec.request_id)?,
            record: spec.record,
        })
    }
}

impl From<RunSpec> for proto::RunRequest {
    fn from(run: RunSpec) -> Self {
        Self { spec: Some(run.spec.into()), gather_bytes_max: run.gather_bytes_max, end_with_caller: run.end_with_caller }
    }
}

impl TryFrom<proto::RunRequest> for RunSpec {
    type Error = ConvertError;

    fn try_from(run: proto::RunRequest) -> Result<Self, ConvertError> {
        Ok(Self {
            spec: required("spec", run.spec)?.try_into()?,
            gather_bytes_max: run.gather_bytes_max,
            end_with_caller: run.end_with_caller,
        })
    }
}

fn program(program: proto::start_spec::Program) -> Result<Program, ConvertError> {
    match program {
        proto::start_spec::Program::Argv(proto::Argv { arguments }) => {
            if arguments.first().is_none_or(Vec::is_empty) {
                return Err(ConvertError::Invalid { field: "argv", rule: "a program name and its arguments" });
            }
            arguments.iter().try_for_each(|argument| without_nul("argv", argument))?;
            Ok(Program::Argv(arguments))
        }
        proto::start_spec::Program::Shell(text) => {
            without_nul("shell", &text)?;
            Ok(Program::Shell(text))
        }
    }
}

type Variables = Vec<(Vec<u8>, Vec<u8>)>;

/// Variables as the kernel takes them: a name without `=`, no NUL (environ(7)).
pub(crate) fn environment(variables: Vec<proto::Variable>) -> Result<Variables, ConvertError> {
    let check = |variable: proto::Variable| {
        if variable.name.is_empty() || variable.name.contains(&b'=') {
            return Err(ConvertError::Invalid { field: "environment", rule: "variables with a name that has no `=`" });
        }
        without_nul("environment", &variable.name)?;
        without_nul("environment", &variable.value)?;
        Ok((variable.name, variable.value))
    };
    variables.into_iter().map(check).collect()
}

fn without_nul(field: &'static str, bytes: &[u8]) -> Result<(), ConvertError> {
    if bytes.contains(&0) {
        return Err(ConvertError::Invalid { field, rule: "free of NUL bytes" });
    }
    Ok(())
}

/// Refuses a start that no message can carry, so that the caller learns why.
pub(crate) fn check_size(spec: &StartSpec) -> Result<(), ConvertError> {
    check_argument_bytes(&spec.program, &spec.environment)
}

/// Counts as execve(2) does: each string with its end and its pointer.
fn check_argument_bytes(program: &Program, environment: &[(Vec<u8>, Vec<u8>)]) -> Result<(), ConvertError> {
    const OVERHEAD: usize = 1 + size_of::<usize>();
    let program: usize = match program {
        Program::Argv(arguments) => arguments.iter().map(|argument| argument.len() + OVERHEAD).sum(),
        Program::Shell(text) => text.len() + OVERHEAD,
    };
    let variables = environment.iter().map(|(name, value)| name.len() + 1 + value.len() + OVERHEAD);
    let bytes = program + variables.sum::<usize>();
    if bytes > limits::ARGUMENT_BYTES_MAX {
        return Err(ConvertError::ArgumentsTooLarge { bytes });
    }
    Ok(())
}
