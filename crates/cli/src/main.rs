//! The `crannog` command: decodes what was typed into calls of the library, and shows the answers.

#![forbid(unsafe_code)]

mod arguments;
mod attach;
mod commands;
mod failure;
mod input;
mod interruptions;
mod output;
mod player;
#[cfg(test)]
mod reference;
mod usage;

use std::process::ExitCode;

use tokio::runtime::Builder;

use commands::Verb;
use failure::Failure;
use output::Output;

/// Threads for reading files and for stdin, stdout and stderr, each of which may be blocked for good by its other end.
const BLOCKING_THREADS_MAX: usize = 16;

fn main() -> ExitCode {
    let arguments = match usage::parse() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    log_if_asked();
    let output = Output::new(arguments.json, arguments.color);
    let code = run(arguments.verb, output).unwrap_or_else(|failure| {
        output.failure(&failure);
        failure.exit_code()
    });
    ExitCode::from(code)
}

fn run(verb: Verb, output: Output) -> Result<u8, Failure> {
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING_THREADS_MAX).build().map_err(Failure::Setup)?;
    let answer = runtime.block_on(verb.run(output));
    // A thread that waits for a stdin that never ends must not keep us here.
    runtime.shutdown_background();
    answer
}

/// Shows what the library does, for whoever looks for a fault in it: `CRANNOG_LOG=debug`.
fn log_if_asked() {
    if let Ok(filter) = std::env::var("CRANNOG_LOG") {
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
}
