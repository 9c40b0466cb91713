//! What can go wrong between a client and a guest.
//!
//! A [`Failure`] is the guest's own word: it crosses the wire as a status with a [`proto::Refusal`] in its details. A [`WireError`] is what
//! the client hands to its caller: a refusal as it was sent, or a fault of the connection.

use std::collections::BTreeMap;
use std::error::Error as StdError;

use crannog_core::error::{ErrorCode, Operation};
use prost::Message as _;
use tonic::{Code, Status};

use crate::convert::ConvertError;
use crate::{GENERATION, proto};

/// Bytes of a refusal's message; the rest is cut, because it travels in a header block of bounded size.
const MESSAGE_BYTES_MAX: usize = 4 * 1024;
/// Named facts in a refusal.
const CONTEXT_ENTRIES_MAX: usize = 16;
/// Bytes of one of them.
const CONTEXT_BYTES_MAX: usize = 512;

/// A guest's refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What a program may branch on.
    pub code: ErrorCode,
    /// What a person can act on.
    pub message: String,
    /// What it was about, by name.
    pub context: BTreeMap<String, String>,
    /// The same call may succeed later, unchanged.
    pub retryable: bool,
}

impl Failure {
    /// A refusal that will not change by itself.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), context: BTreeMap::new(), retryable: false }
    }

    /// Adds a named fact.
    #[must_use]
    // By value, so that a number can be given as it is.
    #[allow(clippy::needless_pass_by_value)]
    pub fn with(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.context.insert(name.into(), value.to_string());
        self
    }
}

impl From<ConvertError> for Failure {
    fn from(error: ConvertError) -> Self {
        let failure = Self::new(error.code(), error.to_string());
        match error.field() {
            Some(field) => failure.with("argument", field),
            None => failure,
        }
    }
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        let context = failure
            .context
            .into_iter()
            .take(CONTEXT_ENTRIES_MAX)
            .map(|(name, value)| (cut(name, CONTEXT_BYTES_MAX), cut(value, CONTEXT_BYTES_MAX)))
            .collect();
        let refusal = proto::Refusal { code: failure.code.as_str().to_owned(), retryable: failure.retryable, context };
        let message = cut(failure.message, MESSAGE_BYTES_MAX);
        Self::with_details(status_code(failure.code), message, refusal.encode_to_vec().into())
    }
}

/// A call to a guest that did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The guest refused.
    #[error(transparent)]
    Refused(#[from] Failure),
    /// No stream to the guest could be opened, or it broke and the call could not be repeated.
    #[error("the sandbox's guest cannot be reached for {operation}; see whether the sandbox is still running")]
    Unreachable {
        /// What was asked.
        operation: Operation,
        /// What happened.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The guest is there and did not answer in time.
    #[error("the sandbox's guest did not answer {operation} within {waited_ms} ms; it may be overloaded: try again")]
    TimedOut {
        /// What was asked.
        operation: Operation,
        /// How long the client waited, milliseconds.
        waited_ms: u64,
    },
    /// The guest's answer cannot be meant.
    #[error("the sandbox's guest answered {operation} with something that cannot be understood; use a client and a guest of one version")]
    Malformed {
        /// What was asked.
        operation: Operation,
        /// What was wrong with it.
        source: ConvertError,
    },
    /// The guest speaks another generation of the protocol.
    #[error(
        "the sandbox's guest speaks protocol generation {theirs}, this client {GENERATION}; create the sandbox anew or use the client it was made with"
    )]
    Generation {
        /// The guest's generation, 0 when it does not know the call.
        theirs: u32,
    },
    /// What was asked is not allowed, so it was not sent.
    #[error(transparent)]
    Invalid(#[from] ConvertError),
}

impl WireError {
    /// What a program may branch on.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(failure) => failure.code,
            Self::Unreachable { .. } | Self::TimedOut { .. } => ErrorCode::GuestUnreachable,
            Self::Malformed { .. } | Self::Generation { .. } => ErrorCode::ProtocolMismatch,
            Self::Invalid(error) => error.code(),
        }
    }

    /// The same call may succeed later, unchanged.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Refused(failure) => failure.retryable,
            Self::Unreachable { .. } | Self::TimedOut { .. } => true,
            Self::Malformed { .. } | Self::Generation { .. } | Self::Invalid(_) => false,
        }
    }

    /// What it was about, by name.
    pub fn context(&self) -> BTreeMap<String, String> {
        match self {
            Self::Refused(failure) => failure.context.clone(),
            Self::Unreachable { operation, .. } | Self::Malformed { operation, .. } => one("operation", operation),
            Self::TimedOut { operation, waited_ms } => {
                let mut context = one("operation", operation);
                context.insert("waited_ms".to_owned(), waited_ms.to_string());
                context
            }
            Self::Generation { theirs } => one("generation", theirs),
            Self::Invalid(error) => error.field().map(|field| one("argument", &field)).unwrap_or_default(),
        }
    }

    /// Reads the status that ended a call.
    pub(crate) fn from_status(operation: Operation, status: Status) -> Self {
        if let Some(failure) = refusal(&status) {
            return Self::Refused(failure);
        }
        match status.code() {
            Code::Unimplemented => Self::Generation { theirs: 0 },
            Code::OutOfRange | Code::ResourceExhausted => Self::Malformed { operation, source: ConvertError::MessageTooLarge },
            _ => Self::Unreachable { operation, source: Box::new(status) },
        }
    }
}

/// The guest's word in a status, if it is one.
pub(crate) fn refusal(status: &Status) -> Option<Failure> {
    let refusal = proto::Refusal::decode(status.details()).ok()?;
    // A newer guest may know codes that we do not: the message still says what happened.
    let code = if refusal.code.is_empty() { None } else { Some(ErrorCode::parse(&refusal.code).unwrap_or(ErrorCode::Internal)) };
    Some(Failure {
        code: code?,
        message: status.message().to_owned(),
        context: refusal.context.into_iter().collect(),
        retryable: refusal.retryable,
    })
}

/// The nearest status of gRPC, for foreign tools; ours read the details.
fn status_code(code: ErrorCode) -> Code {
    match code {
        ErrorCode::PtySessionNotFound | ErrorCode::ProgramNotFound | ErrorCode::WorkingDirectoryNotFound => Code::NotFound,
        ErrorCode::InvalidArgument | ErrorCode::ArgumentsTooLarge => Code::InvalidArgument,
        ErrorCode::ProcessLimitReached => Code::ResourceExhausted,
        ErrorCode::ProgramNotExecutable | ErrorCode::UserUnavailable => Code::PermissionDenied,
        ErrorCode::Unsupported => Code::Unimplemented,
        ErrorCode::Internal | ErrorCode::SpawnFailed => Code::Internal,
        _ => Code::FailedPrecondition,
    }
}

fn cut(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

fn one(name: &str, value: &impl ToString) -> BTreeMap<String, String> {
    BTreeMap::from([(name.to_owned(), value.to_string())])
}

#[cfg(test)]
mod tests {
    use crannog_core::error::{ErrorCode, Operation};
    use tonic::Status;

    use super::{Failure, MESSAGE_BYTES_MAX, WireError};

    #[test]
    fn every_code_crosses_the_wire_with_its_context() {
        for code in ErrorCode::ALL {
            let sent = Failure { retryable: true, ..Failure::new(*code, "say what to do").with("program", "ls") };
            let status = Status::from(sent.clone());
            match WireError::from_status(Operation::Start, status) {
                WireError::Refused(received) => assert_eq!(received, sent),
                other => panic!("{code}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_refusal_stays_small() {
        let sent = Failure::new(ErrorCode::Internal, "é".repeat(MESSAGE_BYTES_MAX)).with("x", "y".repeat(100_000));
        let status = Status::from(sent);
        assert!(status.message().len() <= MESSAGE_BYTES_MAX && status.details().len() < 1_024);
    }

    #[test]
    fn a_status_without_details_is_a_fault_of_the_connection() {
        let error = WireError::from_status(Operation::Collect, Status::unavailable("broken pipe"));
        assert_eq!((error.code(), error.retryable()), (ErrorCode::GuestUnreachable, true));
        let error = WireError::from_status(Operation::Collect, Status::unimplemented("no such call"));
        assert_eq!((error.code(), error.retryable()), (ErrorCode::ProtocolMismatch, false));
    }
}
