//! Chores of the repository: generated files and the rules that no compiler holds.

#![forbid(unsafe_code)]

mod generate;
mod repository;
mod schema;
mod tidy;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Chores of the repository.")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Writes what is generated from the protocol files.
    Generate {
        /// Compares with what is checked in and writes nothing.
        #[arg(long)]
        check: bool,
    },
    /// Holds the rules of the repository against its files.
    Tidy {
        /// A text that must be nowhere in the repository: the name of a machine's folder or host, say.
        #[arg(long, value_name = "TEXT")]
        forbid: Vec<String>,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().chore {
        Chore::Generate { check: true } => generate::check(&repository::root()),
        Chore::Generate { check: false } => generate::write(&repository::root()),
        Chore::Tidy { forbid } => tidy::check(&repository::root(), &forbid),
    }
}
