//! What crannog remembers between calls: the sandboxes of this machine, in one database file that many processes share.
//!
//! Every change is one transaction, so a process that is killed at any point leaves the record as it was before or after. Nothing here
//! decides anything by the clock; times are kept for people to read.

#![forbid(unsafe_code)]

mod error;
mod record;
mod schema;
mod store;

pub use error::StoreError;
pub use record::{Options, ProcessIdentity, Record, State};
pub use store::{BUSY_WAIT_MAX, Store};
