//! Standard input and output as a way to the guest.
//!
//! Two plain threads copy, because standard input may be anything that can be read, also a file that no event loop takes. The end of the
//! input is passed on; the end of the guest's answers ends the program.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;

/// Bytes copied at a time: what a pipe holds.
const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("the guest's socket {} cannot be reached; see whether the sandbox still runs", path.display())]
    Reach { path: PathBuf, source: io::Error },
    #[error("copying from the guest failed")]
    Copy(#[source] io::Error),
}

/// Copies until the guest hangs up.
pub(crate) fn connect(path: &Path) -> Result<(), ConnectError> {
    let reach = |source| ConnectError::Reach { path: path.to_owned(), source };
    let mut socket = UnixStream::connect(path).map_err(reach)?;
    let mut to_guest = socket.try_clone().map_err(reach)?;
    // Without the standard library's line buffer: what the guest says is passed on at once.
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned().map_err(ConnectError::Copy)?);
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned().map_err(ConnectError::Copy)?);
    thread::spawn(move || {
        // When the guest has gone the other direction tells it.
        let _ = copy(&mut input, &mut to_guest);
        let _ = to_guest.shutdown(Shutdown::Write);
    });
    copy(&mut socket, &mut output).map_err(ConnectError::Copy)
}

/// Copies by plain reads and writes. The standard library's copy would use splice(2), and that holds the lock of a pipe while it waits for
/// the socket: whoever reads the other end of our output would be stuck, in non-blocking mode, too.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) => to.write_all(&buffer[..len])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
