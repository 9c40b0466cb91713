//! Making a sandbox: record, place, confirm. What fails half-way is taken back; what is killed half-way ends by itself.

use std::path::PathBuf;
use std::time::Duration;

use crannog_backends::{Backend as _, GuestClient, GuestProcess, Place};
use crannog_core::error::Operation;
use crannog_core::limits;
use crannog_store::{Options, ProcessIdentity, Record, State, StoreError};
use tokio::sync::oneshot;

use crate::error::{Error, Kind};
use crate::host::Host;
use crate::ids;
use crate::options::SandboxOptions;
use crate::record::placement_of;
use crate::sandbox::{Sandbox, destroy_record, millis, now_ms};

/// Generation of a fresh sandbox's lease.
const GENERATION_FIRST: u64 = 1;

impl Sandbox {
    /// Makes a sandbox and answers when its guest does.
    ///
    /// If the future is dropped, what was made so far is destroyed again.
    ///
    /// ```
    /// # use crannog::{Host, Sandbox, SandboxOptions};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// let sandbox = Sandbox::create(&host, SandboxOptions::new().name("build")).await?;
    /// let again = Sandbox::open(&host, "build").await?;
    /// assert_eq!(again.id(), sandbox.id());
    /// sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create(host: &Host, options: SandboxOptions) -> Result<Self, Error> {
        options.check()?;
        let host = host.clone();
        let (sender, receiver) = oneshot::channel();
        let task = tokio::spawn(async move {
            let made = create(&host, options).await;
            if let Err(Ok(unclaimed)) = sender.send(made) {
                // Nobody is left to be told of a failure; the record stays for the reaper.
                let _ = unclaimed.destroy().await;
            }
        });
        match receiver.await {
            Ok(made) => made,
            Err(_) => match task.await {
                Err(source) => Err(Error::new(Operation::Create, Kind::Interrupted { source })),
                Ok(()) => unreachable!("the task sends before it ends"),
            },
        }
    }
}

async fn create(host: &Host, options: SandboxOptions) -> Result<Sandbox, Error> {
    let mut record = draft(host, &options).await?;
    insert(host, &record).await?;
    match place(host, &mut record, options).await {
        Ok(guest) => Ok(Sandbox::with(host.clone(), record, guest)),
        Err(error) => {
            // The first failure is the one to tell; what cannot be taken back now stays on record for the reaper.
            let _ = destroy_record(host, record, Duration::ZERO).await;
            Err(error)
        }
    }
}

/// The record of the sandbox as it is to be.
async fn draft(host: &Host, options: &SandboxOptions) -> Result<Record, Error> {
    let created_ms = now_ms();
    let id = ids::sandbox_id(created_ms)?;
    let (wish, paths) = (options.workspace.clone(), host.paths().clone());
    let fresh = paths.workspace(&id);
    let (workspace, creator) = host
        .blocking(Operation::Create, move || {
            let workspace = wish.map_or(Ok(fresh), existing_directory)?;
            Ok((workspace, GuestProcess::this().map(identity)))
        })
        .await?;
    Ok(Record {
        name: options.name.clone(),
        backend: host.local().name().to_owned(),
        state: State::Creating,
        lease_generation: GENERATION_FIRST,
        lease_ms: options.lease.map(millis),
        lease_expires_ms: options.lease.map(|lease| created_ms.saturating_add(millis(lease))),
        workspace,
        workspace_owned: options.workspace.is_none(),
        runtime: paths.sandbox(&id),
        guest: None,
        creator,
        cgroup: None,
        environment: options.environment.clone(),
        created_ms,
        options: Options { processes_live_max: options.processes_live_max, spill_bytes: options.spill_bytes },
        id,
    })
}

fn existing_directory(path: PathBuf) -> Result<PathBuf, Error> {
    let canonical = std::fs::canonicalize(&path)
        .and_then(|canonical| if canonical.is_dir() { Ok(canonical) } else { Err(std::io::ErrorKind::NotADirectory.into()) });
    canonical.map_err(|source| Error::new(Operation::Create, Kind::Workspace { path, source }))
}

fn identity(process: GuestProcess) -> ProcessIdentity {
    ProcessIdentity { pid: process.pid, start_time: process.start_time, boot: process.boot }
}

async fn insert(host: &Host, record: &Record) -> Result<(), Error> {
    let inserted = record.clone();
    let done = host.store(Operation::Create, move |store| match store.insert_creating(&inserted) {
        Err(StoreError::NameTaken { .. }) => Ok(false),
        other => other.map(|()| true),
    });
    if done.await? {
        return Ok(());
    }
    let name = record.name.clone().unwrap_or_default();
    Err(Error::new(Operation::Create, Kind::NameTaken { name }))
}

/// Places the guest, puts it on record, and only then confirms its lease: killed in between, this leaves a guest that ends by itself and a
/// record that says so.
async fn place(host: &Host, record: &mut Record, options: SandboxOptions) -> Result<GuestClient, Error> {
    let operation = Operation::Create;
    let order = Place {
        placement: placement_of(record),
        environment: options.environment,
        processes_live_max: options.processes_live_max.unwrap_or(limits::PROCESSES_LIVE_DEFAULT),
        spill_bytes: options.spill_bytes.unwrap_or(limits::TRANSCRIPT_SPILL_BYTES_DEFAULT),
        seed: ids::seed()?,
    };
    let placed = host.local().place(order).await.map_err(|error| Error::new(operation, Kind::Backend(error)))?;
    record.guest = placed.placement.guest.map(identity);
    record.cgroup = placed.placement.cgroup;
    record.state = State::Ready;
    let ready = record.clone();
    let marked = host.store(operation, move |store| store.mark_ready(&ready)).await?;
    if !marked {
        return Err(Error::new(operation, Kind::SandboxNotFound { reference: record.id.to_string() }));
    }
    let confirmed = placed.guest.renew(record.lease_generation, options.lease).await;
    confirmed.map_err(|error| Error::new(operation, Kind::Guest(error)))?;
    Ok(placed.guest)
}
