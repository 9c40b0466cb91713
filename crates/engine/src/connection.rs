//! Connecting a process: a terminal for all three, or pipes and perhaps no input.

use std::io;
use std::os::fd::OwnedFd;

use crannog_core::process::{Connection, Stdin, TerminalSize};
use crannog_sys::async_fd::AsyncFile;
use crannog_sys::terminal::Terminal;

use crate::error::EngineError;
use crate::host::Host;
use crate::input::{Input, Sink};
use crate::launch;
use crate::process::Outputs;
use crate::reader::Output;

/// Our side of a connection.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) outputs: Outputs,
    pub(crate) input: Input,
    pub(crate) terminal: Option<TerminalSize>,
}

impl Connected {
    /// Opens a connection; the three descriptors are the child's.
    pub(crate) fn open(connection: Connection, host: &Host) -> Result<(Self, [OwnedFd; 3]), EngineError> {
        match connection {
            Connection::Terminal(size) => {
                launch::check_size(size)?;
                terminal(size).map_err(|source| EngineError::Spawn { step: "opening a terminal".to_owned(), source })
            }
            Connection::Pipes(stdin) => {
                pipes(stdin, host).map_err(|source| EngineError::Spawn { step: "opening pipes".to_owned(), source })
            }
        }
    }
}

fn terminal(size: TerminalSize) -> io::Result<(Connected, [OwnedFd; 3])> {
    let (terminal, peer) = Terminal::open(size.rows, size.columns)?;
    let outputs = Outputs::new(Output::Terminal(terminal.into_async()?), None);
    let connected = Connected { outputs, input: Input::new(Sink::Terminal), terminal: Some(size) };
    Ok((connected, [peer.try_clone()?, peer.try_clone()?, peer]))
}

fn pipes(stdin: Stdin, host: &Host) -> io::Result<(Connected, [OwnedFd; 3])> {
    let (stdin, sink) = match stdin {
        Stdin::Closed => (host.no_input()?, Sink::None),
        Stdin::Piped => {
            let (reader, writer) = io::pipe()?;
            (reader.into(), Sink::Pipe(AsyncFile::new(writer.into())?.into()))
        }
    };
    let (out_reader, out_writer) = io::pipe()?;
    let (err_reader, err_writer) = io::pipe()?;
    let ours = |reader: io::PipeReader| AsyncFile::new(reader.into()).map(Output::pipe);
    let outputs = Outputs::new(ours(out_reader)?, Some(ours(err_reader)?));
    Ok((Connected { outputs, input: Input::new(sink), terminal: None }, [stdin, out_writer.into(), err_writer.into()]))
}
