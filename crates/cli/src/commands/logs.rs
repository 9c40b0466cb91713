//! `logs`: what a process has printed.

use clap::{Args, ValueEnum};
use crannog::{Ended, FollowEvent, Part, ProcessId, Sandbox, Stream, limits};

use super::ProcessArguments;
use crate::failure::Failure;
use crate::interruptions::Interruptions;
use crate::output::Output;
use crate::output::transcript::Printer;

/// Show what a process has printed
#[derive(Debug, Args)]
pub(crate) struct Logs {
    #[command(flatten)]
    process: ProcessArguments,

    /// Print the bytes as they are. Otherwise what is not UTF-8 becomes U+FFFD, and sequences that act on a terminal are left out.
    #[arg(long)]
    raw: bool,

    /// Begin at this offset.
    #[arg(long, value_name = "OFFSET", default_value_t = 0)]
    from: u64,

    /// Only this stream; a terminal has only stdout.
    #[arg(long, value_name = "STREAM")]
    stream: Option<StreamName>,

    /// Go on with what is printed from now on, until the process has ended.
    #[arg(long, short = 'f')]
    follow: bool,
}

/// A stream as it is typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum StreamName {
    Stdout,
    Stderr,
}

impl Logs {
    pub(crate) async fn run(self, output: Output) -> Result<(), Failure> {
        let stream = self.stream.map(|name| match name {
            StreamName::Stdout => Stream::Stdout,
            StreamName::Stderr => Stream::Stderr,
        });
        let process = self.process.process();
        let sandbox = self.process.open().await?;
        let mut printer = Printer::new(output, self.raw);
        if self.follow {
            follow(&sandbox, process, self.from, stream, &mut printer).await
        } else {
            read(&sandbox, process, self.from, stream, &mut printer).await
        }
    }
}

/// Prints what is there now.
async fn read(sandbox: &Sandbox, process: ProcessId, from: u64, stream: Option<Stream>, printer: &mut Printer) -> Result<(), Failure> {
    let mut next = from;
    let mut until = None;
    loop {
        let piece = sandbox.read(process, next, limits::READ_REPLY_BYTES_MAX, stream).await?;
        // What is printed meanwhile is for the next time; a flood would never be caught up with.
        let until = *until.get_or_insert(piece.total);
        printer.lost(piece.lost_bytes)?;
        for part in &piece.parts {
            printer.part(part)?;
        }
        if piece.next >= until || piece.next == next {
            return printer.finish(piece.next, piece.end.as_ref());
        }
        next = piece.next;
    }
}

/// Prints what is there and what comes, until the process has ended or we are asked to stop.
async fn follow(sandbox: &Sandbox, process: ProcessId, from: u64, stream: Option<Stream>, printer: &mut Printer) -> Result<(), Failure> {
    let mut interruptions = Interruptions::catch()?;
    let mut events = sandbox.follow(process, from, false).await?;
    let mut next = from;
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            _ = interruptions.next() => return printer.finish(next, None),
        };
        match event?.ok_or(Failure::EndMissing)? {
            FollowEvent::Started(_) => {}
            FollowEvent::Lost(bytes) => {
                next += bytes;
                printer.lost(bytes)?;
            }
            FollowEvent::Output(part) => {
                next = end_of(&part);
                if stream.is_none_or(|wanted| wanted == part.stream) {
                    printer.part(&part)?;
                }
            }
            FollowEvent::Ended(Ended { end, .. }) => return printer.finish(next, Some(&end)),
        }
    }
}

fn end_of(part: &Part) -> u64 {
    part.offset + part.bytes.len() as u64
}
