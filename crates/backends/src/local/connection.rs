//! The way to a guest's socket, and what it means when nobody answers there.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use crannog_core::limits;
use crannog_wire::{ClientOptions, GuestClient, Hello, UnixConnector, WireError};
use tokio::time::timeout;

use crate::backend::{Placement, Probe};
use crate::error::BackendError;

/// The socket's name in the run directory.
pub(super) const SOCKET: &str = "guest.sock";

/// The way to a socket however long its path is: through its open directory, since a socket's own address holds 107 bytes (unix(7)).
pub(super) fn connector(placement: &Placement) -> io::Result<UnixConnector> {
    let directory = File::open(&placement.runtime)?;
    Ok(UnixConnector::beneath(OwnedFd::from(directory), SOCKET))
}

/// A client that connects when it is first used. Fails if the run directory is gone.
pub(super) fn client(placement: &Placement) -> io::Result<GuestClient> {
    Ok(GuestClient::new(connector(placement)?, ClientOptions::default()))
}

/// Connects and checks who answers.
pub(super) async fn reach(placement: &Placement) -> Result<GuestClient, BackendError> {
    let gone = |source: io::Error| {
        let operation = crannog_core::error::Operation::Open;
        BackendError::Reach(WireError::Unreachable { operation, source: Box::new(source) })
    };
    let guest = client(placement).map_err(gone)?;
    let hello = guest.hello().await.map_err(BackendError::Reach)?;
    check(placement, &hello)?;
    Ok(guest)
}

/// Refuses a guest of another sandbox.
pub(super) fn check(placement: &Placement, hello: &Hello) -> Result<(), BackendError> {
    if hello.sandbox == placement.sandbox.as_str() {
        return Ok(());
    }
    Err(BackendError::Stranger { sandbox: placement.sandbox.clone(), found: hello.sandbox.clone() })
}

/// Asks how the guest stands. It is gone only if nobody listens on its socket and its process, where it is known, has ended: the socket alone
/// may be out of our sight, and the process alone may be in a namespace of its own.
pub(super) async fn probe(placement: &Placement) -> Probe {
    let ended = || placement.guest.as_ref().is_none_or(|guest| !guest.is_alive());
    let connector = match connector(placement) {
        Ok(connector) => connector,
        Err(error) if error.kind() == io::ErrorKind::NotFound && ended() => return Probe::Gone,
        Err(_) => return Probe::Unresponsive,
    };
    let knock = timeout(limits::CONNECT_TIMEOUT, crannog_wire::Connector::connect(&connector)).await;
    match knock {
        Ok(Ok(_)) => {}
        Ok(Err(error)) if is_nobody(&error) && ended() => return Probe::Gone,
        _ => return Probe::Unresponsive,
    }
    if placement.guest.as_ref().is_some_and(crate::GuestProcess::is_stopped) {
        return Probe::Unresponsive;
    }
    let guest = GuestClient::new(connector, ClientOptions::default());
    match timeout(limits::CONNECT_TIMEOUT, guest.hello()).await {
        Ok(Ok(hello)) if check(placement, &hello).is_ok() => Probe::Alive(hello),
        Ok(Err(_)) if ended() && !listens(placement).await => Probe::Gone,
        _ => Probe::Unresponsive,
    }
}

/// Somebody accepts connections on the socket, or will.
pub(super) async fn listens(placement: &Placement) -> bool {
    let Ok(connector) = connector(placement) else { return false };
    match timeout(limits::CONNECT_TIMEOUT, crannog_wire::Connector::connect(&connector)).await {
        Ok(Err(error)) => !is_nobody(&error),
        _ => true,
    }
}

fn is_nobody(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound)
}
