//! Whatever happens in whatever order, no collected byte is lost, doubled or moved.
#![no_main]

use arbitrary::Arbitrary;
use crannog_core::compat::collector::{Action, Chunks, Collector, Hooks, Input};
use libfuzzer_sys::fuzz_target;

const WINDOW_MS: i64 = 500;

#[derive(Debug, Arbitrary)]
enum Event {
    Push(Vec<u8>),
    Pass(u8),
    Start,
    Return,
    TimeOut,
    Done(bool),
    Cancel,
}

fuzz_target!(|script: (bool, bool, Vec<Event>)| {
    let (poll, settle, events) = script;
    let hooks = Hooks { poll, settle };
    let (mut chunks, mut pushed, mut collected, mut now_ms) = (Chunks::new(), Vec::new(), Vec::new(), 0);
    let mut collector = Collector::new(now_ms, WINDOW_MS, hooks);
    for event in events {
        let input = match event {
            Event::Push(bytes) => {
                pushed.extend_from_slice(&bytes);
                chunks.push_back(bytes);
                continue;
            }
            Event::Pass(ms) => {
                now_ms += i64::from(ms);
                continue;
            }
            Event::Cancel => {
                std::mem::replace(&mut collector, Collector::new(now_ms, WINDOW_MS, hooks)).cancel(&mut chunks);
                continue;
            }
            Event::Start => Input::Start,
            Event::Return => Input::Returned,
            Event::TimeOut => Input::TimedOut,
            Event::Done(done) => Input::Done(done),
        };
        if let Action::Finish(batch) = collector.step(now_ms, input, &mut chunks) {
            collected.extend(batch.bytes);
            collector = Collector::new(now_ms, WINDOW_MS, hooks);
        }
    }
    collector.cancel(&mut chunks);
    collected.extend(chunks.into_iter().flatten());
    assert_eq!(collected, pushed);
});
