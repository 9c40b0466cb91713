//! The engine's errors as refusals.

use std::error::Error as _;

use crannog_core::error::ErrorCode;
use crannog_engine::EngineError;
use crannog_wire::Failure;

use crate::lease::Fenced;

/// A refusal with the engine's code, message and context. What the kernel said is added to the context, not to the message.
// By value, to be what `map_err` takes.
#[allow(clippy::needless_pass_by_value)]
pub(crate) fn refused(error: EngineError) -> Failure {
    let mut failure = Failure::new(error.code(), error.to_string());
    for (name, value) in error.context() {
        failure = failure.with(name, value);
    }
    if let Some(source) = error.source() {
        failure = failure.with("cause", source);
    }
    failure.retryable = matches!(error.code(), ErrorCode::ProcessLimitReached);
    failure
}

/// A caller whose generation is older than the lease's.
pub(crate) fn fenced(fenced: Fenced) -> Failure {
    Failure::new(ErrorCode::LeaseFenced, "another owner has taken this sandbox over; open it again to see its state")
        .with("current_generation", fenced.current)
}

/// A task of the guest that did not come to its end.
pub(crate) fn broken_off() -> Failure {
    Failure::new(ErrorCode::Internal, "the guest met a fault of its own; please report it")
}
