//! Asking guests how they stand.

use crannog_backends::{Backend as _, Probe};
use crannog_core::error::Operation;
use crannog_store::{Record, State};

use crate::error::{Error, Kind};
use crate::host::Host;
use crate::info::SandboxInfo;
use crate::record::{info_of, placement_of};

/// Guests asked at once: each costs descriptors for as long as it does not answer.
const PROBES_AT_ONCE_MAX: usize = 64;

/// Asks a sandbox how it stands.
pub(crate) async fn describe(host: &Host, record: Record) -> SandboxInfo {
    let probe = probe(host, &record).await;
    info_of(record, probe.as_ref())
}

/// Asks all of them, in their order.
pub(crate) async fn probe_all(host: &Host, operation: Operation, records: Vec<Record>) -> Result<Vec<(Record, Option<Probe>)>, Error> {
    let mut answers = Vec::with_capacity(records.len());
    for batch in records.chunks(PROBES_AT_ONCE_MAX) {
        let ask = |record: &Record| {
            let (host, record) = (host.clone(), record.clone());
            tokio::spawn(async move {
                let probe = probe(&host, &record).await;
                (record, probe)
            })
        };
        let asked: Vec<_> = batch.iter().map(ask).collect();
        for answer in asked {
            answers.push(answer.await.map_err(|source| Error::new(operation, Kind::Interrupted { source }))?);
        }
    }
    Ok(answers)
}

/// `None` where the record says that there is no guest to ask.
async fn probe(host: &Host, record: &Record) -> Option<Probe> {
    match record.state {
        State::Ready | State::Creating => Some(host.local().probe(&placement_of(record)).await),
        State::Destroying | State::Lost => None,
    }
}
