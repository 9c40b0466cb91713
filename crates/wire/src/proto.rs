//! The messages as they are sent, made from the protocol files (`cargo xtask generate`).
//!
//! Only [`crate::convert`] and the two ends of a connection look inside them. Public for fuzzing and for tools that speak the protocol.

#![allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]

use std::fmt;

include!("generated/crannog.guest.v1.rs");

// Values of variables and input of processes may be secrets: Debug tells how many bytes, not which.

impl fmt::Debug for Variable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}=[{} bytes]", String::from_utf8_lossy(&self.name), self.value.len())
    }
}

impl fmt::Debug for WriteRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WriteRequest")
            .field("process", &self.process)
            .field("data_bytes", &self.data.len())
            .field("write_id", &self.write_id)
            .finish_non_exhaustive()
    }
}
