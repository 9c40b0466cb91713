//! Between the messages and the words of `crannog-core`.
//!
//! Encoding always succeeds. Decoding takes whatever a foreign side may send: what cannot be meant or is beyond a limit is a
//! [`ConvertError`] that names the field, so neither side works with a value it has not checked.

mod collect;
mod guest;
mod process;
mod screen;
mod start;
mod transcript;

use std::time::Duration;

use crannog_core::error::ErrorCode;
use crannog_core::limits;

pub(crate) use process::{signal, signal_number, write_request, write_spec};
pub(crate) use start::{check_size, environment};
pub(crate) use transcript::stream_choice;

/// A message that cannot be meant.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// A field that the call needs is absent, or an alternative is unknown to this side.
    #[error("`{field}` is missing")]
    Missing {
        /// Which.
        field: &'static str,
    },
    /// A field is outside what is allowed.
    #[error("`{field}` must be {rule}")]
    Invalid {
        /// Which.
        field: &'static str,
        /// What is allowed.
        rule: &'static str,
    },
    /// A field is longer, or has more elements, than is allowed.
    #[error("`{field}` has {len} bytes or elements; at most {limit} are taken")]
    TooLong {
        /// Which.
        field: &'static str,
        /// How many there are.
        len: usize,
        /// How many are taken.
        limit: usize,
    },
    /// Arguments and environment together are too large.
    #[error(
        "arguments and environment have {bytes} bytes together; at most {} are taken: pass large data by a file or by input",
        limits::ARGUMENT_BYTES_MAX
    )]
    ArgumentsTooLarge {
        /// How many.
        bytes: usize,
    },
    /// A message is larger than the protocol carries.
    #[error("a message is larger than the protocol carries; ask for less at once")]
    MessageTooLarge,
    /// Bytes are not the message that they should be.
    #[error("the bytes are not a message of this protocol")]
    Decode(#[source] prost::DecodeError),
}

impl ConvertError {
    /// What a program may branch on.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::ArgumentsTooLarge { .. } => ErrorCode::ArgumentsTooLarge,
            _ => ErrorCode::InvalidArgument,
        }
    }

    /// The field it is about.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Missing { field } | Self::Invalid { field, .. } | Self::TooLong { field, .. } => Some(field),
            _ => None,
        }
    }
}

/// Whole milliseconds, rounded up so that a wait is never shorter than asked.
pub(crate) fn duration_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

pub(crate) fn required<Value>(field: &'static str, value: Option<Value>) -> Result<Value, ConvertError> {
    value.ok_or(ConvertError::Missing { field })
}

fn at_most(field: &'static str, len: usize, limit: usize) -> Result<(), ConvertError> {
    if len > limit {
        return Err(ConvertError::TooLong { field, len, limit });
    }
    Ok(())
}

/// Checks an id that a caller made up for a retry.
fn retry_id(field: &'static str, id: Option<String>) -> Result<Option<String>, ConvertError> {
    if let Some(id) = &id {
        at_most(field, id.len(), limits::RETRY_ID_BYTES_MAX)?;
        if id.is_empty() {
            return Err(ConvertError::Invalid { field, rule: "absent or not empty" });
        }
    }
    Ok(id)
}
