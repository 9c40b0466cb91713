//! The verbs, a file for each, and how one is chosen.

mod attach;
mod close_stdin;
mod collect;
mod completions;
mod doctor;
mod down;
mod exec;
mod info;
mod kill;
mod logs;
mod ls;
mod man;
mod one_shot;
mod ps;
mod reap;
mod recording;
mod renew;
mod replay;
mod resize;
mod run;
mod screen;
mod start;
mod up;
mod write;

use clap::{Args, Subcommand};
use crannog::{Host, ProcessId, Sandbox, Update};

use crate::failure::Failure;
use crate::output::json::UpdateDocument;
use crate::output::words;
use crate::output::{self, Output};

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Up(up::Up),
    Ls(ls::Ls),
    Info(info::Info),
    Renew(renew::Renew),
    Down(down::Down),
    Reap(reap::Reap),
    Run(run::Run),
    Exec(exec::Exec),
    Start(start::Start),
    Write(write::Write),
    Collect(collect::Collect),
    Ps(ps::Ps),
    Logs(logs::Logs),
    Attach(attach::Attach),
    Screen(screen::Screen),
    Recording(recording::Recording),
    Replay(replay::Replay),
    Resize(resize::Resize),
    CloseStdin(close_stdin::CloseStdin),
    Kill(kill::Kill),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Verb {
    /// Does it. The answer is the exit code.
    pub(crate) async fn run(self, output: Output) -> Result<u8, Failure> {
        match self {
            Self::Up(verb) => verb.run(output).await?,
            Self::Ls(verb) => verb.run(output).await?,
            Self::Info(verb) => verb.run(output).await?,
            Self::Renew(verb) => verb.run(output).await?,
            Self::Down(verb) => verb.run(output).await?,
            Self::Reap(verb) => verb.run(output).await?,
            Self::Run(verb) => return verb.run(output).await,
            Self::Exec(verb) => return verb.run(output).await,
            Self::Start(verb) => verb.run(output).await?,
            Self::Write(verb) => verb.run(output).await?,
            Self::Collect(verb) => verb.run(output).await?,
            Self::Ps(verb) => verb.run(output).await?,
            Self::Logs(verb) => verb.run(output).await?,
            Self::Attach(verb) => return verb.run(output).await,
            Self::Screen(verb) => verb.run(output).await?,
            Self::Recording(verb) => verb.run(output).await?,
            Self::Replay(verb) => return verb.run(output).await,
            Self::Resize(verb) => verb.run(output).await?,
            Self::CloseStdin(verb) => verb.run(output).await?,
            Self::Kill(verb) => verb.run(output).await?,
            Self::Doctor(verb) => verb.run(output).await?,
            Self::Completions(verb) => verb.run()?,
            Self::Man(verb) => verb.run()?,
        }
        Ok(0)
    }
}

/// Which sandbox.
#[derive(Debug, Args)]
pub(crate) struct SandboxArgument {
    /// The sandbox: its id, the beginning of it, or its name.
    #[arg(value_name = "ID")]
    sandbox: String,
}

impl SandboxArgument {
    pub(crate) async fn open(&self) -> Result<Sandbox, Failure> {
        Ok(Sandbox::open(&Host::from_environment()?, &self.sandbox).await?)
    }
}

/// Which process of which sandbox.
#[derive(Debug, Args)]
pub(crate) struct ProcessArguments {
    #[command(flatten)]
    sandbox: SandboxArgument,

    /// The process, by the number that `start` answered.
    #[arg(value_name = "PROCESS")]
    process: u32,
}

impl ProcessArguments {
    pub(crate) fn process(&self) -> ProcessId {
        ProcessId(self.process)
    }

    pub(crate) async fn open(&self) -> Result<Sandbox, Failure> {
        self.sandbox.open().await
    }
}

/// Shows the answer to a start, a write or a collect: the output on stdout, how the process stands on stderr.
fn show_update(output: Output, update: Update) -> Result<(), Failure> {
    if output.is_json() {
        return output::document(&UpdateDocument::of(update));
    }
    output::data(&update.raw)?;
    output.note_on(&update.raw, &standing(&update));
    Ok(())
}

fn standing(update: &Update) -> String {
    let mut facts = vec![match &update.end {
        Some(end) => format!("process {} {}", update.process, words::end(end)),
        None => format!("process {} runs", update.process),
    }];
    if update.waiting_for_input {
        facts.push("it waits for input".to_owned());
    }
    if update.echo == Some(false) {
        facts.push("its terminal does not echo".to_owned());
    }
    if update.end.is_some() && update.descendants_alive {
        facts.push("processes it started still run".to_owned());
    }
    if update.omitted_bytes > 0 {
        facts.push(format!("{} left out", words::bytes(update.omitted_bytes)));
    }
    if update.lost_bytes > 0 {
        facts.push(format!("{} of them no longer kept", words::bytes(update.lost_bytes)));
    }
    facts.push(format!("cursor {}", update.cursor));
    format!("[{}]", facts.join("; "))
}
