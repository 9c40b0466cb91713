//! Removing what nobody will come back for.

use std::time::Duration;

use crannog_backends::{Backend as _, GuestProcess, Probe};
use crannog_core::error::Operation;
use crannog_core::id::SandboxId;
use crannog_store::{ProcessIdentity, Record, State, Store};

use crate::error::{Error, Kind};
use crate::host::Host;
use crate::probing::probe_all;
use crate::sandbox::{destroy_record, now_ms};

/// A record that is being made is left alone for this long, whatever its maker looks like from here: the maker may live in a process
/// namespace of its own.
const CREATING_MS_MAX: u64 = 60_000;

/// What a reaping did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Reaped {
    /// Sandboxes that were removed: lost, out of lease, or left half made or half destroyed.
    pub removed: Vec<SandboxId>,
    /// Those that should have been, with what was in the way.
    pub failed: Vec<(SandboxId, Error)>,
}

impl Host {
    /// Removes sandboxes whose guests are gone for good (killed, or out of lease), those whose making or destroying was cut off, and
    /// directories that belong to no sandbox.
    ///
    /// Acts only on one complete listing of the records; an error there is an error here. A guest that does not answer is unknown and not
    /// gone, and is left alone.
    ///
    /// ```
    /// # use crannog::{Host, Sandbox, SandboxOptions};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
    /// assert!(host.reap().await?.removed.is_empty(), "it is alive");
    /// sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn reap(&self) -> Result<Reaped, Error> {
        let operation = Operation::Destroy;
        let mut reaped = Reaped::default();
        let records = self.store(operation, Store::list).await?;
        for (record, probe) in probe_all(self, operation, records).await? {
            if is_abandoned(&record, probe.as_ref()) {
                let id = record.id.clone();
                reaped.note(id, destroy_record(self, record, Duration::ZERO).await);
            }
        }
        for stray in self.strays().await? {
            let gone = self.local().destroy(&stray, Duration::ZERO).await;
            reaped.note(stray.sandbox, gone.map_err(|error| Error::new(operation, Kind::Backend(error))));
        }
        Ok(reaped)
    }

    async fn strays(&self) -> Result<Vec<crannog_backends::Placement>, Error> {
        let host = self.clone();
        let known = move |store: &Store| host.local().strays(|| Ok(store.list()?.into_iter().map(|record| record.id).collect()));
        self.store(Operation::Destroy, known).await
    }
}

/// Nobody will come back for it.
fn is_abandoned(record: &Record, probe: Option<&Probe>) -> bool {
    let is_gone = probe == Some(&Probe::Gone);
    match record.state {
        State::Lost | State::Destroying => true,
        State::Ready => is_gone,
        State::Creating => is_gone && now_ms().saturating_sub(record.created_ms) > CREATING_MS_MAX && !has_creator(record),
    }
}

fn has_creator(record: &Record) -> bool {
    let creator = record.creator.clone();
    let creator = creator.map(|ProcessIdentity { pid, start_time, boot }| GuestProcess { pid, start_time, boot });
    creator.is_some_and(|creator| creator.is_alive())
}

impl Reaped {
    fn note(&mut self, sandbox: SandboxId, outcome: Result<(), Error>) {
        match outcome {
            Ok(()) => self.removed.push(sandbox),
            Err(error) => self.failed.push((sandbox, error)),
        }
    }
}
