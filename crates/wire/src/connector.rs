//! Byte streams to a guest.
//!
//! The client knows nothing of sockets or containers: a backend hands it a connector, which opens a fresh stream each time it is asked.

use std::fmt;
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;

/// What a stream to a guest must be able to do.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<Stream: AsyncRead + AsyncWrite + Send + Unpin> Io for Stream {}

/// A stream to a guest.
pub type ByteStream = Box<dyn Io>;

/// A connection attempt.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<ByteStream>> + Send>>;

/// Opens streams to one guest.
pub trait Connector: Send + Sync + 'static {
    /// Opens a fresh stream. The client gives up after [`crannog_core::limits::CONNECT_TIMEOUT`] and then drops the future.
    fn connect(&self) -> Connecting;
}

/// Connects by calling a function.
impl<Open> Connector for Open
where
    Open: Fn() -> Connecting + Send + Sync + 'static,
{
    fn connect(&self) -> Connecting {
        self()
    }
}

/// Connects to a Unix socket.
#[derive(Debug, Clone)]
pub struct UnixConnector {
    path: PathBuf,
    /// Held open because `path` goes through it.
    _folder: Option<Arc<OwnedFd>>,
}

impl UnixConnector {
    /// The socket at `path`, at most 107 bytes (unix(7)).
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), _folder: None }
    }

    /// The socket `name` in an open folder, however long the folder's path is.
    pub fn beneath(folder: OwnedFd, name: impl AsRef<Path>) -> Self {
        let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Self { path, _folder: Some(Arc::new(folder)) }
    }
}

impl Connector for UnixConnector {
    fn connect(&self) -> Connecting {
        let connector = self.clone();
        Box::pin(async move {
            let stream = UnixStream::connect(&connector.path).await?;
            Ok(Box::new(stream) as ByteStream)
        })
    }
}

impl fmt::Debug for dyn Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Connector")
    }
}
