//! Programs ask their terminal: where is the cursor, what are you, which colours. Without a person's terminal at the other end the guest
//! answers, so that they need not wait in vain.
//!
//! An answer that comes when its asker no longer reads is typed into whoever reads next, and a shell would run it. So a question is
//! answered only while it stands at the end of the output, in front of a short silence; the process group that was in the foreground when
//! it was seen still is, has switched line mode off, and sleeps in a read of the terminal.

mod answer;
mod scanner;

use std::sync::Arc;
use std::time::Duration;

use crannog_core::process::Stream;
use tokio::time::Instant;

use crate::evidence;
use crate::input;
use crate::process::Process;
use crate::screen::{self, KeptScreens};
use crate::signalling;
use scanner::{Met, Query, Scanner};

/// Silence after a question before it is answered: whoever goes on printing did not stop to read.
const QUIET: Duration = Duration::from_millis(10);
/// Longest pause between two looks for the asker to read.
const PAUSE_MAX: Duration = Duration::from_millis(100);
/// Time after which a question that nobody waits for is forgotten. Programs that ask give up earlier.
const PATIENCE: Duration = Duration::from_secs(3);
/// Questions answered at once. Programs ask some ten; who asks more gets no more.
const QUESTIONS_MAX: usize = 64;

/// What a terminal was asked.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    scanner: Scanner,
    /// Those at the end of the output.
    asked: Vec<Query>,
    /// The foreground group when they were seen.
    asker: Option<u32>,
    /// A task attends to them.
    is_attended: bool,
    /// Followers whose own terminals answer.
    owners: u32,
    is_alternate: bool,
}

impl Questions {
    /// Takes output.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let Self { scanner, asked, asker, is_alternate, .. } = self;
        scanner.feed(bytes, |met| match met {
            Met::Asked(query) if asked.len() < QUESTIONS_MAX => asked.push(query),
            Met::Asked(_) | Met::AskedOther => {}
            Met::Output | Met::Alternate(_) => {
                asked.clear();
                *asker = None;
                if let Met::Alternate(on) = met {
                    *is_alternate = on;
                }
            }
        });
    }

    /// The terminal shows its alternate screen.
    pub(crate) fn is_alternate(&self) -> bool {
        self.is_alternate
    }

    /// A follower brings a terminal of its own, or takes it away. Either way what was asked before is not for us.
    pub(crate) fn own(&mut self, begins: bool) {
        self.owners = if begins { self.owners + 1 } else { self.owners.saturating_sub(1) };
        self.forget();
    }

    fn forget(&mut self) {
        self.asked.clear();
        self.asker = None;
    }
}

/// Sees to what was asked in the output that was just read. Costs nothing if that is nothing.
pub(crate) fn attend(process: &Arc<Process>, screens: &Arc<KeptScreens>) {
    let is_new = |process: &Process| {
        let mut state = process.state();
        let Some(questions) = state.questions.as_deref_mut() else { return false };
        if questions.owners > 0 {
            questions.forget();
        }
        !questions.asked.is_empty() && questions.asker.is_none()
    };
    if !is_new(process) {
        return;
    }
    let foreground = signalling::foreground(process);
    let mut state = process.state();
    let Some(questions) = state.questions.as_deref_mut() else { return };
    questions.asker = foreground;
    if !questions.is_attended {
        questions.is_attended = true;
        tokio::spawn(answer(process.clone(), screens.clone()));
    }
}

/// What to do about the questions now.
enum Step {
    Nothing,
    Wait,
    Answer { asked: Vec<Query>, total: u64 },
}

/// Answers when the asker waits for it. Ends when there is no question any more.
async fn answer(process: Arc<Process>, screens: Arc<KeptScreens>) {
    let (mut pause, mut seen, mut seen_at) = (QUIET, None, Instant::now());
    loop {
        tokio::time::sleep(pause).await;
        let total = process.state().log.total();
        let is_quiet = seen == Some(total);
        if !is_quiet {
            (seen, seen_at, pause) = (Some(total), Instant::now(), QUIET);
        }
        let step = step(&process, is_quiet, seen_at.elapsed());
        match step {
            Step::Nothing => return,
            Step::Wait if is_quiet => pause = (pause * 2).min(PAUSE_MAX),
            Step::Wait => {}
            Step::Answer { asked, total } => give(&process, &screens, &asked, total).await,
        }
    }
}

/// Decides in one step with giving up, so that a question that comes at the same moment finds somebody.
fn step(process: &Process, is_quiet: bool, waited: Duration) -> Step {
    let is_read = is_quiet && is_read_by_asker(process);
    let mut state = process.state();
    let (is_running, total) = (state.is_leader_running(), state.log.total());
    let Some(questions) = state.questions.as_deref_mut() else { return Step::Nothing };
    if waited > PATIENCE || questions.owners > 0 || !is_running {
        questions.forget();
    }
    if questions.asked.is_empty() {
        questions.is_attended = false;
        return Step::Nothing;
    }
    if is_read { Step::Answer { asked: questions.asked.clone(), total } } else { Step::Wait }
}

/// Gives the answers, unless something changed while they were made.
async fn give(process: &Arc<Process>, screens: &Arc<KeptScreens>, asked: &[Query], total: u64) {
    let Some(size) = process.state().terminal else { return };
    let mut view = None;
    if asked.iter().copied().any(answer::needs_screen) {
        let mut locked = process.screen.lock().await;
        // Without a screen the questions stay unanswered until they are forgotten.
        if screen::catch_up(screens, process, &mut locked).await.is_err() || !is_read_by_asker(process) {
            return;
        }
        view = Some(locked);
    }
    let emulator = view.as_deref_mut().and_then(screen::View::emulator);
    let mut text = String::new();
    for query in asked {
        answer::write(*query, size, emulator.as_deref(), &mut text);
    }
    {
        let mut state = process.state();
        let is_unchanged = state.log.total() == total;
        match state.questions.as_deref_mut() {
            Some(questions) if is_unchanged && questions.owners == 0 => questions.forget(),
            _ => return,
        }
    }
    input::post(process, text.into_bytes());
}

/// The group that asked is in the foreground, takes input byte by byte, and sleeps until some comes.
fn is_read_by_asker(process: &Process) -> bool {
    let asker = process.state().questions.as_ref().and_then(|questions| questions.asker);
    let is_in_line_mode = || {
        let output = process.outputs.get(Stream::Stdout);
        output.as_ref().and_then(|output| output.terminal()?.modes().ok()).is_none_or(|modes| modes.canonical)
    };
    asker.is_some() && asker == signalling::foreground(process) && !is_in_line_mode() && evidence::waits_for_input(process)
}
