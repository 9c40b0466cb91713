//! The daemon inside each sandbox, and the way to it from where only a command can be run.
//!
//! `serve` owns the sandbox's processes and answers the guest protocol on a socket that whoever starts it has made. `connect` copies its
//! standard input and output to that socket, so that a guest can be reached through anything that runs a command.

#![forbid(unsafe_code)]

mod arguments;
mod connect;
mod failure;
mod lease;
mod log;
mod run;
mod serve;
mod service;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use arguments::Role;

fn main() -> ExitCode {
    let role = match arguments::parse(std::env::args_os().skip(1)) {
        Ok(role) => role,
        Err(error) => return fail(&error, ExitCode::from(2)),
    };
    let done = match role {
        Role::Serve { listen_fd, config_fd } => serve::serve(listen_fd, config_fd).map_err(|error| Box::new(error) as Box<dyn Error>),
        Role::Connect { socket } => connect::connect(&socket).map_err(|error| Box::new(error) as Box<dyn Error>),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&*error, ExitCode::FAILURE),
    }
}

/// Tells an error with its causes on standard error.
fn fail(error: &dyn Error, code: ExitCode) -> ExitCode {
    let mut text = format!("crannog-guest: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    // With standard error gone there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "{text}");
    code
}
