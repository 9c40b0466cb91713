//! Measures crannog through its public library, in turn with the reference and with a bare reader in C, and says which targets are met.
//!
//! `./bench` builds what is measured and starts this. A missed target is told, not an error: the figures depend on what else the machine does.

#![forbid(unsafe_code)]

mod arguments;
mod bare_reader;
mod bench;
mod cases;
mod machine;
mod meter;
mod reference;
mod report;
mod statistics;

use anyhow::Result;
use clap::Parser as _;

use arguments::Arguments;
use bench::Bench;
use machine::Machine;
use report::Report;

// Clients of one sandbox need no second thread, and with two processors the guest has the other one.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let bench = Bench::new(&arguments)?;
    let mut report = Report::new(Machine::look(), arguments.json);
    for case in arguments.cases() {
        report::announce(case.name())?;
        let rows = case.run(&bench).await?;
        report.add(rows)?;
    }
    report.end(&Machine::look())
}
