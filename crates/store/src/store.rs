//! The record of sandboxes: open it, ask it, change it.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crannog_core::id::SandboxId;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Params, params};

use crate::error::StoreError;
use crate::record::{self, COLUMNS, Record, State, bytes_of, environ_of, integer};
use crate::schema;

/// Longest wait for other processes that hold the file. Each holds it for well below a millisecond, so this is only reached when one is
/// stopped in the middle.
pub const BUSY_WAIT_MAX: Duration = Duration::from_secs(5);

/// Pause between two tries to open a file that others are making at this moment.
const OPEN_RETRY_PAUSE: Duration = Duration::from_millis(2);

/// Bytes of environment that are kept on record.
const ENVIRONMENT_BYTES_MAX: usize = crannog_core::limits::ARGUMENT_BYTES_MAX;

/// An open record of sandboxes. Calls block for as long as others hold the file, at most [`BUSY_WAIT_MAX`].
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the record, making it (mode 0600) and its directory (mode 0700) if they are not there.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if !path.exists() {
            make_file(path)?;
        }
        let deadline = Instant::now() + BUSY_WAIT_MAX;
        loop {
            let failed = |source| StoreError::of(path, "opening", source);
            let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
            connection.busy_timeout(BUSY_WAIT_MAX).map_err(failed)?;
            // After a crash of the machine the last changes may be missing, as the sandboxes themselves are; the file stays whole.
            connection.pragma_update(None, "synchronous", "normal").map_err(failed)?;
            match schema::prepare(&mut connection, path) {
                Ok(()) => return Ok(Self { connection, path: path.to_owned() }),
                // Switching a fresh file to WAL while another process does the same fails at once instead of waiting.
                Err(StoreError::Busy { .. }) if Instant::now() < deadline => std::thread::sleep(OPEN_RETRY_PAUSE),
                Err(error) => return Err(error),
            }
        }
    }

    /// Records a sandbox that is about to be made. [`StoreError::NameTaken`] if another one on record has the name.
    pub fn insert_creating(&self, record: &Record) -> Result<(), StoreError> {
        let environ = environ_of(&record.environment);
        if environ.len() > ENVIRONMENT_BYTES_MAX {
            return Err(StoreError::TooLarge { sandbox: record.id.clone(), field: "environment" });
        }
        let creator = record.creator.as_ref();
        let inserted = self.execute(
            "recording a new sandbox",
            &format!(
                "INSERT INTO sandboxes ({COLUMNS}) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,NULL,NULL,NULL,?11,?12,?13,NULL,?14,?15,?16)"
            ),
            params![
                record.id.as_str(),
                record.name,
                record.backend,
                State::Creating.as_str(),
                integer(record.lease_generation),
                record.lease_ms.map(integer),
                record.lease_expires_ms.map(integer),
                bytes_of(&record.workspace),
                record.workspace_owned,
                bytes_of(&record.runtime),
                creator.map(|creator| creator.pid),
                creator.map(|creator| integer(creator.start_time)),
                creator.map(|creator| creator.boot.as_str()),
                environ,
                integer(record.created_ms),
                record::json_of(&record.options),
            ],
        );
        match (inserted, &record.name) {
            (Err(StoreError::Query { source, .. }), Some(name)) if is_unique_violation(&source) => {
                Err(StoreError::NameTaken { name: name.clone() })
            }
            (other, _) => other.map(drop),
        }
    }

    /// Records where a sandbox was placed, and that it is ready. False if it is not in state `creating` any more: somebody destroys it.
    pub fn mark_ready(&self, record: &Record) -> Result<bool, StoreError> {
        let guest = record.guest.as_ref();
        let changed = self.execute(
            "marking a sandbox ready",
            "UPDATE sandboxes SET state = ?2, guest_pid = ?3, guest_start_time = ?4, guest_boot = ?5, cgroup = ?6
             WHERE id = ?1 AND state = ?7",
            params![
                record.id.as_str(),
                State::Ready.as_str(),
                guest.map(|guest| guest.pid),
                guest.map(|guest| integer(guest.start_time)),
                guest.map(|guest| guest.boot.as_str()),
                record.cgroup.as_deref().map(bytes_of),
                State::Creating.as_str(),
            ],
        )?;
        Ok(changed == 1)
    }

    /// Changes the state if it is one of `from`. False if it is not, or there is no such sandbox.
    pub fn mark(&self, id: &SandboxId, from: &[State], to: State) -> Result<bool, StoreError> {
        let words: Vec<String> = from.iter().map(|state| format!("'{}'", state.as_str())).collect();
        let changed = self.execute(
            "marking a sandbox",
            &format!("UPDATE sandboxes SET state = ?2 WHERE id = ?1 AND state IN ({})", words.join(",")),
            params![id.as_str(), to.as_str()],
        )?;
        Ok(changed == 1)
    }

    /// Notes a renewal. False if the generation is not the recorded one any more, or there is no such sandbox.
    pub fn renewed(&self, id: &SandboxId, generation: u64, lease_ms: Option<u64>, expires_ms: Option<u64>) -> Result<bool, StoreError> {
        let changed = self.execute(
            "noting a renewal",
            "UPDATE sandboxes SET lease_ms = ?3, lease_expires_ms = ?4 WHERE id = ?1 AND lease_generation = ?2",
            params![id.as_str(), integer(generation), lease_ms.map(integer), expires_ms.map(integer)],
        )?;
        Ok(changed == 1)
    }

    /// Takes the next lease generation, which nobody else gets. `None` if there is no such sandbox.
    pub fn advance_generation(&self, id: &SandboxId) -> Result<Option<u64>, StoreError> {
        let statement = "UPDATE sandboxes SET lease_generation = lease_generation + 1 WHERE id = ?1 RETURNING lease_generation";
        let next = self.connection.query_row(statement, [id.as_str()], |row| row.get::<_, i64>(0)).optional();
        let next = next.map_err(|source| StoreError::of(&self.path, "advancing a lease", source))?;
        Ok(next.map(i64::unsigned_abs))
    }

    /// The sandbox with this id.
    pub fn get(&self, id: &SandboxId) -> Result<Option<Record>, StoreError> {
        self.select("WHERE id = ?1", [id.as_str()]).map(|mut found| found.pop())
    }

    /// The sandbox with this name.
    pub fn find_by_name(&self, name: &str) -> Result<Option<Record>, StoreError> {
        self.select("WHERE name = ?1", [name]).map(|mut found| found.pop())
    }

    /// The sandboxes whose ids begin like this.
    pub fn find_by_prefix(&self, prefix: &str) -> Result<Vec<Record>, StoreError> {
        self.select("WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id", [prefix])
    }

    /// All sandboxes, the oldest first: one consistent view, or an error, never a part.
    pub fn list(&self) -> Result<Vec<Record>, StoreError> {
        self.select("ORDER BY id", [])
    }

    /// Forgets a sandbox. False if it was not on record.
    pub fn remove(&self, id: &SandboxId) -> Result<bool, StoreError> {
        Ok(self.execute("removing a sandbox", "DELETE FROM sandboxes WHERE id = ?1", [id.as_str()])? == 1)
    }

    /// One statement is one transaction, begun as a writer: there is nothing to upgrade and so no deadlock.
    fn execute(&self, operation: &'static str, statement: &str, values: impl Params) -> Result<usize, StoreError> {
        let done = self.connection.prepare_cached(statement).and_then(|mut statement| statement.execute(values));
        done.map_err(|source| StoreError::of(&self.path, operation, source))
    }

    fn select(&self, condition: &str, values: impl Params) -> Result<Vec<Record>, StoreError> {
        let failed = |source| StoreError::of(&self.path, "reading", source);
        let text = format!("SELECT {COLUMNS} FROM sandboxes {condition}");
        let mut statement = self.connection.prepare_cached(&text).map_err(failed)?;
        let mut rows = statement.query(values).map_err(failed)?;
        let mut records = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            records.push(record::read(row)?);
        }
        Ok(records)
    }
}

/// Makes an empty file that nobody else may read; the side files get the same mode.
fn make_file(path: &Path) -> Result<(), StoreError> {
    if let Some(directory) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(|source| StoreError::Directory { path: directory.to_owned(), source })?;
    }
    let made = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    made.map(drop).map_err(|source| StoreError::File { path: path.to_owned(), source })
}

fn is_unique_violation(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(code, _) if code.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}
