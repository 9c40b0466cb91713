//! The reference at the same work: a Python process for each case, asked for one sample at a time so that it takes turns with crannog.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// How the reference is called in reports.
pub(crate) const NAME: &str = "openai-agents 0.24";

/// Where the reference is.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) python: PathBuf,
    pub(crate) script: PathBuf,
}

/// One case of the reference, ready.
#[derive(Debug)]
pub(crate) struct Session {
    case: String,
    child: Child,
    /// Closed first, which ends the case.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Reference {
    /// Starts a case and waits until it is ready.
    pub(crate) fn start(&self, case: &str, arguments: &[String]) -> Result<Session> {
        let mut command = Command::new(&self.python);
        command.arg(&self.script).arg(case).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("start {}", self.python.display()))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stdout = BufReader::new(stdout.context("the reference has no output")?);
        let mut session = Session { case: case.to_owned(), child, stdin, stdout };
        session.answer()?;
        Ok(session)
    }
}

impl Session {
    /// Does the work once. Blocks this thread: nothing else is to run meanwhile.
    pub(crate) fn sample(&mut self) -> Result<Value> {
        let stdin = self.stdin.as_mut().context("the reference has ended")?;
        stdin.write_all(b"\n").context("ask the reference")?;
        self.answer()
    }

    /// One figure of a sample.
    pub(crate) fn figure(&mut self, name: &str) -> Result<f64> {
        figure(&self.sample()?, name)
    }

    fn answer(&mut self) -> Result<Value> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line).context("read from the reference")? == 0 {
            let status = self.child.wait().context("wait for the reference")?;
            bail!("the reference ended in the case {} ({status}); its message is above", self.case);
        }
        serde_json::from_str(&line).with_context(|| format!("the reference answered {line:?}"))
    }
}

/// A number in an answer.
pub(crate) fn figure(sample: &Value, name: &str) -> Result<f64> {
    sample[name].as_f64().with_context(|| format!("the reference's answer has no {name}: {sample}"))
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
