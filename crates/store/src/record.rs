//! One sandbox's record, and how it lies in a row.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use crannog_core::id::SandboxId;
use rusqlite::Row;
use serde_json::{Map, Value};

use crate::error::StoreError;

/// How a sandbox stands as far as is on record. Whether its guest still lives is asked of the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its creator has not finished.
    Creating,
    /// Its guest answered.
    Ready,
    /// Somebody began to destroy it.
    Destroying,
    /// Its guest was found to be gone.
    Lost,
}

impl State {
    /// Every state.
    pub const ALL: &[Self] = &[Self::Creating, Self::Ready, Self::Destroying, Self::Lost];

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Ready => "ready",
            Self::Destroying => "destroying",
            Self::Lost => "lost",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.as_str() == text)
    }
}

/// A process that can't be mistaken for a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Its kernel number.
    pub pid: u32,
    /// When it started, in clock ticks since the machine did (proc(5), field 22 of `stat`).
    pub start_time: u64,
    /// Which start of the machine that was (`/proc/sys/kernel/random/boot_id`).
    pub boot: String,
}

/// Wishes that only matter when the sandbox is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Processes that may live at once.
    pub processes_live_max: Option<u32>,
    /// Bytes of each transcript kept on disk.
    pub spill_bytes: Option<u64>,
}

/// A sandbox on record.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// Its id.
    pub id: SandboxId,
    /// Its name, which no other record has.
    pub name: Option<String>,
    /// The backend that places it.
    pub backend: String,
    /// How it stands.
    pub state: State,
    /// The generation of its lease, from 1.
    pub lease_generation: u64,
    /// The length of its lease, milliseconds.
    pub lease_ms: Option<u64>,
    /// When the lease runs out by the wall clock, for people to read: the guest counts by a clock that nobody sets.
    pub lease_expires_ms: Option<u64>,
    /// Its workspace on the host.
    pub workspace: PathBuf,
    /// The workspace goes with it.
    pub workspace_owned: bool,
    /// Its run directory.
    pub runtime: PathBuf,
    /// Its guest.
    pub guest: Option<ProcessIdentity>,
    /// Who made it.
    pub creator: Option<ProcessIdentity>,
    /// The cgroup that holds its processes.
    pub cgroup: Option<PathBuf>,
    /// Variables of every command.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// When it was made, milliseconds of the wall clock.
    pub created_ms: u64,
    /// Wishes that only matter when it is placed.
    pub options: Options,
}

impl std::fmt::Debug for Record {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold secrets.
        formatter
            .debug_struct("Record")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("state", &self.state)
            .field("guest", &self.guest)
            .field("variables", &self.environment.len())
            .finish_non_exhaustive()
    }
}

/// The columns in the order in which [`read`] takes them.
pub(crate) const COLUMNS: &str = "id, name, backend, state, lease_generation, lease_ms, lease_expires_ms, workspace, workspace_owned, \
     runtime, guest_pid, guest_start_time, guest_boot, creator_pid, creator_start_time, creator_boot, cgroup, environment, created_ms, options";

/// Reads a row of [`COLUMNS`].
pub(crate) fn read(row: &Row<'_>) -> Result<Record, StoreError> {
    let id: String = column(row, 0, "id", "?")?;
    let sandbox = id.as_str();
    let state: String = column(row, 3, "state", sandbox)?;
    let options: String = column(row, 19, "options", sandbox)?;
    let path = |index, field| column::<Vec<u8>>(row, index, field, sandbox).map(path_of);
    Ok(Record {
        id: SandboxId::parse(sandbox).ok_or_else(|| unreadable(sandbox, "id"))?,
        name: column(row, 1, "name", sandbox)?,
        backend: column(row, 2, "backend", sandbox)?,
        state: State::parse(&state).ok_or_else(|| unreadable(sandbox, "state"))?,
        lease_generation: number(column(row, 4, "lease_generation", sandbox)?),
        lease_ms: column::<Option<i64>>(row, 5, "lease_ms", sandbox)?.map(number),
        lease_expires_ms: column::<Option<i64>>(row, 6, "lease_expires_ms", sandbox)?.map(number),
        workspace: path(7, "workspace")?,
        workspace_owned: column(row, 8, "workspace_owned", sandbox)?,
        runtime: path(9, "runtime")?,
        guest: process(row, 10, "guest", sandbox)?,
        creator: process(row, 13, "creator", sandbox)?,
        cgroup: column::<Option<Vec<u8>>>(row, 16, "cgroup", sandbox)?.map(path_of),
        environment: environment_of(&column::<Vec<u8>>(row, 17, "environment", sandbox)?),
        created_ms: number(column(row, 18, "created_ms", sandbox)?),
        options: options_of(&options).ok_or_else(|| unreadable(sandbox, "options"))?,
    })
}

fn process(row: &Row<'_>, index: usize, field: &'static str, sandbox: &str) -> Result<Option<ProcessIdentity>, StoreError> {
    let pid: Option<u32> = column(row, index, field, sandbox)?;
    let start_time: Option<i64> = column(row, index + 1, field, sandbox)?;
    let boot: Option<String> = column(row, index + 2, field, sandbox)?;
    let complete = pid.zip(start_time).zip(boot);
    Ok(complete.map(|((pid, start_time), boot)| ProcessIdentity { pid, start_time: number(start_time), boot }))
}

fn column<T: rusqlite::types::FromSql>(row: &Row<'_>, index: usize, field: &'static str, sandbox: &str) -> Result<T, StoreError> {
    row.get(index).map_err(|_| unreadable(sandbox, field))
}

fn unreadable(sandbox: &str, field: &'static str) -> StoreError {
    StoreError::Record { sandbox: sandbox.to_owned(), field }
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

pub(crate) fn bytes_of(path: &std::path::Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// The file's integers are signed. What is written from here fits (see [`integer`]); a negative one was written by nobody.
fn number(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// A count or time for a column; what is too large becomes the largest.
pub(crate) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Variables in the form of environ(7): `NAME=VALUE`, each closed by a NUL. It holds every byte that a variable may have.
pub(crate) fn environ_of(environment: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in environment {
        bytes.extend_from_slice(name);
        bytes.push(b'=');
        bytes.extend_from_slice(value);
        bytes.push(0);
    }
    bytes
}

fn environment_of(environ: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let entries = environ.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let split = |entry: &[u8]| {
        let mut halves = entry.splitn(2, |byte| *byte == b'=').map(<[u8]>::to_vec);
        (halves.next().unwrap_or_default(), halves.next().unwrap_or_default())
    };
    entries.map(split).collect()
}

pub(crate) fn json_of(options: &Options) -> String {
    let mut map = Map::new();
    let mut put = |name: &str, value: Option<u64>| value.map(|value| map.insert(name.to_owned(), value.into()));
    put("processes_live_max", options.processes_live_max.map(u64::from));
    put("spill_bytes", options.spill_bytes);
    Value::Object(map).to_string()
}

/// Options that a later version added are left aside.
fn options_of(json: &str) -> Option<Options> {
    let value: Value = serde_json::from_str(json).ok()?;
    let map = value.as_object()?;
    let number = |name: &str| map.get(name).and_then(Value::as_u64);
    Some(Options {
        processes_live_max: number("processes_live_max").and_then(|count| u32::try_from(count).ok()),
        spill_bytes: number("spill_bytes"),
    })
}
