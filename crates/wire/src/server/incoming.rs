//! Streams of callers.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::transport::server::Connected;

/// Connections at once. Further ones wait in the socket's queue.
pub const CONNECTIONS_MAX: usize = 512;
/// Pause after a failed accept: out of descriptors, most likely, which only time heals.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// The connections of a listening socket, at most [`CONNECTIONS_MAX`] at once. A failed accept is tried again after a pause.
pub fn unix_incoming(listener: UnixListener) -> impl Stream<Item = io::Result<Caller<UnixStream>>> {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    futures_util::stream::unfold((listener, places), async |(listener, places)| {
        // The semaphore is never closed; if it were, nobody could be served.
        let place = places.clone().acquire_owned().await.ok()?;
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return Some((Ok(Caller { stream, _place: Some(place) }), (listener, places))),
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    })
}

/// A stream from a caller, and the place it takes among the connections.
#[derive(Debug)]
pub struct Caller<Io> {
    stream: Io,
    _place: Option<OwnedSemaphorePermit>,
}

impl<Io> Caller<Io> {
    /// A caller that takes no place: whoever opens such streams bounds them.
    pub fn new(stream: Io) -> Self {
        Self { stream, _place: None }
    }
}

impl<Io> Connected for Caller<Io> {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl<Io: AsyncRead + Unpin> AsyncRead for Caller<Io> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Caller<Io> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
