//! When a collect ends: a pure rule over what is observed. The caller owns clock, log and evidence.

use std::time::Duration;

use regex::RegexBuilder;

use super::matching::Matching;
use super::{Collect, Reason, Until};
use crate::limits;

/// Quiet after which the input evidence is looked at first, and again after twice as long each time up to [`SAMPLE_PAUSE_MAX`]. A
/// program that prints is not waiting, and a look costs several reads of `/proc`.
const SAMPLE_PAUSE_MIN: Duration = Duration::from_millis(1);
const SAMPLE_PAUSE_MAX: Duration = Duration::from_millis(50);

/// A collect asks for what cannot be waited for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CollectError {
    /// Too many conditions.
    #[error("{count} conditions are more than {}: leave some out", limits::UNTIL_CONDITIONS_MAX)]
    CountConditions {
        /// How many were given.
        count: usize,
    },
    /// A text or regex condition is empty or too long.
    #[error("a text or regex condition has {bytes} bytes: give 1 to {}", limits::UNTIL_PATTERN_BYTES_MAX)]
    MeasurePattern {
        /// Its length.
        bytes: usize,
    },
    /// A regex condition is wrong or too large once compiled.
    #[error("the regex condition {pattern:?} cannot be used: correct or simplify it")]
    CompileRegex {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        #[source]
        source: regex::Error,
    },
    /// A silence condition is longer than any window.
    #[error("a silence of {ms} ms is longer than any window: give at most {}", limits::UNTIL_SILENT_MS_MAX)]
    MeasureSilence {
        /// The silence asked for, in milliseconds.
        ms: u128,
    },
}

/// How a process stands when it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Observation {
    /// Where a view would end now: [`crate::log::OutputLog::visible_end`].
    pub end: u64,
    /// When output came last, on the clock of `now`. `None` if there never was any.
    pub last_output: Option<Duration>,
    /// The process has ended and everything that it printed before is in the log.
    pub has_ended: bool,
    /// Fresh evidence of whether it waits for input. `None` if nobody looked since the last observation.
    pub waits_for_input: Option<bool>,
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The wait is over.
    Done(Reason),
    /// Observe again when there is output, when the process ends, or at one of these times.
    WaitUntil {
        /// When the next thing that depends on time alone is due.
        deadline: Duration,
        /// When to look whether it waits for input; not later than now means at once. `None`: no look is needed.
        sample_input_at: Option<Duration>,
    },
}

/// A collect that waits. When several conditions hold, the reason is the first of: exit, text, regex, input, bytes, silent, window.
/// A condition that holds at the start ends the wait at once, whatever the window.
#[derive(Debug, Clone)]
pub struct Wait {
    cursor: u64,
    deadline: Duration,
    matching: Matching,
    silent: Option<Duration>,
    bytes: Option<u64>,
    sampling: Option<Sampling>,
}

impl Wait {
    /// Checks the conditions and starts the window at `now`. A window past [`limits::WINDOW_MS_MAX`] is cut to it; `cursor` is
    /// where the view will begin.
    pub fn new(collect: &Collect, now: Duration, cursor: u64) -> Result<Self, CollectError> {
        if collect.until.len() > limits::UNTIL_CONDITIONS_MAX {
            return Err(CollectError::CountConditions { count: collect.until.len() });
        }
        let window = collect.window.min(Duration::from_millis(limits::WINDOW_MS_MAX));
        let deadline = now.saturating_add(window);
        let mut wait = Self { cursor, deadline, matching: Matching::default(), silent: None, bytes: None, sampling: None };
        for until in &collect.until {
            wait.add(until, now)?;
        }
        Ok(wait)
    }

    /// Whether there are text or regex conditions, so that the decoded output since the cursor is to be fed.
    pub fn needs_text(&self) -> bool {
        !self.matching.is_empty()
    }

    /// Takes the decoded output that follows, in any pieces.
    pub fn feed(&mut self, text: &str) {
        self.matching.feed(text);
    }

    /// Decides, at `now`. Time does not go backwards from call to call.
    pub fn observe(&mut self, now: Duration, observation: &Observation) -> Decision {
        if observation.has_ended {
            return Decision::Done(Reason::Exit);
        }
        let is_over = now >= self.deadline;
        let new_bytes = observation.end.saturating_sub(self.cursor);
        let silent_at = observation.last_output.filter(|_| new_bytes > 0).zip(self.silent).map(|(last, quiet)| last.saturating_add(quiet));
        let sample_input_at = self.sampling.as_mut().and_then(|sampling| sampling.next(now, observation, is_over));
        let reason = if self.matching.has_text() {
            Reason::Text
        } else if self.matching.has_regex(now, is_over) {
            Reason::Regex
        } else if self.sampling.is_some() && observation.waits_for_input == Some(true) {
            Reason::Input
        } else if self.bytes.is_some_and(|wanted| new_bytes >= wanted) {
            Reason::Bytes
        } else if silent_at.is_some_and(|at| at <= now) {
            Reason::Silent
        } else if is_over && sample_input_at.is_none() {
            Reason::Window
        } else {
            let deadline = [silent_at, self.matching.search_at()].into_iter().flatten().fold(self.deadline, Duration::min);
            return Decision::WaitUntil { deadline, sample_input_at };
        };
        Decision::Done(reason)
    }

    fn add(&mut self, until: &Until, now: Duration) -> Result<(), CollectError> {
        match until {
            Until::Exit => {}
            Until::Text(pattern) => {
                check_pattern(pattern)?;
                self.matching.add_text(pattern);
            }
            Until::Regex(pattern) => {
                check_pattern(pattern)?;
                let compiled = RegexBuilder::new(pattern).multi_line(true).crlf(true).size_limit(limits::UNTIL_REGEX_BYTES_MAX).build();
                self.matching.add_regex(compiled.map_err(|source| CollectError::CompileRegex { pattern: pattern.clone(), source })?);
            }
            Until::Silent(quiet) => {
                let ms = quiet.as_millis();
                if ms > u128::from(limits::UNTIL_SILENT_MS_MAX) {
                    return Err(CollectError::MeasureSilence { ms });
                }
                self.silent = Some(self.silent.map_or(*quiet, |other| other.min(*quiet)));
            }
            Until::Bytes(count) => self.bytes = Some(self.bytes.map_or(*count, |other| other.min(*count))),
            Until::Input => self.sampling = Some(Sampling { due: now, pause: SAMPLE_PAUSE_MIN, last_output: None, has_last_look: false }),
        }
        Ok(())
    }
}

fn check_pattern(pattern: &str) -> Result<(), CollectError> {
    let bytes = pattern.len();
    let is_fit = (1..=limits::UNTIL_PATTERN_BYTES_MAX).contains(&bytes);
    if is_fit { Ok(()) } else { Err(CollectError::MeasurePattern { bytes }) }
}

/// When to look for evidence: after a moment of quiet, then ever more rarely while nothing changes, and once when time is up.
#[derive(Debug, Clone)]
struct Sampling {
    due: Duration,
    pause: Duration,
    last_output: Option<Duration>,
    has_last_look: bool,
}

impl Sampling {
    fn next(&mut self, now: Duration, observation: &Observation, is_over: bool) -> Option<Duration> {
        if self.last_output != observation.last_output {
            self.last_output = observation.last_output;
            self.pause = SAMPLE_PAUSE_MIN;
            self.due = observation.last_output.map_or(now, |last| last.saturating_add(SAMPLE_PAUSE_MIN));
        } else if observation.waits_for_input.is_some() {
            self.due = now.saturating_add(self.pause);
            self.pause = (self.pause * 2).min(SAMPLE_PAUSE_MAX);
        }
        if !is_over {
            return Some(self.due);
        }
        let is_asked = std::mem::replace(&mut self.has_last_look, true);
        (!is_asked && observation.waits_for_input.is_none()).then_some(now)
    }
}
