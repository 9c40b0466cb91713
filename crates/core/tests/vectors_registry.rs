//! Windows and evictions against the recorded behaviour.
#![allow(clippy::unwrap_used, missing_docs)]

use crannog_core::eviction::{Candidate, id_to_evict};
use crannog_core::{limits, window};
use serde_json::Value;

#[test]
fn constants() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/clamp.json")).unwrap();
    let ours = [
        ("PTY_EMPTY_YIELD_TIME_MS_MIN", limits::WINDOW_EMPTY_WRITE_MS_MIN),
        ("PTY_PROCESSES_MAX", limits::PROCESSES_LIVE_DEFAULT.into()),
        ("PTY_PROCESSES_PROTECTED_RECENT", limits::PROCESSES_PROTECTED_RECENT as u64),
        ("PTY_PROCESSES_WARNING", limits::PROCESSES_WARNING_DEFAULT.into()),
        ("PTY_PROCESS_ID_MAX_EXCLUSIVE", limits::PROCESS_ID_MAX_EXCLUSIVE.into()),
        ("PTY_PROCESS_ID_MIN", limits::PROCESS_ID_MIN.into()),
        ("PTY_YIELD_TIME_MS_MAX", limits::WINDOW_MS_MAX),
        ("PTY_YIELD_TIME_MS_MIN", limits::WINDOW_MS_MIN),
    ];
    assert_eq!(vectors["constants"].as_object().unwrap().len(), ours.len());
    for (name, value) in ours {
        assert_eq!(vectors["constants"][name].as_u64(), Some(value), "{name}");
    }
}

#[test]
fn windows_are_clamped() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/clamp.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 19);
    for case in cases {
        let wish_ms = case["yield_time_ms"].as_i64().unwrap();
        assert_eq!(Some(window::clamp_ms(wish_ms)), case["clamp"].as_u64(), "{case}");
        assert_eq!(Some(window::write_ms(wish_ms, false)), case["write_nonempty"].as_u64(), "{case}");
        assert_eq!(Some(window::write_ms(wish_ms, true)), case["write_empty"].as_u64(), "{case}");
    }
}

#[test]
fn seconds_become_milliseconds() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/clamp.json")).unwrap();
    let cases = vectors["seconds_to_ms"].as_array().unwrap();
    assert_eq!(cases.len(), 32);
    for case in cases {
        let seconds = case["yield_time_s"].as_f64();
        let wish_ms = match case["kind"].as_str().unwrap() {
            "exec" => window::start_wish_ms(seconds),
            "write" => window::write_wish_ms(seconds),
            other => panic!("unknown kind {other}"),
        };
        assert_eq!(Some(wish_ms), case["ms_before_clamp"].as_i64(), "{case}");
    }
}

#[test]
fn evictions() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/prune.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 41);
    for case in cases {
        let candidates: Vec<_> = case["meta"].as_array().unwrap().iter().map(candidate).collect();
        assert_eq!(id_to_evict(&candidates), case["expected"].as_u64(), "{}", case["name"]);
    }
}

fn candidate(entry: &Value) -> Candidate<u64, u64> {
    let last_used = entry[1].as_f64().unwrap();
    assert!(last_used >= 0.0, "the bits of a number order like the number only from zero up");
    Candidate { id: entry[0].as_u64().unwrap(), last_used: last_used.to_bits(), ended: entry[2].as_bool().unwrap() }
}
