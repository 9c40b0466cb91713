//! Short ways to say what a case runs and how it waits.

use std::ffi::OsStr;
use std::time::Duration;

use crannog::{Collect, Command, StartSpec, TerminalSize, Until};

/// A process to start, and the first wait for its output.
#[derive(Debug, Clone)]
#[must_use]
pub struct Run {
    command: Command,
    wait: Wait,
}

impl Run {
    /// `bash -c TEXT`.
    pub fn bash(text: impl AsRef<OsStr>) -> Self {
        Self::argv([OsStr::new("bash"), OsStr::new("-c"), text.as_ref()])
    }

    /// `python3 -c TEXT`.
    pub fn python(text: impl AsRef<OsStr>) -> Self {
        Self::argv([OsStr::new("python3"), OsStr::new("-c"), text.as_ref()])
    }

    /// Text for the sandbox's own shell.
    pub fn shell(text: impl AsRef<OsStr>) -> Self {
        Self { command: Command::shell(text), wait: Wait::ms(10_000) }
    }

    /// An argument vector.
    pub fn argv<Item: AsRef<OsStr>>(arguments: impl IntoIterator<Item = Item>) -> Self {
        Self { command: Command::argv(arguments), wait: Wait::ms(10_000) }
    }

    /// Words of an argument vector, separated by spaces.
    pub fn words(text: &str) -> Self {
        Self::argv(text.split_whitespace())
    }

    /// On a terminal of the default size.
    pub fn terminal(self) -> Self {
        self.sized(24, 80)
    }

    /// On a terminal when `yes`.
    pub fn terminal_if(self, yes: bool) -> Self {
        if yes { self.terminal() } else { self }
    }

    /// On a terminal of this size.
    pub fn sized(mut self, rows: u16, columns: u16) -> Self {
        self.command = self.command.terminal(TerminalSize { rows, columns });
        self
    }

    /// With pipes and an input that can be written.
    pub fn piped(mut self) -> Self {
        self.command = self.command.stdin_piped();
        self
    }

    /// With pipes and an input unless `terminal`, which has one anyway.
    pub fn piped_unless(self, terminal: bool) -> Self {
        if terminal { self } else { self.piped() }
    }

    /// With one more variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command = self.command.env(name, value);
        self
    }

    /// In this directory.
    pub fn cwd(mut self, path: impl AsRef<OsStr>) -> Self {
        self.command = self.command.cwd(path);
        self
    }

    /// As this user.
    pub fn user(mut self, user: &str) -> Self {
        self.command = self.command.user(user);
        self
    }

    /// Ended after this time.
    pub fn timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.command = self.command.timeout(Duration::from_millis(timeout_ms));
        self
    }

    /// With a request id.
    pub fn request_id(mut self, id: &str) -> Self {
        self.command = self.command.request_id(id);
        self
    }

    /// The first window.
    pub fn window(mut self, window_ms: u64) -> Self {
        self.wait.0.window = Duration::from_millis(window_ms);
        self
    }

    /// The first window ends when this holds.
    pub fn until(mut self, until: Until) -> Self {
        self.wait = self.wait.until(until);
        self
    }

    /// The first window ends when this text has been printed.
    pub fn until_text(self, text: &str) -> Self {
        self.until(Until::Text(text.to_owned()))
    }

    /// The first answer's budget in tokens.
    pub fn budget(mut self, tokens: u64) -> Self {
        self.wait = self.wait.budget(tokens);
        self
    }

    /// What to start.
    pub fn spec(&self) -> StartSpec {
        self.command.clone().into()
    }

    /// How to wait.
    pub fn collect(&self) -> Collect {
        self.wait.0.clone()
    }

    /// What is to be started, for a call that takes no window.
    pub fn into_command(self) -> Command {
        self.command
    }
}

/// How a case waits for output. Without a cursor, the last collect's end is where it goes on.
#[derive(Debug, Clone)]
#[must_use]
pub struct Wait(pub Collect);

impl Wait {
    /// This long, unless the process ends.
    pub fn ms(window_ms: u64) -> Self {
        Self(Collect { cursor: None, window: Duration::from_millis(window_ms), until: Vec::new(), budget: None })
    }

    /// Until this text has been printed, at most ten seconds.
    pub fn text(text: &str) -> Self {
        Self::ms(10_000).until(Until::Text(text.to_owned()))
    }

    /// Until the process waits for input, at most ten seconds.
    pub fn input() -> Self {
        Self::ms(10_000).until(Until::Input)
    }

    /// Also until this holds.
    pub fn until(mut self, until: Until) -> Self {
        self.0.until.push(until);
        self
    }

    /// Within this many tokens.
    pub fn budget(mut self, tokens: u64) -> Self {
        self.0.budget = Some(tokens);
        self
    }

    /// From this offset.
    pub fn from(mut self, cursor: u64) -> Self {
        self.0.cursor = Some(cursor);
        self
    }
}
