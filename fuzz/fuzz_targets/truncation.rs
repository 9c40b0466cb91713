//! A streamed view shows what truncating the whole text shows, within its budget.
#![no_main]

use arbitrary::Arbitrary;
use crannog_core::truncation::{View, bytes_of_tokens, truncate};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    budget_tokens: i16,
    pieces: Vec<Vec<u8>>,
}

fuzz_target!(|input: Input| {
    let budget_tokens = i64::from(input.budget_tokens);
    let mut view = View::new(budget_tokens);
    input.pieces.iter().for_each(|piece| view.push(piece));
    let shown = view.finish();

    let whole = input.pieces.concat();
    let text = String::from_utf8_lossy(&whole);
    let (expected, original_tokens) = truncate(&text, Some(budget_tokens));
    assert_eq!(shown.text, expected);
    assert_eq!(shown.original_tokens, original_tokens);
    assert_eq!(shown.total.bytes, text.len() as u64);
    assert!(shown.text.len() as u64 <= bytes_of_tokens(budget_tokens));
});
