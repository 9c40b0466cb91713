//! Sandboxes in which AI agents work.
//!
//! A [`Host`] says where sandboxes are kept. A [`Sandbox`] is a workspace with a guest that runs its processes; it stays when this
//! program ends and is found again by id or name. Every process has a transcript with absolute byte offsets: reading never consumes, any
//! number of readers keep their own cursor, and what could not be kept is stated in exact bytes.
//!
//! ```
//! use std::time::Duration;
//! use crannog::{Command, Host, Sandbox, SandboxOptions, TerminalSize, Until, Wait};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! let host = Host::at(home.path())?; // `Host::from_environment()` in a program
//! let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
//!
//! // A command from start to end.
//! let output = sandbox.exec(Command::shell("echo $((6 * 7))")).await?;
//! assert_eq!(output.stdout, b"42\n");
//!
//! // A shell to talk with, until it waits for input.
//! let wait = || Wait::at_most(Duration::from_secs(10)).until(Until::Input).budget(1_000);
//! let shell = sandbox.start_and_collect(Command::argv(["sh"]).terminal(TerminalSize::default()), wait()).await?;
//! assert!(shell.waiting_for_input);
//! let answer = sandbox.write_and_collect(shell.process, "pwd\n", wait()).await?;
//! assert!(answer.text.contains(sandbox.workspace().to_str().unwrap()));
//!
//! sandbox.destroy().await?;
//! # Ok(())
//! # }
//! ```
//!
//! All futures are cancel-safe unless their documentation says otherwise; they need a tokio runtime with I/O and time enabled.

#![forbid(unsafe_code)]

mod command;
pub mod compat;
mod create;
mod error;
mod exec;
mod follow;
mod hint;
mod host;
mod ids;
mod info;
mod options;
mod probing;
mod processes;
mod reap;
mod record;
mod reference;
mod sandbox;
mod screen;
mod wait;

pub use crannog_core::collect::{Collect, Reason, Until};
pub use crannog_core::end::End;
pub use crannog_core::error::{ErrorCode, Operation};
pub use crannog_core::id::{ProcessId, SandboxId};
pub use crannog_core::limits;
pub use crannog_core::process::{
    Connection, ProcessInfo, Program, ResourceLimits, StartSpec, Stdin, Stream, TerminalSize, Update, Written,
};
pub use crannog_core::screen::{Cursor, RecordingState, Screen, ScreenRequest, ScreenRow};
pub use crannog_core::signal::{Signal, Target};
pub use crannog_core::transcript::{Ended, FollowEvent, Killed, Part, TranscriptPart, Usage};

pub use command::Command;
pub use error::Error;
pub use exec::ExecOutput;
pub use follow::Follow;
pub use host::Host;
pub use info::{SandboxInfo, SandboxState};
pub use options::SandboxOptions;
pub use processes::{Input, WRITE_PATIENCE_DEFAULT};
pub use reap::Reaped;
pub use reference::ID_PREFIX_CHARACTERS_MIN;
pub use sandbox::Sandbox;
pub use screen::Recording;
pub use wait::Wait;
