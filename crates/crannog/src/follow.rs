//! Output as it comes.

use crannog_backends::{Events, RunSpec};
use crannog_core::error::Operation;
use crannog_core::id::ProcessId;
use crannog_core::process::StartSpec;
use crannog_core::transcript::FollowEvent;

use crate::error::Error;
use crate::sandbox::Sandbox;

/// A running follow. Dropping it stops following.
#[derive(Debug)]
pub struct Follow {
    sandbox: Sandbox,
    operation: Operation,
    events: Events,
}

impl Follow {
    /// The next event; `None` after [`FollowEvent::Ended`]. Waits as long as it takes. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<FollowEvent>, Error> {
        let event = self.events.next().await;
        self.sandbox.settle(self.operation, event).await
    }
}

impl Sandbox {
    /// Streams a process's transcript from an absolute offset until the process has ended and everything was sent. The first event is
    /// [`FollowEvent::Started`].
    ///
    /// With `hold` the process is slowed rather than that output is lost while this reader lags by more than
    /// [`FOLLOW_LAG_BYTES_MAX`](crannog_core::limits::FOLLOW_LAG_BYTES_MAX). A follow that broke off is taken up again at the end of the
    /// last part that arrived.
    pub async fn follow(&self, process: ProcessId, from: u64, hold: bool) -> Result<Follow, Error> {
        let operation = Operation::ReadTranscript;
        let answer = self.guest().follow(process, from, hold).await;
        let events = self.settle(operation, answer).await?;
        Ok(Follow { sandbox: self.clone(), operation, events })
    }

    /// Follows a process's transcript to show it on a terminal of the caller's. While this lasts, that terminal answers what programs ask
    /// of theirs (where the cursor is, which colours there are), and what it answers is to be written to the process. Otherwise the guest
    /// answers.
    pub async fn attach(&self, process: ProcessId, from: u64) -> Result<Follow, Error> {
        let operation = Operation::ReadTranscript;
        let answer = self.guest().attach(process, from).await;
        let events = self.settle(operation, answer).await?;
        Ok(Follow { sandbox: self.clone(), operation, events })
    }

    /// Starts a process and streams its output. It is slowed to the reader's pace, so nothing is lost. Dropping the stream before the end
    /// ends the process and everything that it started.
    ///
    /// ```
    /// # use crannog::{Command, FollowEvent, Host, Sandbox, SandboxOptions};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let host = Host::at(home.path())?;
    /// # let sandbox = Sandbox::create(&host, SandboxOptions::new()).await?;
    /// let mut run = sandbox.run(Command::shell("seq 3")).await?;
    /// let mut printed = Vec::new();
    /// while let Some(event) = run.next().await? {
    ///     if let FollowEvent::Output(part) = event {
    ///         printed.extend(part.bytes);
    ///     }
    /// }
    /// assert_eq!(printed, b"1\n2\n3\n");
    /// # sandbox.destroy().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run(&self, spec: impl Into<StartSpec>) -> Result<Follow, Error> {
        let mut spec = spec.into();
        spec.hold_for_follower = true;
        let answer = self.guest().run(RunSpec { spec, gather_bytes_max: None, end_with_caller: true }).await;
        let events = self.settle(Operation::Exec, answer).await?;
        Ok(Follow { sandbox: self.clone(), operation: Operation::Exec, events })
    }
}
