//! Signals to a part of a tree: the foreground group, the group a process was started in, or all of it.

use std::collections::HashSet;
use std::io;

use crannog_core::process::Stream;
use crannog_core::signal::{Signal, Target};
use crannog_sys::{process_group, process_tree};

use crate::error::EngineError;
use crate::process::{Leader, Process};

/// Looks at the process table for one signal to a group: the second finds who was born during the first.
const LOOKS: usize = 2;

/// Sends a signal.
pub(crate) fn signal(process: &Process, target: Target, signal: Signal) -> Result<(), EngineError> {
    let leader = match &process.state().leader {
        Leader::Running { pid } => Some(*pid),
        Leader::Reaped => None,
    };
    let failed = |source| EngineError::Signal { process: process.id, source };
    let ended = || EngineError::ProcessEnded { process: process.id, end: process.end() };
    let reached = match (target, leader) {
        (Target::Tree, _) => process.tree.send(signal),
        // What an ended process left in its group may be signalled as a tree; the group's number is nobody's to trust any more.
        (Target::Foreground | Target::Group, None) => return Err(ended()),
        (Target::Group, Some(leader)) => own_group(leader, signal).map_err(failed)?,
        (Target::Foreground, Some(leader)) => {
            let foreground = foreground(process).filter(|foreground| *foreground != leader);
            let reached = foreground.map_or(Ok(0), |foreground| group(leader, foreground, signal)).map_err(failed)?;
            // Without a terminal, and between two jobs of a shell, it is the group that the process was started in.
            if reached > 0 { reached } else { own_group(leader, signal).map_err(failed)? }
        }
    };
    if reached == 0 { Err(ended()) } else { Ok(()) }
}

/// The terminal's foreground group; none without a terminal or before the process took it.
pub(crate) fn foreground(process: &Process) -> Option<u32> {
    let output = process.outputs.get(Stream::Stdout)?;
    output.terminal()?.foreground_group().ok().flatten()
}

/// Signals the group that the leader was started in. It was not reaped, so the number is its own.
fn own_group(leader: u32, signal: Signal) -> io::Result<usize> {
    process_group::signal(leader, signal.number()).map(|()| 1)
}

/// Signals a group of the leader's session. The leader was not reaped, so the session's number is its own.
fn group(leader: u32, group: u32, signal: Signal) -> io::Result<usize> {
    let mut reached = HashSet::new();
    for _ in 0..LOOKS {
        let table = process_tree::snapshot()?;
        for member in table.iter().filter(|member| member.group == group && member.session == leader && member.is_alive()) {
            if !reached.contains(&member.identity()) && member.identity().signal(signal.number())? {
                reached.insert(member.identity());
            }
        }
    }
    Ok(reached.len())
}
