//! `replay`: plays a recording.

use std::ffi::OsString;
use std::io::{self, BufReader, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::one_shot;
use crate::arguments::values;
use crate::failure::Failure;
use crate::interruptions::Interruptions;
use crate::output::Output;
use crate::player::{Pace, Player};

/// Play a recording to this terminal
///
/// What a recording asks of a terminal or puts into its clipboard is left out. Ctrl-C ends it.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The recording: a file in the format asciicast v3, or - for stdin.
    #[arg(value_name = "FILE")]
    file: OsString,

    /// Play this many times as fast.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    speed: f64,

    /// Cut every pause to this long; a plain number is seconds.
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    idle_limit: Option<Duration>,

    /// Print the text alone, at once. This is done, too, when stdout is no terminal.
    #[arg(long)]
    text: bool,
}

impl Replay {
    pub(crate) async fn run(self, _output: Output) -> Result<u8, Failure> {
        let path = PathBuf::from(&self.file);
        let unreadable = |source| Failure::ReadInput { path: path.clone(), source };
        let input: Box<dyn io::BufRead> = if self.file == "-" {
            Box::new(BufReader::new(io::stdin()))
        } else {
            Box::new(BufReader::new(std::fs::File::open(&path).map_err(unreadable)?))
        };
        let player = Player::open(input, path)?;
        if self.text || !io::stdout().is_terminal() {
            return player.print().map(|()| 0);
        }
        let mut interruptions = Interruptions::catch()?;
        let pace = Pace { speed: self.speed, idle_limit: self.idle_limit };
        tokio::select! {
            result = player.play(pace) => result.map(|()| 0),
            signal = interruptions.next() => Ok(one_shot::code_of(signal)),
        }
    }
}

fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite() && (0.01..=1_000.0).contains(factor));
    factor.ok_or_else(|| "expected a number from 0.01 to 1000".to_owned())
}
