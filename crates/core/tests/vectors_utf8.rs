//! The carry rule and the lossy decoder against the recorded behaviour, and both against the standard library.
#![allow(clippy::unwrap_used, missing_docs)]

use crannog_core::lines;
use crannog_core::utf8::{Decoder, Measure, Measured, incomplete_suffix_len};
use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/utf8_carry.json")).unwrap()
}

fn bytes_of(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().unwrap();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn carry(bytes: &[u8]) -> u8 {
    u8::try_from(incomplete_suffix_len(bytes)).unwrap()
}

#[test]
fn carry_cases() {
    let vectors = vectors();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 173);
    for case in cases {
        assert_eq!(u64::from(carry(&bytes_of(&case["hex"]))), case["carry"].as_u64().unwrap(), "{case}");
    }
}

#[test]
fn carry_of_every_one_and_two_byte_string() {
    let mut digest = Sha256::new();
    (0..=255).for_each(|byte| digest.update([carry(&[byte])]));
    for first in 0..=255 {
        (0..=255).for_each(|second| digest.update([carry(&[first, second])]));
    }
    assert_eq!(hex_of(&digest.finalize()), vectors()["exhaustive"]["one_and_two_byte_sha256"].as_str().unwrap());
}

#[test]
fn carry_of_every_longer_string_over_the_class_alphabet() {
    let exhaustive = &vectors()["exhaustive"];
    let alphabet = bytes_of(&exhaustive["class_alphabet_hex"]);
    let (mut of_three, mut of_four) = (Sha256::new(), Sha256::new());
    for first in &alphabet {
        for second in &alphabet {
            for third in &alphabet {
                of_three.update([carry(&[*first, *second, *third])]);
                for fourth in &alphabet {
                    of_four.update([carry(&[*first, *second, *third, *fourth])]);
                }
            }
        }
    }
    assert_eq!(hex_of(&of_three.finalize()), exhaustive["class_three_byte_sha256"].as_str().unwrap());
    assert_eq!(hex_of(&of_four.finalize()), exhaustive["class_four_byte_sha256"].as_str().unwrap());
}

#[test]
fn decode_cases_at_every_split() {
    let vectors = vectors();
    let cases = vectors["decode_replace"].as_array().unwrap();
    assert_eq!(cases.len(), 24);
    for case in cases {
        let bytes = bytes_of(&case["hex"]);
        let expected: Vec<&str> = case["utf8_replace_codepoints"].as_array().unwrap().iter().map(|point| point.as_str().unwrap()).collect();
        for cut in 0..=bytes.len() {
            let text = decode([&bytes[..cut], &bytes[cut..]]);
            let points: Vec<String> = text.chars().map(|scalar| format!("U+{:04X}", u32::from(scalar))).collect();
            assert_eq!(points, expected, "{case} cut at {cut}");
        }
    }
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let (mut decoder, mut text) = (Decoder::new(), String::new());
    pieces.into_iter().for_each(|piece| decoder.decode(piece, &mut text));
    decoder.finish(&mut text);
    text
}

/// Bytes in which well-formed, broken and incomplete sequences are all frequent.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        any::<char>().prop_map(|scalar| scalar.to_string().into_bytes()),
        any::<char>().prop_map(|scalar| scalar.to_string().bytes().take(2).collect()),
        prop::sample::select(b"\x00A\x7F\x80\x85\x8F\x90\x9F\xA0\xA8\xBF\xC0\xC2\xDF\xE0\xE1\xE2\xED\xEF\xF0\xF4\xF5\xFF\r\n".as_slice())
            .prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    ends.iter().scan(0, |start, end| Some(&bytes[std::mem::replace(start, *end)..*end])).collect()
}

proptest! {
    #[test]
    fn decoding_never_depends_on_the_split(bytes in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        prop_assert_eq!(decode(pieces(&bytes, &cuts)), String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn what_is_pending_is_the_carry(bytes in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let (mut decoder, mut measure) = (Decoder::new(), Measure::new());
        for piece in pieces(&bytes, &cuts) {
            decoder.decode(piece, &mut String::new());
            measure.push(piece);
        }
        let carried = &bytes[bytes.len() - incomplete_suffix_len(&bytes)..];
        prop_assert_eq!(decoder.pending(), carried);
        prop_assert_eq!(measure.pending(), carried);
        prop_assert_eq!(Decoder::with_pending(&bytes), Decoder::with_pending(carried));
    }

    #[test]
    fn measuring_agrees_with_decoding_after_every_piece(bytes in stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let (mut decoder, mut measure, mut text) = (Decoder::new(), Measure::new(), String::new());
        for piece in pieces(&bytes, &cuts) {
            decoder.decode(piece, &mut text);
            measure.push(piece);
            let measured = measure.measured();
            prop_assert_eq!((measured.bytes, measured.lines.lines()), (text.len() as u64, lines::count(&text)));
        }
        decoder.finish(&mut text);
        let measured = measure.finish();
        prop_assert_eq!((measured.bytes, measured.lines.lines()), (text.len() as u64, lines::count(&text)));
    }

    #[test]
    fn parts_measured_apart_add_up(bytes in stream(), cut in any::<prop::sample::Index>()) {
        let (left, right) = bytes.split_at(cut.index(bytes.len() + 1));
        let mut first = Measure::new();
        first.push(left);
        let mut second = Measure::with_pending(first.pending());
        second.push(right);
        let mut total = first.measured();
        total.append(&second.finish());
        let text = String::from_utf8_lossy(&bytes);
        prop_assert_eq!((total.bytes, total.lines.lines()), (text.len() as u64, lines::count(&text)));
        prop_assert_eq!(Measured::of(&text).lines.lines(), total.lines.lines());
    }
}
