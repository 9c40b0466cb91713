//! Screens and recordings through the whole way: client, socket, engine, kernel.

use crannog_core::collect::Until;
use crannog_core::error::ErrorCode;
use crannog_core::process::{Connection, StartSpec, TerminalSize};
use crannog_core::screen::{RecordingState, ScreenRequest};

use crate::support::{TestGuest, collect, shell};

fn on_terminal(text: &str) -> StartSpec {
    StartSpec { connection: Connection::Terminal(TerminalSize { rows: 5, columns: 20 }), record: true, ..shell(text) }
}

#[tokio::test]
async fn a_screen_and_its_recording_outlive_the_process() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let update = client.start(on_terminal(r"printf 'one\rtwo\033[3;4Hthree'"), Some(collect(0, Until::Exit))).await.unwrap();
    let screen = client.screen(update.process, ScreenRequest::default()).await.unwrap();
    let rows: Vec<_> = screen.rows.iter().map(|row| row.text.as_str()).collect();
    assert_eq!((rows.as_slice(), screen.cursor.column, screen.end), (&["two", "", "   three", "", ""][..], 8, update.end));
    let part = client.recording(update.process, 0, 1_000_000).await.unwrap();
    assert_eq!((part.state, part.total), (RecordingState::Complete, part.bytes.len() as u64));
    assert!(part.bytes.ends_with(b"\"x\",\"0\"]\n"));
    let rest = client.recording(update.process, part.total - 3, 1_000).await.unwrap();
    assert_eq!(rest.bytes, b"\"]\n");
}

#[tokio::test]
async fn a_program_that_asks_is_answered_over_the_wire_too() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let text = r"stty raw -echo; printf '\033[c'; head -c 9 | od -An -c; stty sane";
    let update = client.start(on_terminal(text), Some(collect(0, Until::Exit))).await.unwrap();
    assert!(update.text.contains("?   6   2   ;"), "{}", update.text);
    let plain = client.start(shell("true"), Some(collect(0, Until::Exit))).await.unwrap();
    let refused = client.screen(plain.process, ScreenRequest::default()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::NotATerminal);
    let refused = client.recording(plain.process, 0, 1).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::NotRecorded);
}
