//! A sandbox, as its callers hold it: found, listed, renewed, destroyed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crannog_backends::{Backend as _, GuestClient, Probe, WireError};
use crannog_core::error::{ErrorCode, Operation};
use crannog_core::id::SandboxId;
use crannog_core::limits;
use crannog_store::{Record, State, Store};

use crate::error::{Error, Kind};
use crate::host::Host;
use crate::info::SandboxInfo;
use crate::options::check_lease;
use crate::probing::{describe, probe_all};
use crate::record::{info_of, placement_of};
use crate::reference::find;

/// A sandbox. Clones are handles to the same one and share one connection to its guest.
///
/// Dropping the last handle leaves the sandbox running: it is found again with [`Sandbox::open`] and ends with [`Sandbox::destroy`]. A handle
/// belongs to the tokio runtime that it was made in.
#[derive(Debug, Clone)]
pub struct Sandbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    host: Host,
    record: Record,
    guest: GuestClient,
    /// The lease generation that this handle holds.
    generation: AtomicU64,
}

impl Sandbox {
    /// Finds a sandbox by its id, a unique beginning of it ([`ID_PREFIX_CHARACTERS_MIN`](crate::ID_PREFIX_CHARACTERS_MIN) characters after the `sbx_` or more), or its name.
    pub async fn open(host: &Host, reference: &str) -> Result<Self, Error> {
        let operation = Operation::Open;
        let record = find(host, operation, reference).await?;
        match record.state {
            State::Creating => return Err(Error::new(operation, Kind::SandboxCreating { sandbox: record.id })),
            State::Destroying => return Err(Error::new(operation, Kind::SandboxNotFound { reference: reference.to_owned() })),
            State::Lost => return Err(Error::new(operation, Kind::SandboxLost { sandbox: record.id })),
            State::Ready => {}
        }
        let reached = host.local().reach(&placement_of(&record)).await;
        let guest = match reached {
            Ok(guest) => guest,
            Err(error) => return Err(unreachable(host, &record, Error::new(operation, Kind::Backend(error))).await),
        };
        Ok(Self::with(host.clone(), record, guest))
    }

    pub(crate) fn with(host: Host, record: Record, guest: GuestClient) -> Self {
        let generation = AtomicU64::new(record.lease_generation);
        Self(Arc::new(Inner { host, record, guest, generation }))
    }

    /// All sandboxes of a host, the oldest first, each asked how it stands. Asking takes at most [`limits::CONNECT_TIMEOUT`].
    pub async fn list(host: &Host) -> Result<Vec<SandboxInfo>, Error> {
        let records = host.store(Operation::List, Store::list).await?;
        let probed = probe_all(host, Operation::List, records).await?;
        Ok(probed.into_iter().map(|(record, probe)| info_of(record, probe.as_ref())).collect())
    }

    /// Its id.
    pub fn id(&self) -> &SandboxId {
        &self.0.record.id
    }

    /// Its name.
    pub fn name(&self) -> Option<&str> {
        self.0.record.name.as_deref()
    }

    /// Its workspace on the host.
    pub fn workspace(&self) -> &Path {
        &self.0.record.workspace
    }

    /// How it stands now.
    pub async fn info(&self) -> Result<SandboxInfo, Error> {
        let id = self.id().clone();
        let record = self.0.host.store(Operation::List, move |store| store.get(&id)).await?;
        match record {
            Some(record) => Ok(describe(&self.0.host, record).await),
            None => Err(self.not_found(Operation::List)),
        }
    }

    /// Starts the lease anew: the sandbox ends `lease` from now unless it is renewed again, or lives until it is destroyed with `None`.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use crannog::{Host, Sandbox, SandboxOptions};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// let sandbox = Sandbox::create(&host, SandboxOptions::new().lease(Duration::from_secs(30))).await?;
    /// sandbox.renew(Some(Duration::from_secs(300))).await?;
    /// assert!(sandbox.info().await?.lease_remaining > Some(Duration::from_secs(200)));
    /// # sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Fails with [`ErrorCode::LeaseFenced`] when somebody has [taken it over](Self::take_over) since this handle was made.
    pub async fn renew(&self, lease: Option<Duration>) -> Result<(), Error> {
        check_lease(lease)?;
        self.renew_at(self.0.generation.load(Ordering::Relaxed), lease).await
    }

    /// Makes this handle the one that may renew: every other handle's renewals are refused from now on.
    pub async fn take_over(&self, lease: Option<Duration>) -> Result<(), Error> {
        check_lease(lease)?;
        let id = self.id().clone();
        let generation = self.0.host.store(Operation::Renew, move |store| store.advance_generation(&id)).await?;
        let Some(generation) = generation else { return Err(self.not_found(Operation::Renew)) };
        self.renew_at(generation, lease).await?;
        self.0.generation.store(generation, Ordering::Relaxed);
        Ok(())
    }

    async fn renew_at(&self, generation: u64, lease: Option<Duration>) -> Result<(), Error> {
        let answer = self.0.guest.renew(generation, lease).await;
        self.settle(Operation::Renew, answer).await?;
        let id = self.id().clone();
        let expires = lease.map(|lease| now_ms().saturating_add(millis(lease)));
        // For display only: the guest counts by its own clock, and a generation that moved on meanwhile has its own record.
        self.0.host.store(Operation::Renew, move |store| store.renewed(&id, generation, lease.map(millis), expires)).await?;
        Ok(())
    }

    /// Ends every process, the guest and, if it was made with the sandbox, the workspace.
    ///
    /// Runs to its end even if the future is dropped. Destroying what somebody else is destroying at the same time succeeds, too.
    pub async fn destroy(self) -> Result<(), Error> {
        let mut record = self.0.record.clone();
        record.lease_generation = self.0.generation.load(Ordering::Relaxed);
        destroy_record(&self.0.host, record, limits::KILL_GRACE).await
    }

    pub(crate) fn guest(&self) -> &GuestClient {
        &self.0.guest
    }

    /// Turns the guest's answer into the caller's: a guest that does not answer because it is gone for good is told apart from one that
    /// cannot be reached at the moment.
    pub(crate) async fn settle<T>(&self, operation: Operation, answer: Result<T, WireError>) -> Result<T, Error> {
        match answer {
            Ok(value) => Ok(value),
            Err(error) => {
                let gone = error.code() == ErrorCode::GuestUnreachable;
                let error = Error::new(operation, Kind::Guest(error));
                Err(if gone { unreachable(&self.0.host, &self.0.record, error).await } else { error })
            }
        }
    }

    fn not_found(&self, operation: Operation) -> Error {
        Error::new(operation, Kind::SandboxNotFound { reference: self.id().to_string() })
    }
}

impl Host {
    /// Destroys a sandbox by id, beginning of the id, or name, in whatever state it is: see [`Sandbox::destroy`].
    pub async fn destroy(&self, reference: &str) -> Result<(), Error> {
        let record = find(self, Operation::Destroy, reference).await?;
        destroy_record(self, record, limits::KILL_GRACE).await
    }

    /// What is known of a sandbox by id, beginning of the id, or name, in whatever state it is.
    pub async fn describe(&self, reference: &str) -> Result<SandboxInfo, Error> {
        let record = find(self, Operation::List, reference).await?;
        Ok(describe(self, record).await)
    }
}

/// What a failure to reach a guest means: the sandbox was destroyed, or its guest is gone for good, or it cannot be reached right now.
async fn unreachable(host: &Host, record: &Record, error: Error) -> Error {
    if !matches!(host.local().probe(&placement_of(record)).await, Probe::Gone) {
        return error;
    }
    let id = record.id.clone();
    let lost = host.store(error.operation(), move |store| store.mark(&id, &[State::Ready], State::Lost)).await;
    match lost {
        // Somebody else may have marked it first; the record tells, and it is gone only where it says so.
        Ok(false) if is_destroyed(host, record, error.operation()).await => {
            Error::new(error.operation(), Kind::SandboxNotFound { reference: record.id.to_string() })
        }
        Ok(_) => Error::new(error.operation(), Kind::SandboxLost { sandbox: record.id.clone() }),
        Err(_) => error,
    }
}

async fn is_destroyed(host: &Host, record: &Record, operation: Operation) -> bool {
    let id = record.id.clone();
    let now = host.store(operation, move |store| store.get(&id)).await;
    matches!(now, Ok(None)) || matches!(now, Ok(Some(record)) if record.state == State::Destroying)
}

/// Destroys what a record stands for. Every step may be done twice, by several at once, and again after a crash between any two.
pub(crate) async fn destroy_record(host: &Host, record: Record, grace: Duration) -> Result<(), Error> {
    let operation = Operation::Destroy;
    let host = host.clone();
    let work = async move {
        let id = record.id.clone();
        host.store(operation, move |store| store.mark(&id, State::ALL, State::Destroying)).await?;
        let destroyed = host.local().destroy(&placement_of(&record), grace).await;
        destroyed.map_err(|error| Error::new(operation, Kind::Backend(error)))?;
        host.store(operation, move |store| store.remove(&record.id)).await?;
        Ok(())
    };
    // On a task of its own, so that a caller who loses patience does not leave half of it undone.
    tokio::spawn(work).await.map_err(|source| Error::new(operation, Kind::Interrupted { source }))?
}

/// The wall clock, for records that people read.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
