//! What may stand for a sandbox: its id, the beginning of it, or its name.

use crannog_core::error::Operation;
use crannog_core::id::SandboxId;
use crannog_store::{Record, Store, StoreError};

use crate::error::{Error, Kind};
use crate::host::Host;

/// Fewest characters of an id's unique part that may stand for the whole.
pub const ID_PREFIX_CHARACTERS_MIN: usize = 6;

/// Finds the record that a reference stands for.
pub(crate) async fn find(host: &Host, operation: Operation, reference: &str) -> Result<Record, Error> {
    let text = reference.to_owned();
    let mut found = host.store(operation, move |store| candidates(store, &text)).await?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Error::new(operation, Kind::SandboxNotFound { reference: reference.to_owned() })),
        count => Err(Error::new(operation, Kind::SandboxAmbiguous { reference: reference.to_owned(), count })),
    }
}

fn candidates(store: &Store, reference: &str) -> Result<Vec<Record>, StoreError> {
    if let Some(id) = SandboxId::parse(reference) {
        return Ok(store.get(&id)?.into_iter().collect());
    }
    if let Some(record) = store.find_by_name(reference)? {
        return Ok(vec![record]);
    }
    let unique = reference.strip_prefix(SandboxId::PREFIX).unwrap_or(reference);
    let is_hex = unique.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if unique.len() < ID_PREFIX_CHARACTERS_MIN || !is_hex {
        return Ok(Vec::new());
    }
    store.find_by_prefix(&format!("{}{unique}", SandboxId::PREFIX))
}
