//! Plays a recording (asciicast v3): to a terminal at its own pace, or its text alone.
//!
//! A recording may come from anywhere. What it would ask of this terminal is left out, since the terminal would type its answer into the
//! shell; so is what it would put into the clipboard. The terminal is put back in order at the end, however that comes.

use std::io::BufRead;
use std::path::PathBuf;
use std::time::Duration;

use crannog_core::escape::{Kind, Piece, Scanner};
use serde_json::Value;

use crate::attach::screen_modes::ScreenModes;
use crate::failure::Failure;
use crate::output::data;

/// One line: the largest event that crannog records, and ample room for others.
const LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Longest pause between two events; a recording that claims more is not waited for.
const PAUSE_MAX: Duration = Duration::from_hours(24);

/// How fast.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Times as fast as it was recorded.
    pub(crate) speed: f64,
    /// Longest pause.
    pub(crate) idle_limit: Option<Duration>,
}

impl Pace {
    fn pause(self, interval: Duration) -> Duration {
        interval.min(PAUSE_MAX).div_f64(self.speed).min(self.idle_limit.unwrap_or(PAUSE_MAX))
    }
}

/// A recording that is read as it is played.
pub(crate) struct Player {
    input: Box<dyn BufRead>,
    path: PathBuf,
    lines: usize,
}

/// One event that shows something.
#[derive(Debug, PartialEq)]
struct Event {
    interval: Duration,
    text: String,
}

impl Player {
    /// Reads the header.
    pub(crate) fn open(input: Box<dyn BufRead>, path: PathBuf) -> Result<Self, Failure> {
        let mut player = Self { input, path, lines: 0 };
        let header = player.line()?.and_then(|line| serde_json::from_str::<Value>(&line).ok());
        if header.is_none_or(|header| header["version"] != 3) {
            return Err(player.refused());
        }
        Ok(player)
    }

    /// Plays it to the terminal on stdout. Cancel-safe: the terminal is put back in order.
    pub(crate) async fn play(mut self, pace: Pace) -> Result<(), Failure> {
        let mut terminal = Terminal::default();
        while let Some(event) = self.event()? {
            let pause = pace.pause(event.interval);
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            data(terminal.0.pass(&event.text).as_bytes())?;
        }
        Ok(())
    }

    /// Prints the text alone.
    pub(crate) fn print(mut self) -> Result<(), Failure> {
        let mut scanner = Scanner::new();
        while let Some(event) = self.event()? {
            let mut text = String::with_capacity(event.text.len());
            scanner.strip(&event.text, &mut text);
            data(text.as_bytes())?;
        }
        Ok(())
    }

    /// The next event that has a time; only output has a text. `None` at the end.
    fn event(&mut self) -> Result<Option<Event>, Failure> {
        let Some(line) = self.line()? else { return Ok(None) };
        // Comments are allowed in v3.
        if line.starts_with('#') || line.trim().is_empty() {
            return Ok(Some(Event { interval: Duration::ZERO, text: String::new() }));
        }
        parse(&line).map(Some).ok_or_else(|| self.refused())
    }

    fn line(&mut self) -> Result<Option<String>, Failure> {
        let mut bytes = Vec::new();
        let read = std::io::Read::take(&mut self.input, LINE_BYTES_MAX).read_until(b'\n', &mut bytes);
        let count = read.map_err(|source| Failure::ReadInput { path: self.path.clone(), source })?;
        self.lines += 1;
        // A line that is too long is cut, and then is no JSON.
        Ok((count > 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn refused(&self) -> Failure {
        Failure::NotARecording { path: self.path.clone(), line: self.lines }
    }
}

fn parse(line: &str) -> Option<Event> {
    let (interval, kind, text): (f64, String, String) = serde_json::from_str(line).ok()?;
    let interval = Duration::try_from_secs_f64(interval).ok()?;
    Some(Event { interval, text: if kind == "o" { text } else { String::new() } })
}

/// The terminal that is played to, which is put back in order when this is dropped.
#[derive(Default)]
struct Terminal(Filter);

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that has gone needs no tidying.
        let _ = data(&self.0.modes.restore());
    }
}

/// Takes out what must not reach a terminal, and watches what the rest sets there.
#[derive(Default)]
struct Filter {
    scanner: Scanner,
    modes: ScreenModes,
}

impl Filter {
    fn pass(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        self.scanner.scan(text, |piece| match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Sequence { kind, body } if is_shown(kind, body) => {
                let body = String::from_utf8_lossy(body);
                match kind {
                    Kind::Csi => out.extend(["\x1b[", &body]),
                    Kind::Osc => out.extend(["\x1b]", &body, "\x1b\\"]),
                    _ => out.extend(["\x1b", &body]),
                }
            }
            Piece::Sequence { .. } => {}
        });
        self.modes.feed(out.as_bytes());
        out
    }
}

/// Questions, answers into the clipboard, and strings that only devices understand are not for this terminal.
fn is_shown(kind: Kind, body: &[u8]) -> bool {
    match kind {
        Kind::Csi => !matches!(body, [.., b'n' | b'c' | b't' | b'x'] | [b'>', .., b'q'] | [b'?', b'u'] | [.., b'$', b'p']),
        // Titles and links.
        Kind::Osc => [&b"0;"[..], b"1;", b"2;", b"8;"].iter().any(|allowed| body.starts_with(allowed)),
        Kind::Dcs | Kind::Ignored => false,
        // DECID asks, too.
        Kind::Short => body != b"Z",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::PathBuf;
    use std::time::Duration;

    use super::{Event, Filter, Pace, Player, parse};
    use crate::failure::Failure;

    const HEADER: &str = "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24}}\n";

    fn player(text: &str) -> Result<Player, Failure> {
        Player::open(Box::new(std::io::Cursor::new(text.to_owned())), PathBuf::from("x.cast"))
    }

    #[test]
    fn events_are_read_in_order_and_only_output_shows() {
        let mut player =
            player(&format!("{HEADER}# a comment\n[0.5, \"o\", \"a\\u001b[1m\"]\n[1, \"i\", \"typed\"]\n[0.1, \"x\", \"0\"]\n")).unwrap();
        let mut events = Vec::new();
        while let Some(event) = player.event().unwrap() {
            events.push((event.interval.as_millis(), event.text));
        }
        assert_eq!(events, [(0, String::new()), (500, "a\x1b[1m".to_owned()), (1_000, String::new()), (100, String::new())]);
    }

    #[test]
    fn what_is_no_recording_is_refused_by_its_line() {
        assert!(matches!(player("{\"version\":2}\n"), Err(Failure::NotARecording { line: 1, .. })));
        assert!(matches!(player(""), Err(Failure::NotARecording { .. })));
        let mut broken = player(&format!("{HEADER}[0.5, \"o\"\n")).unwrap();
        assert!(matches!(broken.event(), Err(Failure::NotARecording { line: 2, .. })));
        assert_eq!(parse("[-1, \"o\", \"x\"]"), None);
        assert_eq!(parse("[1e300, \"o\", \"x\"]"), None);
        assert_eq!(parse("[0, \"o\", \"x\"]"), Some(Event { interval: Duration::ZERO, text: "x".to_owned() }));
    }

    #[test]
    fn questions_and_the_clipboard_do_not_reach_the_terminal() {
        let mut filter = Filter::default();
        let text = "a\x1b[6nb\x1b[cc\x1b]11;?\x07d\x1b]52;c;aGk=\x07e\x1bP$qm\x1b\\f\x1b]2;title\x07g\x1b[1;31mh\x1b[?2026$pi\x1b(B";
        assert_eq!(filter.pass(text), "abcdef\x1b]2;title\x1b\\g\x1b[1;31mhi\x1b(B");
        assert_eq!(filter.pass("x\x1b[6"), "x");
        assert_eq!(filter.pass("ny"), "y");
    }

    #[test]
    fn pauses_are_shortened() {
        let pace = Pace { speed: 2.0, idle_limit: Some(Duration::from_secs(1)) };
        assert_eq!(pace.pause(Duration::from_secs(1)), Duration::from_millis(500));
        assert_eq!(pace.pause(Duration::from_secs(9)), Duration::from_secs(1));
    }
}
