//! Where sandboxes are kept on this machine.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crannog_backends::local::{Local, Paths};
use crannog_core::error::Operation;
use crannog_store::{Store, StoreError};

use crate::error::{Error, Kind};

/// A place on this machine where sandboxes are kept.
///
/// A handle: clones share one connection to the record of sandboxes.
#[derive(Debug, Clone)]
pub struct Host(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    paths: Paths,
    local: Local,
    store: Mutex<Option<Store>>,
}

impl Inner {
    fn open_store(&self, operation: Operation) -> Result<Store, Error> {
        let unusable = |source| Error::new(operation, Kind::Directory { path: self.paths.state().to_owned(), source });
        self.paths.make_state().map_err(unusable)?;
        Store::open(&self.paths.store()).map_err(|source| Error::new(operation, Kind::Store(source)))
    }
}

impl Host {
    /// The place that the environment names: all below `CRANNOG_HOME` if that is set; else for root `/var/lib/crannog` and `/run/crannog`,
    /// for others `crannog` below `XDG_STATE_HOME` (`~/.local/state`) and `XDG_RUNTIME_DIR`.
    pub fn from_environment() -> Result<Self, Error> {
        let paths = Paths::from_environment().ok_or_else(|| Error::new(Operation::Open, Kind::HomeMissing))?;
        Ok(Self::with(paths))
    }

    /// Everything below this directory, which is made when it is first needed. Tests and embedded uses keep apart this way.
    pub fn at(directory: impl AsRef<Path>) -> Result<Self, Error> {
        let directory = directory.as_ref();
        let absolute = std::path::absolute(directory)
            .map_err(|source| Error::new(Operation::Open, Kind::Directory { path: directory.to_owned(), source }))?;
        Ok(Self::with(Paths::below(&absolute)))
    }

    fn with(paths: Paths) -> Self {
        let local = Local::new(paths.clone());
        Self(Arc::new(Inner { paths, local, store: Mutex::new(None) }))
    }

    /// The directory of what must outlive a restart of the machine: records, fresh workspaces.
    pub fn state_directory(&self) -> PathBuf {
        self.0.paths.state().to_owned()
    }

    /// The directory of what need not: sockets, transcripts, logs of guests.
    pub fn runtime_directory(&self) -> PathBuf {
        self.0.paths.runtime().to_owned()
    }

    /// The guest program that a new sandbox would run, and how it was found, for diagnosis.
    pub async fn guest_program(&self) -> Result<PathBuf, Error> {
        let host = self.clone();
        self.blocking(Operation::Create, move || {
            host.local().guest_program().map_err(|source| Error::new(Operation::Create, Kind::Backend(source)))
        })
        .await
    }

    pub(crate) fn local(&self) -> &Local {
        &self.0.local
    }

    pub(crate) fn paths(&self) -> &Paths {
        &self.0.paths
    }

    /// Asks the store on a thread of its own: it may have to wait for another writer. The work runs to its end even if the future is
    /// dropped.
    pub(crate) async fn store<T: Send + 'static>(
        &self,
        operation: Operation,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Error> {
        let inner = Arc::clone(&self.0);
        self.blocking(operation, move || {
            // A panic under the lock leaves at worst a closed connection behind, never half a record: SQLite rolls back.
            let mut slot = inner.store.lock().unwrap_or_else(PoisonError::into_inner);
            let failed = |source| Error::new(operation, Kind::Store(source));
            let store = match slot.take() {
                Some(store) => store,
                None => inner.open_store(operation)?,
            };
            let answer = work(&store).map_err(failed)?;
            // After a failure the file is opened anew: it may have been moved or replaced.
            *slot = Some(store);
            Ok(answer)
        })
        .await
    }

    /// Runs short blocking work on a thread of its own.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        operation: Operation,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        match tokio::task::spawn_blocking(work).await {
            Ok(answer) => answer,
            Err(source) => Err(Error::new(operation, Kind::Interrupted { source })),
        }
    }
}
