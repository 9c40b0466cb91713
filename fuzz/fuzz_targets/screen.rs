//! Whatever a program prints, at any size and however it is cut: the emulator answers or says that it failed. Nothing is torn down.
#![no_main]

use crannog_core::process::TerminalSize;
use crannog_engine::Emulator;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, Vec<Vec<u8>>)| {
    let (rows, columns, pieces) = input;
    let mut emulator = Emulator::new(TerminalSize { rows: u16::from(rows).max(1), columns: u16::from(columns).max(1) });
    for piece in &pieces {
        if emulator.feed(piece).is_err() {
            return;
        }
    }
    let Ok(shown) = emulator.rows() else { return };
    assert_eq!(shown.len(), usize::from(rows.max(1)));
    let kept = emulator.scrollback_len();
    assert!(emulator.scrollback(0, usize::MAX).is_ok_and(|lines| lines.len() == kept));
});
