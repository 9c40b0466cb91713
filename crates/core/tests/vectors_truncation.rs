//! Truncation against the recorded behaviour, and the streaming forms against the one on a whole text.
#![allow(clippy::unwrap_used, missing_docs)]

use crannog_core::lines;
use crannog_core::truncation::{
    HeadTail, Truncated, Unit, View, bytes_of_tokens, marker, split, split_budget, tokens_of, tokens_of_bytes, truncate, truncate_bytes,
    truncate_without_header,
};
use crannog_core::utf8::{Measure, Measured};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/token_truncation.json")).unwrap()
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn input_of(case: &Value) -> String {
    let part = |part: &Value| part[0].as_str().unwrap().repeat(usize::try_from(part[1].as_u64().unwrap()).unwrap());
    let parts = || case["input_parts"].as_array().unwrap().iter().map(part).collect();
    case["input"].as_str().map_or_else(parts, str::to_owned)
}

#[test]
fn cases() {
    let vectors = vectors();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 62);
    for case in cases {
        let name = &case["name"];
        let input = input_of(case);
        assert_eq!(sha256(&input), case["input_sha256"].as_str().unwrap(), "{name}");
        assert_eq!(Some(lines::count(&input)), case["input_splitlines"].as_u64(), "{name}");

        let (output, count) = truncate(&input, case["max_output_tokens"].as_i64());
        assert_eq!(count, case["original_token_count"].as_u64(), "{name}");
        if let Some(expected) = case["output"].as_str() {
            assert_eq!(output, expected, "{name}");
        } else {
            assert!(output.starts_with(case["output_head"].as_str().unwrap()), "{name}");
            assert!(output.ends_with(case["output_tail"].as_str().unwrap()), "{name}");
        }
        assert_eq!(output.len() as u64, case["output_bytes"].as_u64().unwrap(), "{name}");
        assert_eq!(sha256(&output), case["output_sha256"].as_str().unwrap(), "{name}");
    }
}

#[test]
fn cases_streamed() {
    for case in vectors()["cases"].as_array().unwrap() {
        let Some(budget) = case["max_output_tokens"].as_i64() else { continue };
        let input = input_of(case);
        let mut view = View::new(budget);
        input.as_bytes().chunks(7).for_each(|piece| view.push(piece));
        let streamed = view.finish();
        assert_eq!(sha256(&streamed.text), case["output_sha256"].as_str().unwrap(), "{}", case["name"]);
        assert_eq!(streamed.original_tokens, case["original_token_count"].as_u64(), "{}", case["name"]);
    }
}

#[test]
fn units() {
    let helpers = &vectors()["helpers"];
    for case in helpers["approx_token_count"].as_array().unwrap() {
        assert_eq!(Some(tokens_of(case["input"].as_str().unwrap())), case["expected"].as_u64(), "{case}");
    }
    for case in helpers["approx_tokens_from_byte_count"].as_array().unwrap() {
        // A byte count cannot be negative here; the reference counts such a one as none.
        let bytes = case["bytes"].as_u64().unwrap_or(0);
        assert_eq!(Some(tokens_of_bytes(bytes)), case["expected"].as_u64(), "{case}");
    }
    for case in helpers["approx_bytes_for_tokens"].as_array().unwrap() {
        assert_eq!(Some(bytes_of_tokens(case["tokens"].as_i64().unwrap())), case["expected"].as_u64(), "{case}");
    }
    for case in helpers["split_budget"].as_array().unwrap() {
        let (head, tail) = split_budget(case["budget"].as_u64().unwrap());
        assert_eq!(json!([head, tail]), case["expected"], "{case}");
    }
    assert_eq!(bytes_of_tokens(i64::MAX), u64::MAX);
}

#[test]
fn splits_and_markers() {
    let helpers = &vectors()["helpers"];
    let splits = helpers["split_string"].as_array().unwrap();
    assert_eq!(splits.len(), 21);
    for case in splits {
        let limit = |key: &str| case[key].as_u64().unwrap();
        let parts = split(case["s"].as_str().unwrap(), limit("beginning_bytes"), limit("end_bytes"));
        assert_eq!(json!(parts.head), case["prefix"], "{case}");
        assert_eq!(json!(parts.tail), case["suffix"], "{case}");
        assert_eq!(json!(parts.removed_chars), case["removed_chars"], "{case}");
    }
    for case in helpers["format_marker"].as_array().unwrap() {
        let unit = if case["mode"] == "bytes" { Unit::Chars } else { Unit::Tokens };
        assert_eq!(json!(marker(unit, case["n"].as_u64().unwrap())), case["expected"], "{case}");
    }
}

#[test]
fn policies() {
    let helpers = &vectors()["helpers"];
    let cases = helpers["policy_variants"].as_array().unwrap();
    assert_eq!(cases.len(), 11);
    for case in cases {
        let (text, limit) = (case["s"].as_str().unwrap(), case["limit"].as_i64().unwrap());
        if case["mode"] == "bytes" {
            let bare = truncate_bytes(text, limit, false);
            assert_eq!(json!(truncate_bytes(text, limit, true)), case["formatted_truncate_text"], "{case}");
            assert_eq!(json!(bare), case["truncate_text"], "{case}");
            assert_eq!(json!(bare), case["truncate_with_byte_estimate"], "{case}");
        } else {
            let bare = truncate_without_header(text, limit);
            assert_eq!(json!(truncate(text, Some(limit)).0), case["formatted_truncate_text"], "{case}");
            assert_eq!(json!(bare.0), case["truncate_text"], "{case}");
            assert_eq!(json!([bare.0, bare.1]), case["truncate_with_token_budget"], "{case}");
        }
    }
}

#[test]
fn memory_depends_on_the_budget_alone() {
    let mut view = View::new(100);
    let flood = "0123456789 abcdefg\r\n".repeat(50_000);
    for _ in 0..20 {
        view.push(flood.as_bytes());
    }
    let streamed = view.finish();
    assert_eq!(streamed.total, Measured::of(&flood.repeat(20)));
    assert_eq!(streamed.text, truncate(&flood.repeat(20), Some(100)).0);
}

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-z]{0,30}",
        any::<char>().prop_map(String::from),
        prop::sample::select(["\r\n", "\n", "\u{2028}", "é", "文", "😀"].as_slice()).prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..80).prop_map(|parts| parts.concat())
}

fn raw() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        "[a-z]{0,30}\r?\n".prop_map(String::into_bytes),
        any::<char>().prop_map(|scalar| scalar.to_string().into_bytes()),
        prop::sample::select(b"\x80\x85\xA8\xC2\xE2\xF0\x9F\xFF\r\n".as_slice()).prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(part, 0..80).prop_map(|parts| parts.concat())
}

fn expected(text: &str, budget: i64) -> Truncated {
    let (cut, original_tokens) = truncate(text, Some(budget));
    Truncated { text: cut.into_owned(), original_tokens, total: Measured::of(text) }
}

/// Everything but the private cut of the line statistics, which a different split may leave in another form.
fn essence(truncated: Truncated) -> (String, Option<u64>, u64, u64) {
    let total = truncated.total;
    (truncated.text, truncated.original_tokens, total.bytes, total.lines.lines())
}

proptest! {
    #[test]
    fn never_longer_than_the_budget(text in text(), budget in -2_i64..120) {
        let (cut, count) = truncate(&text, Some(budget));
        prop_assert!(cut.len() as u64 <= bytes_of_tokens(budget));
        prop_assert_eq!(count.is_some(), text.len() as u64 > bytes_of_tokens(budget));
    }

    #[test]
    fn streamed_text_equals_the_whole(text in text(), budget in -1_i64..200, cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).collect();
        ends.push(text.len());
        ends.sort_unstable();
        let (mut stream, mut start) = (HeadTail::new(budget), 0);
        for end in ends {
            stream.push(&text[start..end]);
            start = end;
        }
        prop_assert_eq!(essence(stream.finish()), essence(expected(&text, budget)));
    }

    #[test]
    fn streamed_bytes_equal_the_whole(raw in raw(), budget in -1_i64..200, size in 1_usize..400) {
        let mut view = View::new(budget);
        raw.chunks(size).for_each(|piece| view.push(piece));
        let whole = String::from_utf8_lossy(&raw);
        prop_assert_eq!(essence(view.finish()), essence(expected(&whole, budget)));
    }

    #[test]
    fn a_measured_middle_changes_nothing(raw in raw(), budget in 0_i64..20, size in 1_usize..40, at in any::<prop::sample::Index>()) {
        let mut view = View::new(budget);
        let mut start = 0;
        while !view.head_is_full() && start < raw.len() {
            let end = raw.len().min(start + size);
            view.push(&raw[start..end]);
            start = end;
        }
        let spare = raw.len().saturating_sub(start + view.tail_bytes());
        if view.head_is_full() && spare > 0 {
            let end = start + at.index(spare + 1);
            let mut measure = Measure::with_pending(view.pending());
            measure.push(&raw[start..end]);
            view.skip(&measure.measured(), measure.pending());
            start = end;
        }
        view.push(&raw[start..]);
        let whole = String::from_utf8_lossy(&raw);
        prop_assert_eq!(essence(view.finish()), essence(expected(&whole, budget)));
    }

    #[test]
    fn an_open_view_hands_back_the_carry(raw in raw(), more in raw(), budget in 0_i64..100) {
        let mut first = View::new(budget);
        first.push(&raw);
        let (shown, pending) = first.finish_open();
        let decided = String::from_utf8_lossy(&raw[..raw.len() - pending.len()]);
        prop_assert_eq!(essence(shown), essence(expected(&decided, budget)));

        let mut second = View::continuing(budget, &pending);
        second.push(&more);
        let rest = [pending, more].concat();
        prop_assert_eq!(essence(second.finish()), essence(expected(&String::from_utf8_lossy(&rest), budget)));
    }

    #[test]
    fn too_little_after_a_gap_still_counts_exactly(text in text(), gap in 1_u64..1_000, budget in 0_i64..100) {
        let mut stream = HeadTail::new(budget);
        let skipped = Measured { bytes: gap, ..Measured::of("x") };
        stream.skip(&skipped);
        stream.push(&text);
        let truncated = stream.finish();
        prop_assert!(truncated.text.len() as u64 <= bytes_of_tokens(budget));
        prop_assert_eq!(truncated.original_tokens, Some(tokens_of_bytes(gap + text.len() as u64)));
    }
}
