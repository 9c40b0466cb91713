//! Serving a guest to whoever connects.
//!
//! Each connection multiplexes calls; each call is a task of its own. Bounded are the connections, the calls that wait at once, and the bytes
//! that a caller may send ahead. Calls that end things (shutdown, kill, signal) and those that a creator depends on (hello, renew) are
//! never behind others in a queue.

mod handlers;
mod incoming;

use std::future::Future;
use std::io;
use std::sync::Arc;

use crannog_core::limits;
use futures_util::Stream;
use tokio::io::{AsyncRead, AsyncWrite};
use tonic::transport::Server;

use self::handlers::Handlers;
pub use self::incoming::{CONNECTIONS_MAX, Caller, unix_incoming};
use crate::proto::guest_server::GuestServer;
use crate::service::GuestService;

/// Bytes of one request that are taken: the largest start, and what is around it.
const REQUEST_BYTES_MAX: usize = limits::ARGUMENT_BYTES_MAX + 1024 * 1024;
/// Bytes of one request that may be sent ahead.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
/// The same for all requests of a connection.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;
/// One frame. Large, because a local socket loses nothing and each frame costs a wake-up.
const FRAME_BYTES_MAX: u32 = 256 * 1024;
/// Headers of one request; ours have a few dozen bytes.
const HEADER_BYTES_MAX: u32 = 16 * 1024;

/// The server could not go on.
#[derive(Debug, thiserror::Error)]
#[error("serving the guest protocol failed")]
pub struct ServeError(#[source] tonic::transport::Error);

/// Serves `service` on every stream of `incoming` until `stop` completes. Then no stream is taken any more, and it returns when the calls
/// that are under way have been answered: bound that wait outside.
pub async fn serve<Service, Streams, Io>(service: Arc<Service>, incoming: Streams, stop: impl Future<Output = ()>) -> Result<(), ServeError>
where
    Service: GuestService,
    Streams: Stream<Item = io::Result<Caller<Io>>>,
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handlers = GuestServer::new(Handlers::new(service)).max_decoding_message_size(REQUEST_BYTES_MAX);
    let calls_max = u32::try_from(limits::GUEST_CALLS_MAX).expect("the limit is 1024");
    Server::builder()
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_concurrent_streams(calls_max)
        .max_frame_size(FRAME_BYTES_MAX)
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .serve_with_incoming_shutdown(handlers, incoming, stop)
        .await
        .map_err(ServeError)
}
