//! Whatever the bytes and wherever they are cut: the streamed text is that of the whole, and measuring agrees with it.
#![no_main]

use crannog_core::lines;
use crannog_core::utf8::{Decoder, Measure, incomplete_suffix_len};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|pieces: Vec<Vec<u8>>| {
    let (mut decoder, mut measure, mut text) = (Decoder::new(), Measure::new(), String::new());
    for piece in &pieces {
        decoder.decode(piece, &mut text);
        measure.push(piece);
    }
    let whole = pieces.concat();
    assert_eq!(decoder.pending(), &whole[whole.len() - incomplete_suffix_len(&whole)..]);
    decoder.finish(&mut text);
    assert_eq!(text, String::from_utf8_lossy(&whole));
    let measured = measure.finish();
    assert_eq!((measured.bytes, measured.lines.lines()), (text.len() as u64, lines::count(&text)));
});
