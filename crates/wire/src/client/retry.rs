//! When a call is tried again, and how long it may take.

use std::error::Error as StdError;
use std::time::Duration;

use crannog_core::error::Operation;
use tonic::transport::Channel;
use tonic::{Code, Response, Status};

use super::{GuestClient, Stub};
use crate::convert::{ConvertError, duration_ms};
use crate::error::{self, WireError};

/// Attempts of one call, and reconnects of one stream of events without progress between them.
pub(super) const ATTEMPTS_MAX: u32 = 4;
/// Pause before the second attempt; it grows fourfold. A guest that was restarted listens before it is recorded, so long pauses gain nothing.
const PAUSE: Duration = Duration::from_millis(10);

/// What may be repeated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Acting twice is acting once.
    Always,
    /// Only when the call cannot have reached the guest.
    UnlessSent,
}

/// One call: what it is, how long it waits by its nature, whether it may be repeated.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) operation: Operation,
    wait: Duration,
    repeat: Repeat,
}

impl Call {
    pub(super) fn new(operation: Operation, repeat: Repeat) -> Self {
        Self { operation, wait: Duration::ZERO, repeat }
    }

    pub(super) fn waiting(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Turns an answer that cannot be meant into the error that says so.
    pub(super) fn understood<Answer>(self, answer: Result<Answer, ConvertError>) -> Result<Answer, WireError> {
        answer.map_err(|source| WireError::Malformed { operation: self.operation, source })
    }
}

impl GuestClient {
    /// Sends `request` until it is answered, refused, or the attempts are used up.
    pub(super) async fn call<Request, Answer>(
        &self,
        call: Call,
        request: Request,
        send: impl AsyncFn(&mut Stub<Channel>, Request) -> Result<Response<Answer>, Status>,
    ) -> Result<Answer, WireError>
    where
        Request: Clone,
    {
        let limit = call.wait.saturating_add(self.options.answer_timeout);
        let mut stub = self.stub.clone();
        let mut attempt = 1;
        loop {
            let answer = tokio::time::timeout(limit, send(&mut stub, request.clone()));
            let status = match answer.await {
                Ok(Ok(answer)) => return Ok(answer.into_inner()),
                Ok(Err(status)) => status,
                Err(_) => return Err(WireError::TimedOut { operation: call.operation, waited_ms: duration_ms(limit) }),
            };
            if attempt == ATTEMPTS_MAX || !repeatable(&status, call.repeat) {
                return Err(WireError::from_status(call.operation, status));
            }
            pause(attempt).await;
            attempt += 1;
        }
    }
}

/// Waits before the attempt that follows `attempt`.
pub(super) async fn pause(attempt: u32) {
    tokio::time::sleep(PAUSE * 4_u32.pow(attempt - 1)).await;
}

fn repeatable(status: &Status, repeat: Repeat) -> bool {
    is_broken(status) && (repeat == Repeat::Always || never_sent(status))
}

/// The connection failed, not the call.
pub(super) fn is_broken(status: &Status) -> bool {
    let by_transport = matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal);
    by_transport && error::refusal(status).is_none()
}

/// No stream could be opened: an error of the connector itself is in the chain, and none of an established connection.
fn never_sent(status: &Status) -> bool {
    let mut source = status.source();
    while let Some(error) = source {
        if error.is::<tonic::ConnectError>() {
            return true;
        }
        source = error.source();
    }
    false
}
