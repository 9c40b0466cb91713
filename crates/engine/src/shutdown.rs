//! Closing the sandbox: hang up, ask, kill, until nothing that was started here is left.

use std::sync::Arc;
use std::time::Duration;

use crannog_core::limits;
use crannog_core::process::Stream;
use crannog_core::signal::Signal;
use crannog_sys::process_tree;
use tokio::time::Instant;

use crate::engine::Engine;
use crate::environment::TAG_SANDBOX;
use crate::process::{Cause, Process};

/// How long hang-ups may be acted on before TERM follows, at most half of the grace. A handler for them is a shell's last word to its jobs,
/// and TERM on its heels would cut it off.
const HANG_UP_GRACE_MAX: Duration = Duration::from_millis(500);
/// How long the report of one end may take after everything was killed.
const REPORT_MAX: Duration = Duration::from_millis(500);
/// Pause between two looks at what is left.
const PAUSE: Duration = Duration::from_millis(5);

pub(crate) async fn run(engine: &Engine, grace: Duration) -> u32 {
    engine.0.table().close();
    engine.reap();
    let grace = grace.min(limits::KILL_GRACE_MAX);
    let trees: Vec<_> = engine.0.table().all().into_iter().filter(|process| process.tree.is_alive()).collect();
    for process in &trees {
        let mut state = process.state();
        if state.is_leader_running() {
            state.cause.get_or_insert(Cause::Killed);
        }
    }
    let deadline = Instant::now() + grace;
    if hang_up(&trees) > 0 {
        until_gone(engine, &trees, Instant::now() + HANG_UP_GRACE_MAX.min(grace / 2)).await;
    }
    if !grace.is_zero() {
        for process in &trees {
            process.tree.signal(Signal::TERM);
        }
        until_gone(engine, &trees, deadline).await;
    }
    for _ in 0..limits::KILL_SWEEPS_MAX {
        if is_gone(engine, &trees) && kill_tagged(engine) == 0 {
            break;
        }
        trees.iter().filter(|process| process.tree.is_alive()).for_each(|process| process.tree.kill());
        tokio::time::sleep(PAUSE).await;
    }
    for process in &trees {
        process.input.shut();
        engine.release_if_gone(&process.tree);
        // Whoever waits for it gets the answer; a process that the kernel can't end is not waited for.
        let _ = tokio::time::timeout(REPORT_MAX, process.until_ended()).await;
    }
    engine.0.host.release();
    u32::try_from(trees.len()).unwrap_or(u32::MAX)
}

/// Closes our side of every terminal, which makes the kernel send HUP to its session. Answers how many there were.
fn hang_up(processes: &[Arc<Process>]) -> usize {
    let terminals = processes.iter().filter(|process| process.state().terminal.is_some());
    terminals.map(|process| process.outputs.close(Stream::Stdout)).count()
}

async fn until_gone(engine: &Engine, trees: &[Arc<Process>], deadline: Instant) {
    while !is_gone(engine, trees) && Instant::now() < deadline {
        tokio::time::sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now()))).await;
    }
}

fn is_gone(engine: &Engine, trees: &[Arc<Process>]) -> bool {
    trees.iter().all(|process| engine.is_gone(&process.tree))
}

/// Kills whoever carries the sandbox's tag: a member that has left its tree, or one of a process that was forgotten.
fn kill_tagged(engine: &Engine) -> usize {
    let tag = format!("{TAG_SANDBOX}={}", engine.0.config.sandbox);
    let Ok(table) = process_tree::snapshot() else { return 0 };
    let tagged = process_tree::tagged(&table, tag.as_bytes());
    tagged.iter().filter(|member| member.signal(Signal::KILL.number()).unwrap_or(false)).count()
}
