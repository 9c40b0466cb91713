//! The collection rule driven through every recorded trace under a virtual clock, and how a cleanup settles.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::HashMap;

use crannog_core::compat::collector::{Action, Batch, Chunks, Collector, Hooks, Input};
use crannog_core::compat::settle::{Settle, Settled};
use proptest::prelude::*;
use serde_json::{Value, json};

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// How a call of a hook went.
enum Call {
    Returned,
    Cancelled,
    Failed,
}

/// A backend that follows a recorded script.
struct Backend<'a> {
    scenario: &'a Value,
    now_ms: i64,
    done: bool,
    chunks: Chunks,
    calls: HashMap<&'static str, usize>,
    trace: Vec<Value>,
}

impl<'a> Backend<'a> {
    fn new(scenario: &'a Value) -> Self {
        let queued = scenario["initial_queue_hex"].as_array().unwrap();
        Self {
            scenario,
            now_ms: 0,
            done: scenario["done_initially"].as_bool().unwrap(),
            chunks: queued.iter().map(|chunk| bytes_of(chunk.as_str().unwrap())).collect(),
            calls: HashMap::new(),
            trace: Vec::new(),
        }
    }

    /// Plays the next step of a hook's script.
    fn play(&mut self, hook: &'static str) -> Call {
        let number = self.calls.entry(hook).or_default();
        let step = &self.scenario["script"][hook][*number];
        let step = if step.is_null() { &self.scenario["script_default"][hook] } else { step };
        *number += 1;
        self.now_ms += step["advance_ms"].as_i64().unwrap_or(0);
        for chunk in step["push"].as_array().into_iter().flatten() {
            self.chunks.push_back(bytes_of(chunk.as_str().unwrap()));
        }
        self.done = step["done"].as_bool().unwrap_or(self.done);
        match (step["cancel"].as_bool(), step["raise"].as_bool()) {
            (Some(true), _) => Call::Cancelled,
            (_, Some(true)) => Call::Failed,
            _ => Call::Returned,
        }
    }

    /// Carries out `action`. The answer for the machine, unless the call was cut short.
    fn perform(&mut self, action: &Action) -> Result<Input, Call> {
        let at_ms = self.now_ms;
        let (hook, call) = match action {
            Action::Poll { deadline_ms } => ("poll", json!({"call": "poll_output", "at_ms": at_ms, "deadline_ms": deadline_ms})),
            Action::Settle => ("settle", json!({"call": "settle_output", "at_ms": at_ms})),
            Action::Wait { remaining_ms } => ("wait", json!({"call": "wait_for_output", "at_ms": at_ms, "remaining_ms": remaining_ms})),
            Action::AskDone => ("is_done", json!({"call": "is_done", "at_ms": at_ms})),
            Action::Finish(_) => panic!("nothing to perform"),
        };
        self.trace.push(call);
        match self.play(hook) {
            Call::Returned if hook == "is_done" => {
                self.trace.last_mut().unwrap()["returns"] = json!(self.done);
                Ok(Input::Done(self.done))
            }
            Call::Returned => Ok(Input::Returned),
            cut => Err(cut),
        }
    }
}

/// What a call ended with.
#[derive(Debug)]
enum Outcome {
    Finished(Batch),
    Cancelled,
    Failed,
}

fn run(scenario: &Value, backend: &mut Backend<'_>) -> Outcome {
    let has = |hook: &str| scenario["hooks"].as_array().unwrap().contains(&json!(hook));
    let hooks = Hooks { poll: has("poll"), settle: has("settle") };
    let mut collector = Collector::new(0, scenario["yield_time_ms"].as_i64().unwrap(), hooks);
    let mut input = Input::Start;
    loop {
        let action = collector.step(backend.now_ms, input, &mut backend.chunks);
        if let Action::Finish(batch) = action {
            return Outcome::Finished(batch);
        }
        match backend.perform(&action) {
            Ok(answer) => input = answer,
            Err(Call::Cancelled) => {
                collector.cancel(&mut backend.chunks);
                return Outcome::Cancelled;
            }
            Err(_) => return Outcome::Failed,
        }
    }
}

#[test]
fn scenarios() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/collector.json")).unwrap();
    let scenarios = vectors["scenarios"].as_array().unwrap();
    assert_eq!(scenarios.len(), 37);
    for scenario in scenarios {
        let name = &scenario["name"];
        let mut backend = Backend::new(scenario);
        match run(scenario, &mut backend) {
            Outcome::Finished(batch) => {
                let view = batch.view(scenario["max_output_tokens"].as_i64());
                let result = json!({
                    "output_hex": hex_of(view.text.as_bytes()),
                    "original_token_count": view.original_tokens,
                    "output_closed": batch.closed,
                });
                assert_eq!(result, scenario["result"], "{name}");
            }
            Outcome::Cancelled => assert_eq!(scenario["raises"], "CancelledError", "{name}"),
            Outcome::Failed => assert_eq!(scenario["raises"], "RuntimeError", "{name}"),
        }
        let queued: Vec<String> = backend.chunks.iter().map(|chunk| hex_of(chunk)).collect();
        assert_eq!(json!(queued), scenario["queue_after_hex"], "{name}");
        assert_eq!(json!(backend.trace), scenario["trace"], "{name}");
    }
}

#[test]
fn a_wait_that_times_out_leaves_the_loop() {
    let mut chunks = Chunks::new();
    let mut collector = Collector::new(0, 100, Hooks::default());
    assert_eq!(collector.step(0, Input::Start, &mut chunks), Action::AskDone);
    assert_eq!(collector.step(0, Input::Done(false), &mut chunks), Action::Wait { remaining_ms: 100 });
    chunks.push_back(b"late".to_vec());
    // The clock may say that a little is left; the wait's own word counts.
    assert_eq!(collector.step(99, Input::TimedOut, &mut chunks), Action::AskDone);
    let batch = Batch { bytes: b"late".to_vec(), closed: false };
    assert_eq!(collector.step(99, Input::Done(false), &mut chunks), Action::Finish(batch));
    assert_eq!(collector.step(99, Input::Returned, &mut chunks), Action::Finish(Batch::default()));
}

#[test]
fn settled_cleanups() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/settle_cleanup.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 8);
    for case in cases {
        let mut settle = Settle::new(case["initial_cancellation"].as_str());
        for message in case["cancel_messages"].as_array().unwrap() {
            settle.cancelled(message.as_str().unwrap());
        }
        let cleanup = if case["cleanup_fails"] == true { Err("cleanup failed") } else { Ok(()) };
        let result = match settle.finish(cleanup) {
            Settled::Done(()) => "returns".to_owned(),
            Settled::Failed(error) => format!("RuntimeError({error})"),
            Settled::Cancelled(message) => format!("CancelledError(('{message}',))"),
        };
        assert_eq!(json!(result), case["result"], "{}", case["name"]);
    }
}

proptest! {
    /// Whatever is pushed, whenever a call is cancelled: the batches and what is left in the queue are the pushed bytes in order.
    #[test]
    fn no_byte_is_lost_or_moved(
        script in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..6), 0_i64..400, any::<bool>()), 1..60),
        poll: bool,
        settle: bool,
    ) {
        let hooks = Hooks { poll, settle };
        let inputs = [Input::Returned, Input::TimedOut, Input::Done(false), Input::Done(true), Input::Start];
        let (mut chunks, mut pushed, mut collected, mut now_ms) = (Chunks::new(), Vec::new(), Vec::new(), 0);
        let mut collector = Collector::new(now_ms, 500, hooks);
        for (input, bytes, pause_ms, cancel) in script {
            now_ms += pause_ms;
            pushed.extend_from_slice(&bytes);
            chunks.push_back(bytes);
            if cancel && pause_ms % 7 == 0 {
                std::mem::replace(&mut collector, Collector::new(now_ms, 500, hooks)).cancel(&mut chunks);
            } else if let Action::Finish(batch) = collector.step(now_ms, *input.get(&inputs), &mut chunks) {
                collected.extend(batch.bytes);
                collector = Collector::new(now_ms, 500, hooks);
            }
        }
        collector.cancel(&mut chunks);
        collected.extend(chunks.into_iter().flatten());
        prop_assert_eq!(collected, pushed);
    }
}
