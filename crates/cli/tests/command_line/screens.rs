//! What terminals show, and their recordings.

use crate::support::{Home, process_of};
use serde_json::{Value, json};

#[test]
fn a_screen_is_shown_as_text_and_as_changes() {
    let home = Home::new();
    let id = home.sandbox();
    let text = r"seq 40; printf '\033[2;3Hhere\033]2;title\007\033[20;1H'; exec cat";
    let process = process_of(&home.json(&["start", &id, "--terminal", "--until", "input", "-c", text]));
    let screen = home.json(&["screen", &id, &process, "--scrollback", "2"]);
    assert_eq!(
        (&screen["rows"][1], &screen["title"], &screen["alternate"]),
        (&json!({"row": 1, "text": "19here"}), &json!("title"), &json!(false))
    );
    assert_eq!(screen["cursor"], json!({"row": 19, "column": 0, "visible": true}));
    assert_eq!((&screen["scrollback"], &screen["scrollback_total"]), (&json!(["16", "17"]), &json!(17)));
    let plain = home.ok(&["screen", &id, &process]);
    assert!(plain.starts_with("18\n19here\n20\n") && plain.lines().count() == 24, "{plain}");

    home.json(&["write", &id, &process, "--window", "20000", "--until", "bytes:14", "\x1b[Kmore\n"]);
    let version = screen["version"].as_u64().unwrap().to_string();
    let changes = home.json(&["screen", &id, &process, "--since", &version]);
    let rows: Vec<_> = changes["rows"].as_array().unwrap().iter().map(|row| row["row"].as_u64().unwrap()).collect();
    assert_eq!(rows, [19, 20]);
    let (code, error) = home.error(&["screen", &id, "99"]);
    assert_eq!((code, &error["code"]), (125, &json!("pty_session_not_found")));
}

#[test]
fn a_recording_is_fetched_and_replayed() {
    let home = Home::new();
    let id = home.sandbox();
    let text = r"printf '\033[1mbold\033[0m h\303\251\033[6n\n'; read -r line; exit 4";
    let start = home.json(&["start", &id, "--terminal", "--record", "--until", "input", "-c", text]);
    let process = process_of(&start);
    home.json(&["write", &id, &process, "--window", "20000", "--until", "exit", "typed\n"]);

    let cast = home.ok(&["recording", &id, &process]);
    let lines: Vec<Value> = cast.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["version"], &lines[0]["term"]), (&json!(3), &json!({"cols": 80, "rows": 24})));
    let last = lines.last().unwrap();
    assert_eq!((&last[1], &last[2]), (&json!("x"), &json!("4")));
    assert!(lines.iter().any(|line| line[1] == "i" && line[2] == "typed\n"), "{cast}");

    let file = home.path().join("one.cast");
    let file = file.to_str().unwrap();
    let document = home.json(&["recording", &id, &process, "-o", file]);
    assert_eq!((&document["state"], &document["bytes"]), (&json!("complete"), &json!(cast.len())));
    assert_eq!(std::fs::read_to_string(file).unwrap(), cast);
    assert_eq!(home.ok(&["replay", file]), "bold h\u{e9}\r\ntyped\r\n", "the text alone, since nobody watches");
    let piped = home.run_with_input(&["replay", "--text", "-"], cast.as_bytes());
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), "bold h\u{e9}\r\ntyped\r\n");

    let (code, error) = home.error(&["replay", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    assert_eq!((code, &error["code"]), (125, &json!("invalid_argument")));
    let plain = process_of(&home.json(&["start", &id, "--terminal", "--window", "0", "--", "cat"]));
    let (code, error) = home.error(&["recording", &id, &plain]);
    assert_eq!((code, &error["code"]), (125, &json!("not_recorded")));
}
