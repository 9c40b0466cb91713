//! The surface that clients of the openai-agents sandbox layer know, on top of the native calls.
//!
//! A [`CompatSession`] answers as that layer's local session does: the same windows, ids, exit codes (`-n` for signal n), texts and error
//! classes. Some of what that layer does is a defect; here is what a caller sees instead:
//!
//! - The working directory is the process's own and no text is put in front of a command, so `a & b` runs both in the workspace, an empty
//!   text is no syntax error, and absolute paths stay as they are.
//! - Each stream is decoded by itself: a character of stdout survives stderr output between its bytes.
//! - Writing never blocks anybody else. A program that does not read gets what it takes until the patience is over; the rest is not written,
//!   and [`PtyExecUpdate::written`] says how much was, and whether a terminal line was too long.
//! - Sessions cost no threads, so the limit of 64 can be reached and one-shot commands go on beside them.
//! - Output nobody reads is bounded, with an exact count of what had to go ([`PtyExecUpdate::lost_bytes`]).
//! - A command is over when it ends itself, not when the last background child has let go of its output.
//! - A timeout, a dropped call, an eviction and the end of the session reach the whole tree, also children in sessions of their own, and
//!   nobody else who happens to look alike.
//! - A session that somebody waits on is not evicted, concurrent polls of one session take turns, and a dropped poll loses nothing. An
//!   evicted session's transcript can still be read through [`CompatSession::sandbox`], and the error of a later call says so in its context.
//!
//! ```
//! # use crannog::{Host, Sandbox, SandboxOptions};
//! use crannog::compat::{CompatSession, PtyStart};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! # let host = Host::at(home.path())?;
//! # let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
//! let session = CompatSession::new(sandbox.clone());
//! let cat = session.pty_exec_start(&PtyStart { tty: true, yield_time_s: Some(0.25), ..PtyStart::shell("cat") }).await?;
//! let id = i64::from(cat.process_id.expect("cat waits for input"));
//! let end = session.pty_write_stdin(id, "hi\n\u{4}", Some(5.0), None).await?;
//! assert_eq!((end.output, end.exit_code), (b"hi\r\nhi\r\n".to_vec(), Some(0)));
//! # sandbox.destroy().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Users are those of the system, switched to without `sudo`. The `timeout` that the layer's interactive start takes and ignores is left out.

mod error;
mod registry;
mod session;
mod terminals;

pub use crannog_core::compat::command::{Shell, tool_shell};
pub use crannog_core::compat::error_table::{ErrorClass, Record, Value};

pub use error::CompatError;
pub use session::{CompatSession, ExecResult};
pub use terminals::{PtyExecUpdate, PtyStart};
