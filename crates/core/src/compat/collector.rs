//! The compatible collection rule as a state machine.
//!
//! One call drains a process's queue of chunks until its window ends or the process is done, then lets the backend settle, drains a
//! last time and keeps back an incomplete character. The machine says what to do next and is told what came of it; it waits for
//! nothing and owns no clock, so a caller of any kind can drive it, and a test can with a virtual one.
//!
//! Times are milliseconds on any monotonic clock.

use std::collections::VecDeque;

use crate::truncation::{self, Truncated};
use crate::utf8::{Measured, incomplete_suffix_len};

/// The chunks of a process that nobody has collected, oldest first. Its owner bounds it.
pub type Chunks = VecDeque<Vec<u8>>;

/// What the backend offers besides the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hooks {
    /// It must be asked for output ([`Action::Poll`]).
    pub poll: bool,
    /// It can be told to bring in what is on its way ([`Action::Settle`]).
    pub settle: bool,
}

/// What the caller has to do before the next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Ask the backend for output, at most until the deadline. Answer [`Input::Returned`].
    Poll {
        /// The end of the window.
        deadline_ms: i64,
    },
    /// Let the backend bring in what is on its way. Answer [`Input::Returned`].
    Settle,
    /// Find out whether the process is done. Answer [`Input::Done`].
    AskDone,
    /// Wait until output may have come. Answer [`Input::Returned`], or [`Input::TimedOut`] if the time is over.
    Wait {
        /// Longest wait, above zero.
        remaining_ms: i64,
    },
    /// The call is over. Every further step answers an empty batch.
    Finish(Batch),
}

/// What came of the last action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Nothing was asked yet.
    Start,
    /// A poll, settle or wait came back.
    Returned,
    /// A wait ran into the end of its time.
    TimedOut,
    /// Whether the process is done.
    Done(bool),
}

/// What a call collected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    /// The raw output.
    pub bytes: Vec<u8>,
    /// Whether the process is done and this is all there was.
    pub closed: bool,
}

impl Batch {
    /// The batch decoded with replacement and cut to the budget.
    pub fn view(&self, budget_tokens: Option<i64>) -> Truncated {
        let text = String::from_utf8_lossy(&self.bytes);
        let total = Measured::of(&text);
        let (cut, original_tokens) = truncation::truncate(&text, budget_tokens);
        Truncated { text: cut.into_owned(), original_tokens, total }
    }
}

/// Where the machine stands: what it has asked for and not been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Turn,
    Polling,
    Asking,
    Waiting,
    SettlingDone,
    Settling,
    AskingLast,
    SettlingLast,
    Over,
}

/// One call.
///
/// When the caller is cancelled between two steps it must call [`Collector::cancel`]. Dropping the machine instead loses what it has
/// drained, which is what the compatible surface does when a hook fails.
#[derive(Debug)]
pub struct Collector {
    hooks: Hooks,
    deadline_ms: i64,
    state: State,
    output: Vec<u8>,
    closed: bool,
}

impl Collector {
    /// Begins a call. A window of zero or less still drains what is queued and still sees the end of the process.
    pub fn new(now_ms: i64, window_ms: i64, hooks: Hooks) -> Self {
        let deadline_ms = now_ms.saturating_add(window_ms);
        Self { hooks, deadline_ms, state: State::Turn, output: Vec::new(), closed: false }
    }

    /// Takes the answer to the last action and says what is next. An input that does not answer that action changes nothing, and
    /// the action is asked for again.
    pub fn step(&mut self, now_ms: i64, input: Input, chunks: &mut Chunks) -> Action {
        match (self.state, input) {
            (State::Polling, Input::Returned) => self.drain_and_ask(now_ms, chunks),
            (State::Asking, Input::Done(true)) => {
                self.closed = true;
                self.hook(State::SettlingDone).unwrap_or_else(|| self.leave_loop(chunks))
            }
            (State::SettlingDone, Input::Returned) => {
                self.drain(chunks);
                self.leave_loop(chunks)
            }
            (State::Turn, _) | (State::Waiting, Input::Returned) => self.turn(now_ms, chunks),
            (State::Waiting, Input::TimedOut) => self.leave_loop(chunks),
            (State::Settling, Input::Returned) => self.ask_last(chunks),
            (State::AskingLast, Input::Done(true)) => {
                self.closed = true;
                self.hook(State::SettlingLast).unwrap_or_else(|| self.finish(chunks))
            }
            (State::AskingLast, Input::Done(false)) | (State::SettlingLast, Input::Returned) => self.finish(chunks),
            (State::Asking, Input::Done(false)) | (State::Waiting, _) => self.wait(now_ms, chunks),
            (state @ (State::Polling | State::SettlingDone | State::Settling | State::SettlingLast), _) => self.ask_again(state),
            (State::Asking | State::AskingLast, _) => Action::AskDone,
            (State::Over, _) => Action::Finish(Batch::default()),
        }
    }

    /// Gives back what was drained, as one chunk in front of everything that came since. A later call finds it again.
    pub fn cancel(self, chunks: &mut Chunks) {
        if !self.output.is_empty() {
            chunks.push_front(self.output);
        }
    }

    fn turn(&mut self, now_ms: i64, chunks: &mut Chunks) -> Action {
        if now_ms >= self.deadline_ms {
            return self.leave_loop(chunks);
        }
        if self.hooks.poll {
            self.state = State::Polling;
            return self.poll();
        }
        self.drain_and_ask(now_ms, chunks)
    }

    /// A poll may have used up the window; then whether the process is done is asked after the settling only.
    fn drain_and_ask(&mut self, now_ms: i64, chunks: &mut Chunks) -> Action {
        self.drain(chunks);
        if now_ms >= self.deadline_ms {
            return self.leave_loop(chunks);
        }
        self.state = State::Asking;
        Action::AskDone
    }

    fn wait(&mut self, now_ms: i64, chunks: &mut Chunks) -> Action {
        let remaining_ms = self.deadline_ms.saturating_sub(now_ms);
        if remaining_ms <= 0 {
            return self.leave_loop(chunks);
        }
        self.state = State::Waiting;
        Action::Wait { remaining_ms }
    }

    fn leave_loop(&mut self, chunks: &mut Chunks) -> Action {
        self.hook(State::Settling).unwrap_or_else(|| self.ask_last(chunks))
    }

    /// The settling may have brought the end, so it is looked for once more unless it is known.
    fn ask_last(&mut self, chunks: &mut Chunks) -> Action {
        if self.closed {
            return self.finish(chunks);
        }
        self.state = State::AskingLast;
        Action::AskDone
    }

    /// A closed batch is all there will be, so it keeps nothing back.
    fn finish(&mut self, chunks: &mut Chunks) -> Action {
        self.drain(chunks);
        let mut bytes = std::mem::take(&mut self.output);
        let carry = if self.closed { 0 } else { incomplete_suffix_len(&bytes) };
        if carry > 0 {
            chunks.push_front(bytes.split_off(bytes.len() - carry));
        }
        self.state = State::Over;
        Action::Finish(Batch { bytes, closed: self.closed })
    }

    fn drain(&mut self, chunks: &mut Chunks) {
        chunks.drain(..).for_each(|chunk| self.output.extend(chunk));
    }

    /// The settle hook, or the poll hook in its place, with the state in which its return is awaited.
    fn hook(&mut self, state: State) -> Option<Action> {
        let action = match self.hooks {
            Hooks { settle: true, .. } => Action::Settle,
            Hooks { poll: true, .. } => self.poll(),
            Hooks { .. } => return None,
        };
        self.state = state;
        Some(action)
    }

    fn ask_again(&self, state: State) -> Action {
        if self.hooks.settle && state != State::Polling { Action::Settle } else { self.poll() }
    }

    fn poll(&self) -> Action {
        Action::Poll { deadline_ms: self.deadline_ms }
    }
}
