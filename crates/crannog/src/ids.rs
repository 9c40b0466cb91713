//! Random bits that this side gives: ids of sandboxes, and seeds.

use crannog_core::error::Operation;
use crannog_core::id::SandboxId;

use crate::error::Error;

/// A fresh sandbox id: sorts by creation, and no two clients make the same.
pub(crate) fn sandbox_id(now_ms: u64) -> Result<SandboxId, Error> {
    let random = random_bytes::<10>(Operation::Create)?;
    Ok(SandboxId::from_bits(uuid::Builder::from_unix_timestamp_millis(now_ms, &random).into_uuid().as_u128()))
}

/// Bits for the guest's choice of process ids.
pub(crate) fn seed() -> Result<u64, Error> {
    Ok(u64::from_ne_bytes(random_bytes(Operation::Create)?))
}

fn random_bytes<const LEN: usize>(operation: Operation) -> Result<[u8; LEN], Error> {
    let mut bytes = [0; LEN];
    getrandom::fill(&mut bytes).map_err(|source| Error::randomness(operation, source))?;
    Ok(bytes)
}
