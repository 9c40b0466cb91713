//! Chores of the repository: generated files and the rules that no compiler holds.

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
    Tidy,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().chore {
        Chore::Generate { check: true } => generate::check(&repository::root()),
        Chore::Generate { check: false } => generate::write(&repository::root()),
        Chore::Tidy => tidy::check(&repository::root()),
    }
}
