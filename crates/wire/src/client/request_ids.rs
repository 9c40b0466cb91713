//! Ids for calls whose caller gave none, so that the client's own retries are recognised.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Ids that no other client of the same guest makes: 128 bits from the kernel's randomness (by way of the standard library's hash keys) and
/// a counter.
pub(super) struct RequestIds {
    prefix: String,
    counter: AtomicU64,
}

impl RequestIds {
    pub(super) fn new() -> Self {
        let keys = RandomState::new();
        let process = std::process::id();
        Self { prefix: format!("{:016x}{:016x}", keys.hash_one((process, 0)), keys.hash_one((process, 1))), counter: AtomicU64::new(0) }
    }

    pub(super) fn next(&self) -> String {
        format!("{}-{}", self.prefix, self.counter.fetch_add(1, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::RequestIds;

    #[test]
    fn ids_differ_between_calls_and_clients() {
        let clients = [RequestIds::new(), RequestIds::new()];
        let ids: HashSet<String> = clients.iter().flat_map(|client| [client.next(), client.next()]).collect();
        assert_eq!(ids.len(), 4);
    }
}
