//! The collect rule under a virtual clock, against the rule said plainly: the first moment at which anything holds ends the wait.

#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use crannog_core::collect::{Collect, CollectError, Decision, Observation, Reason, Until, Wait};
use crannog_core::limits;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Event {
    Output(String),
    Ended,
    Reads(bool),
}

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn collect(window_ms: u64, until: Vec<Until>) -> Collect {
    Collect { cursor: None, window: ms(window_ms), until, budget: None }
}

/// What there is to see of a process at a moment.
#[derive(Debug, Clone, Default)]
struct World {
    text: String,
    last_output: Option<Duration>,
    has_ended: bool,
    reads: bool,
}

impl World {
    fn apply(&mut self, at: Duration, event: &Event) {
        match event {
            Event::Output(text) if !text.is_empty() => {
                self.text.push_str(text);
                self.last_output = Some(at);
                self.reads = false;
            }
            Event::Output(_) => {}
            Event::Ended => self.has_ended = true,
            Event::Reads(reads) => self.reads = *reads,
        }
    }

    fn observation(&self, waits_for_input: Option<bool>) -> Observation {
        Observation { end: self.text.len() as u64, last_output: self.last_output, has_ended: self.has_ended, waits_for_input }
    }

    fn holds(&self, until: &Until, now: Duration) -> Option<Reason> {
        let (holds, reason) = match until {
            Until::Exit => (self.has_ended, Reason::Exit),
            Until::Text(pattern) => (self.text.contains(pattern), Reason::Text),
            Until::Regex(pattern) => (regex::Regex::new(&format!("(?mR){pattern}")).unwrap().is_match(&self.text), Reason::Regex),
            Until::Input => (self.reads, Reason::Input),
            Until::Bytes(count) => (self.text.len() as u64 >= *count, Reason::Bytes),
            Until::Silent(quiet) => (self.last_output.is_some_and(|last| last + *quiet <= now), Reason::Silent),
        };
        holds.then_some(reason)
    }
}

/// Drives a wait as an engine does: wakes for events, deadlines and looks, and for nothing else.
fn drive(collect: &Collect, events: &[(Duration, Event)]) -> (Duration, Reason, usize) {
    let mut wait = Wait::new(collect, Duration::ZERO, 0).unwrap();
    let (mut world, mut now, mut next, mut wakes) = (World::default(), Duration::ZERO, 0, 0);
    let mut evidence = None;
    loop {
        wakes += 1;
        assert!(wakes < 10_000, "the wait spins");
        let fed = world.text.len();
        while let Some((at, event)) = events.get(next).filter(|(at, _)| *at <= now) {
            world.apply(*at, event);
            next += 1;
        }
        if wait.needs_text() {
            wait.feed(&world.text[fed..]);
        }
        match wait.observe(now, &world.observation(evidence.take())) {
            Decision::Done(reason) => return (now, reason, wakes),
            Decision::WaitUntil { sample_input_at: Some(at), .. } if at <= now => evidence = Some(world.reads),
            Decision::WaitUntil { deadline, sample_input_at } => {
                let event_at = events.get(next).map(|(at, _)| *at);
                now = [Some(deadline), sample_input_at, event_at].into_iter().flatten().min().unwrap().max(now);
            }
        }
    }
}

/// The rule said plainly, on a clock of milliseconds. Without input conditions, whose looks have a pace.
fn plainly(collect: &Collect, events: &[(Duration, Event)]) -> (Duration, Reason) {
    const ORDER: [Reason; 5] = [Reason::Exit, Reason::Text, Reason::Regex, Reason::Bytes, Reason::Silent];
    let mut world = World::default();
    for now in (0..).map(ms) {
        for (at, event) in events.iter().filter(|(at, _)| *at == now) {
            world.apply(*at, event);
        }
        let conditions = collect.until.iter().chain([&Until::Exit]);
        let held: Vec<Reason> = conditions.filter_map(|until| world.holds(until, now)).collect();
        if let Some(reason) = ORDER.into_iter().find(|reason| held.contains(reason)) {
            return (now, reason);
        }
        if now >= collect.window {
            return (now, Reason::Window);
        }
    }
    unreachable!("the window ends the loop")
}

fn events() -> impl Strategy<Value = Vec<(Duration, Event)>> {
    let event = prop_oneof![6 => "[ab\n]{0,3}".prop_map(Event::Output), 1 => Just(Event::Ended), 2 => any::<bool>().prop_map(Event::Reads)];
    prop::collection::vec((0..60_u64, event), 0..12).prop_map(|steps| {
        let mut at = 0;
        steps
            .into_iter()
            .map(|(pause, event)| {
                at += pause;
                (ms(at), event)
            })
            .collect()
    })
}

fn until() -> impl Strategy<Value = Until> {
    prop_oneof![
        Just(Until::Exit),
        "[ab]{1,3}".prop_map(Until::Text),
        "\\^?[ab]{1,2}\\$?".prop_map(Until::Regex),
        (1..12_u64).prop_map(Until::Bytes),
        (0..80_u64).prop_map(|quiet| Until::Silent(ms(quiet))),
    ]
}

proptest! {
    #[test]
    fn a_wait_ends_at_the_first_moment_at_which_anything_holds(
        events in events(), until in prop::collection::vec(until(), 0..4), window_ms in prop_oneof![Just(0), 0..400_u64],
    ) {
        let collect = collect(window_ms, until);
        let (at, reason, _) = drive(&collect, &events);
        prop_assert_eq!((at, reason), plainly(&collect, &events));
    }

    #[test]
    fn input_is_seen_soon_and_never_without_evidence(events in events(), window_ms in 0..400_u64) {
        let (at, reason, wakes) = drive(&collect(window_ms, vec![Until::Input]), &events);
        let mut world = World::default();
        let mut reads_since = None;
        for (event_at, event) in events.iter().filter(|(event_at, _)| *event_at <= at) {
            world.apply(*event_at, event);
            reads_since = world.reads.then(|| reads_since.unwrap_or(*event_at));
        }
        prop_assert_eq!(reason == Reason::Input, world.reads && !world.has_ended);
        // It is looked at a moment after output and then at least every 50 ms.
        if let Some(since) = reads_since.filter(|_| reason == Reason::Input) {
            prop_assert!(at <= since + ms(51));
        }
        // An idle window of 400 ms costs a handful of looks, not one each millisecond.
        prop_assert!(wakes <= 3 * events.len() * 10 + 40);
    }
}

#[test]
fn what_holds_at_the_start_ends_a_window_of_zero() {
    let start = |text: &str| vec![(Duration::ZERO, Event::Output(text.to_owned()))];
    let reads = vec![(Duration::ZERO, Event::Reads(true))];
    let cases = [
        (vec![Until::Text("ab".into())], start("xaby"), Reason::Text),
        (vec![Until::Regex("^b$".into())], start("a\r\nb\r\n"), Reason::Regex),
        (vec![Until::Bytes(2)], start("ab"), Reason::Bytes),
        (vec![Until::Input], reads, Reason::Input),
        (vec![Until::Silent(ms(0))], start("a"), Reason::Silent),
        (vec![Until::Silent(ms(0))], vec![], Reason::Window),
        (vec![], start("ab"), Reason::Window),
    ];
    for (until, events, reason) in cases {
        let (at, found, _) = drive(&collect(0, until.clone()), &events);
        assert_eq!((at, found), (Duration::ZERO, reason), "{until:?}");
    }
}

#[test]
fn old_output_counts_as_quiet_only_if_it_is_new_to_the_reader() {
    let collect = collect(1_000, vec![Until::Silent(ms(100))]);
    let observation = Observation { end: 5, last_output: Some(ms(10)), ..Observation::default() };
    let mut unread = Wait::new(&collect, ms(500), 4).unwrap();
    assert_eq!(unread.observe(ms(500), &observation), Decision::Done(Reason::Silent));
    let mut read = Wait::new(&collect, ms(500), 5).unwrap();
    assert_eq!(read.observe(ms(500), &observation), Decision::WaitUntil { deadline: ms(1_500), sample_input_at: None });
}

#[test]
fn windows_are_cut_and_conditions_are_checked() {
    let check = |until: Vec<Until>| Wait::new(&collect(0, until), Duration::ZERO, 0).map(|_| ());
    let mut long = Wait::new(&collect(u64::MAX, vec![]), ms(1), 0).unwrap();
    let longest = ms(limits::WINDOW_MS_MAX + 1);
    assert_eq!(long.observe(ms(1), &Observation::default()), Decision::WaitUntil { deadline: longest, sample_input_at: None });

    assert_eq!(check(vec![Until::Exit; 16]), Ok(()));
    assert_eq!(check(vec![Until::Exit; 17]), Err(CollectError::CountConditions { count: 17 }));
    assert_eq!(check(vec![Until::Text(String::new())]), Err(CollectError::MeasurePattern { bytes: 0 }));
    assert_eq!(check(vec![Until::Regex("x".repeat(4_097))]), Err(CollectError::MeasurePattern { bytes: 4_097 }));
    assert_eq!(check(vec![Until::Silent(ms(30_001))]), Err(CollectError::MeasureSilence { ms: 30_001 }));
    for pattern in ["(", r"\w{1000}{10}"] {
        let refused = check(vec![Until::Regex(pattern.into())]);
        assert!(matches!(refused, Err(CollectError::CompileRegex { .. })), "{pattern}");
    }
}
