//! The file's layout and how an older one becomes the present one.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;

/// `cran` in ASCII: marks the file as ours.
const APPLICATION_ID: i64 = 0x6372_616e;

/// One script per layout; the number of a layout is its place, counted from 1 (`user_version`). A script never changes once released.
const LAYOUTS: &[&str] = &["
    CREATE TABLE sandboxes (
        id TEXT NOT NULL PRIMARY KEY,
        name TEXT UNIQUE,
        backend TEXT NOT NULL,
        state TEXT NOT NULL,
        lease_generation INTEGER NOT NULL,
        lease_ms INTEGER,
        lease_expires_ms INTEGER,
        workspace BLOB NOT NULL,
        workspace_owned INTEGER NOT NULL,
        runtime BLOB NOT NULL,
        guest_pid INTEGER,
        guest_start_time INTEGER,
        guest_boot TEXT,
        creator_pid INTEGER,
        creator_start_time INTEGER,
        creator_boot TEXT,
        cgroup BLOB,
        environment BLOB NOT NULL,
        created_ms INTEGER NOT NULL,
        options TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
"];

/// Brings the file to the present layout, or says why it can't be.
pub(crate) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::of(path, "reading the layout", source);
    let known = i64::try_from(LAYOUTS.len()).expect("a handful of layouts");
    if layout(connection, path)? == known {
        return Ok(());
    }
    // Readers of a file in WAL mode never wait for writers. The mode stays with the file.
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have done it while this one waited.
    let found = layout(&transaction, path)?;
    for (number, script) in (1_i64..).zip(LAYOUTS).filter(|(number, _)| *number > found) {
        transaction.execute_batch(script).map_err(failed)?;
        transaction.pragma_update(None, "user_version", number).map_err(failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// The file's layout: 0 for an empty file.
fn layout(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let failed = |source| StoreError::of(path, "reading the layout", source);
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(failed);
    let (application, found) = (pragma("application_id")?, pragma("user_version")?);
    let known = i64::try_from(LAYOUTS.len()).expect("a handful of layouts");
    if application == APPLICATION_ID {
        return match found {
            _ if found > known => Err(StoreError::Newer { path: path.to_owned(), found, known }),
            _ if found < 0 => Err(StoreError::Foreign { path: path.to_owned() }),
            _ => Ok(found),
        };
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    let is_empty = application == 0 && found == 0 && tables == 0;
    if is_empty { Ok(0) } else { Err(StoreError::Foreign { path: path.to_owned() }) }
}
