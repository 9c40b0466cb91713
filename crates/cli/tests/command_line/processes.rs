//! Processes that outlive the command that started them: `start`, `write`, `collect` and what goes with them.

use std::io::Read as _;

use crate::support::{Home, bytes_of, eventually, marker, process_of, processes_with};
use serde_json::{Value, json};

#[test]
fn a_start_answers_with_everything_that_is_promised() {
    let home = Home::new();
    let id = home.sandbox();
    let update = home.json(&["start", &id, "-c", "printf 'h\\303\\251'; exit 3"]);
    assert_eq!(update["process"], Value::Null, "its end is reported");
    assert_eq!((&update["output"], bytes_of(&update, "output_b64")), (&json!("hé"), "hé".as_bytes().to_vec()));
    assert_eq!((&update["cursor"], &update["omitted_bytes"], &update["lost_bytes"]), (&json!(3), &json!(0), &json!(0)));
    assert_eq!((&update["exit_code"], &update["end"]), (&json!(3), &json!({"kind": "exited", "code": 3})));
    assert_eq!((&update["original_token_count"], &update["echo"]), (&Value::Null, &Value::Null));
    assert_eq!(
        (&update["waiting_for_input"], &update["descendants_alive"], &update["reason"]),
        (&json!(false), &json!(false), &json!("exit"))
    );
}

#[test]
fn a_conversation_with_a_terminal() {
    let home = Home::new();
    let id = home.sandbox();
    let start = home.json(&["start", &id, "--terminal", "--rows", "30", "--cols", "100", "--until", "input", "-c", "stty size; exec cat"]);
    let process = process_of(&start);
    assert_eq!((&start["output"], &start["waiting_for_input"], &start["echo"]), (&json!("30 100\r\n"), &json!(true), &json!(true)));

    let answer = home.json(&["write", &id, &process, "--window", "20000", "--until", "bytes:12", "h\u{e9}\\n\n"]);
    assert_eq!(answer["output"], "hé\\n\r\nhé\\n\r\n", "a backslash is a backslash");
    assert_eq!(answer["written"], json!({"accepted": 6, "line_too_long": false, "repeated": false}));

    home.ok(&["resize", &id, &process, "40", "120"]);
    assert_eq!(home.json(&["ps", &id])[0]["terminal"], json!({"rows": 40, "columns": 120}));

    let last = home.json(&["write", &id, &process, "--keys", "--window", "20000", "--until", "exit", "ctrl-c"]);
    assert_eq!((&last["process"], &last["end"]["kind"], &last["exit_code"]), (&Value::Null, &json!("signalled"), &json!(130)));
    let whole = home.json(&["collect", &id, &process, "--cursor", "0"]);
    assert_eq!(whole["output"], "30 100\r\nhé\\n\r\nhé\\n\r\n^C", "it stays readable");
}

#[test]
fn collects_go_on_where_the_last_one_ended_and_can_go_back() {
    let home = Home::new();
    let id = home.sandbox();
    let process = process_of(&home.json(&["start", &id, "--stdin", "--window", "0", "--", "cat"]));
    let one = home.json(&["write", &id, &process, "--window", "20000", "--until", "bytes:4", "one\n"]);
    let two = home.json(&["write", &id, &process, "--window", "20000", "--until", "bytes:4", "two\n"]);
    assert_eq!((&one["output"], &two["output"]), (&json!("one\n"), &json!("two\n")));
    let again = home.json(&["collect", &id, &process, "--cursor", one["cursor"].as_u64().unwrap().to_string().as_str(), "--window", "0"]);
    assert_eq!(again["output"], "two\n");
    home.ok(&["close-stdin", &id, &process]);
    let end = home.json(&["collect", &id, &process, "--window", "20000"]);
    assert_eq!((&end["output"], &end["exit_code"]), (&json!(""), &json!(0)));
    let (code, error) = home.error(&["write", &id, &process, "more"]);
    assert_eq!((code, &error["code"]), (125, &json!("process_ended")));
}

#[test]
fn each_condition_ends_a_wait() {
    let home = Home::new();
    let id = home.sandbox();
    let text = "printf 'one\\ntwo\\n'; read line; echo got $line; exec sleep 300";
    for (until, reason) in
        [("text:two", "text"), ("regex:^tw.$", "regex"), ("bytes:8", "bytes"), ("silent:100", "silent"), ("input", "input")]
    {
        let update = home.json(&["start", &id, "--stdin", "--window", "20000", "--until", until, "-c", text]);
        assert_eq!((&update["reason"], &update["output"]), (&json!(reason), &json!("one\ntwo\n")), "{until}");
        home.ok(&["kill", &id, &process_of(&update)]);
    }
    let (code, error) = home.error(&["start", &id, "--until", "regex:(", "--", "true"]);
    assert_eq!((code, &error["code"]), (125, &json!("invalid_argument")));
    assert_eq!(home.json(&["ps", &id]).as_array().unwrap().len(), 5, "nothing was started for it");
    let (code, error) = home.error(&["start", &id, "--until", "sometime", "--", "true"]);
    assert_eq!((code, &error["code"]), (2, &json!("invalid_argument")));
}

#[test]
fn a_budget_bounds_the_text_and_counts_the_rest() {
    let home = Home::new();
    let id = home.sandbox();
    let update = home.json(&["start", &id, "--budget", "100", "--window", "20000", "-c", "yes 0123456789 | head -n 100000"]);
    let output = update["output"].as_str().unwrap();
    assert!(output.len() < 1_000 && output.contains("truncated"), "{output}");
    assert_eq!(update["original_token_count"], json!(1_100_000 / 4));
    assert!(update["omitted_bytes"].as_u64().unwrap() > 1_000_000, "{update}");
    assert_eq!(bytes_of(&update, "output_b64"), output.as_bytes());
}

#[test]
fn much_input_from_ours_is_written_whole() {
    let home = Home::new();
    let id = home.sandbox();
    let process = process_of(&home.json(&["start", &id, "--stdin", "--window", "0", "--", "wc", "-c"]));
    let input = vec![b'x'; 5_000_000];
    let output = home.run_with_input(&["--json", "write", &id, &process, "--window", "0", "-"], &input);
    let update: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(update["written"]["accepted"], json!(5_000_000));
    home.ok(&["close-stdin", &id, &process]);
    assert_eq!(home.json(&["collect", &id, &process, "--window", "20000", "--until", "exit"])["output"], "5000000\n");
}

#[test]
fn a_kill_reaches_the_tree_and_a_signal_only_its_aim() {
    let home = Home::new();
    let id = home.sandbox();
    let sleep = marker();
    let text = format!("setsid sh -c 'sleep {sleep} & sleep {sleep}' & echo ready; sleep {sleep}; sleep {sleep}");
    let process = process_of(&home.json(&["start", &id, "--window", "20000", "--until", "text:ready", "-c", &text]));
    eventually("all run", || processes_with(&sleep).len() >= 4);
    let killed = home.json(&["kill", &id, &process, "--tree"]);
    assert_eq!((&killed["end"]["kind"], &killed["complete"]), (&json!("cancelled"), &json!(true)));
    assert_eq!(processes_with(&sleep), Vec::<u32>::new());

    let text = "trap 'echo caught' USR1; echo ready; while :; do sleep 0.05; done";
    let process = process_of(&home.json(&["start", &id, "--window", "20000", "--until", "text:ready", "-c", text]));
    home.ok(&["kill", &id, &process, "--signal", "SIGUSR1"]);
    home.wait_for(&id, &process, "caught");
    home.ok(&["kill", &id, &process, "--group"]);
    let end = home.json(&["collect", &id, &process, "--window", "20000", "--until", "exit"]);
    assert_eq!((&end["end"]["kind"], &end["exit_code"]), (&json!("signalled"), &json!(143)));
    let (code, error) = home.error(&["kill", &id, &process, "--signal", "NOPE"]);
    assert_eq!((code, &error["code"]), (2, &json!("invalid_argument")));
}

#[test]
fn a_process_outlives_the_one_who_started_it_and_its_log_is_there() {
    let home = Home::new();
    let id = home.sandbox();
    let text = "printf 'r\\033[31med\\033[0m \\303'; printf 'err' >&2; printf '\\251\\377\\n'";
    home.json(&["start", &id, "--window", "20000", "-c", text]);
    let process = home.json(&["ps", &id])[0]["process"].as_u64().unwrap().to_string();
    let raw = home.run(&["logs", &id, &process, "--raw", "--stream", "stdout"]);
    assert_eq!(raw.stdout, b"r\x1b[31med\x1b[0m \xc3\xa9\xff\n");
    assert_eq!(home.run(&["logs", &id, &process, "--raw", "--stream", "stderr"]).stdout, b"err");
    assert_eq!(home.ok(&["logs", &id, &process, "--stream", "stdout"]), "red é\u{fffd}\n");
    let tail = home.run(&["logs", &id, &process, "--raw", "--from", "12"]).stdout;
    let whole = home.run(&["logs", &id, &process, "--raw"]).stdout;
    assert_eq!((whole.len(), &*tail), (20, &whole[12..]));
    let lines = home.ok(&["--json", "logs", &id, &process, "--follow"]);
    let documents: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.last().unwrap(), &json!({"next": 20, "end": {"kind": "exited", "code": 0}}));
}

#[test]
fn a_follow_shows_what_comes_until_the_end() {
    let home = Home::new();
    let id = home.sandbox();
    let process = process_of(&home.json(&["start", &id, "--stdin", "--window", "0", "--", "cat"]));
    let mut child = home.command(&["logs", &id, &process, "--follow"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    for text in ["one\n", "two\n"] {
        home.json(&["write", &id, &process, "--window", "0", text]);
        let mut read = vec![0; text.len()];
        stdout.read_exact(&mut read).unwrap();
        assert_eq!(read, text.as_bytes());
    }
    home.ok(&["close-stdin", &id, &process]);
    assert!(child.wait().unwrap().success());
}

#[test]
fn wrong_input_is_refused_by_name_and_changes_nothing() {
    let home = Home::new();
    let id = home.sandbox();
    let process = process_of(&home.json(&["start", &id, "--window", "0", "--", "sleep", "300"]));
    let cases: [(&[&str], i32, &str); 9] = [
        (&["collect", "nobody", &process], 125, "sandbox_not_found"),
        (&["collect", &id, "99"], 125, "pty_session_not_found"),
        (&["write", &id, &process, "text"], 125, "stdin_closed"),
        (&["close-stdin", &id, "99"], 125, "pty_session_not_found"),
        (&["resize", &id, &process, "24", "80"], 125, "not_a_terminal"),
        (&["resize", &id, &process, "0", "80"], 2, "invalid_argument"),
        (&["collect", &id, &process, "--cursor", "1000000"], 125, "invalid_argument"),
        (&["write", &id, &process, "--keys", "no-such-key"], 125, "invalid_argument"),
        (&["attach", &id, &process], 125, "not_a_terminal"),
    ];
    for (arguments, exit, code) in cases {
        let (status, error) = home.error(arguments);
        assert_eq!((status, error["code"].as_str()), (exit, Some(code)), "{arguments:?}: {error}");
    }
    let running = home.json(&["ps", &id]);
    assert_eq!((running.as_array().unwrap().len(), &running[0]["end"], &running[0]["output_bytes"]), (1, &Value::Null, &json!(0)));
}

#[test]
fn without_json_output_goes_to_stdout_and_the_rest_to_stderr() {
    let home = Home::new();
    let id = home.sandbox();
    let output = home.run(&["start", &id, "--window", "20000", "--until", "text:hello", "-c", "echo hello; exec sleep 300"]);
    assert_eq!(output.stdout, b"hello\n");
    let process = home.json(&["ps", &id])[0]["process"].to_string();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("[process {process} runs; cursor 6]\n"));
    let listing = home.ok(&["ps", &id]);
    let cells: Vec<_> = listing.lines().nth(1).unwrap().split('\t').collect();
    assert_eq!((cells[0], cells[3], cells[4]), (&*process, "6 B", "runs"));
}
