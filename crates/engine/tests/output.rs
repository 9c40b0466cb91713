//! What a process printed, all of it, once, in order, and before its end is told. One engine per process: see `support`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::format_collect)]

mod support;

use std::time::{Duration, Instant};

use crannog_core::collect::{Collect, Until};
use crannog_core::process::Stream;
use support::{SpecExt, argv, bash, exited, run, until, until_text, window};

#[test]
fn a_short_command_gives_its_output_and_code() {
    run(async |sandbox| {
        let update = sandbox.finish(bash("echo hello; echo oops >&2; exit 7")).await;
        assert_eq!((update.text.as_str(), update.end), ("hello\noops\n", exited(7)));
        let update = sandbox.finish(bash("printf 'a\\nb\\n'").on_terminal()).await;
        assert_eq!((update.text.as_str(), update.end), ("a\r\nb\r\n", exited(0)));
    });
}

#[test]
fn the_last_line_of_a_long_listing_is_there() {
    run(async |sandbox| {
        let update = sandbox.finish(argv(&["seq", "1", "200000"]).on_terminal()).await;
        assert_eq!((update.raw.len(), update.end), (1_488_895, exited(0)));
        assert!(update.text.ends_with("\r\n200000\r\n"));
        let process = sandbox.engine.start(argv(&["seq", "1", "100000"])).unwrap();
        let cut = sandbox.collect(process, Collect { budget: Some(500), ..until(Until::Exit) }).await;
        assert!(cut.text.contains("\n1\n2\n") && cut.text.ends_with("100000\n"), "{}", cut.text);
        assert_eq!(cut.original_token_count, Some(588_895_u64.div_ceil(4)));
        assert_eq!(cut.cursor, 588_895);
    });
}

#[test]
fn nothing_is_missing_when_a_thousand_end_at_once() {
    run(async |sandbox| {
        for _ in 0..20 {
            let processes: Vec<_> = (0..50)
                .map(|number| {
                    let spec = argv(&["echo", "marker-xyz"]);
                    sandbox.engine.start(if number % 2 == 0 { spec.on_terminal() } else { spec }).unwrap()
                })
                .collect();
            for process in processes {
                let update = sandbox.end_of(process).await;
                assert_eq!((update.text.trim_end(), update.end), ("marker-xyz", exited(0)));
            }
        }
    });
}

#[test]
fn no_output_comes_after_the_end_was_told() {
    run(async |sandbox| {
        let expected: String = (1..=20_000).map(|number| format!("{number}\r\n")).collect();
        for _ in 0..20 {
            let process = sandbox.engine.start(argv(&["seq", "1", "20000"]).on_terminal()).unwrap();
            let mut joined = String::new();
            loop {
                let update = sandbox.collect(process, window(5)).await;
                joined.push_str(&update.text);
                if update.end.is_some() {
                    break;
                }
            }
            assert!(joined == expected, "{} bytes", joined.len());
            assert_eq!(sandbox.collect(process, window(0)).await.text, "");
        }
    });
}

#[test]
fn a_character_in_pieces_is_shown_once_and_whole() {
    run(async |sandbox| {
        for on_terminal in [true, false] {
            let spec =
                argv(&["python3", "-c", "import os,time\nfor b in b'\\xf0\\x9f\\x98\\x80\\n':\n os.write(1,bytes([b])); time.sleep(0.1)"]);
            let process = sandbox.engine.start(if on_terminal { spec.on_terminal() } else { spec }).unwrap();
            let mut texts = Vec::new();
            loop {
                let update = sandbox.collect(process, window(30)).await;
                texts.push(update.text);
                if update.end.is_some() {
                    break;
                }
            }
            assert_eq!(texts.concat(), if on_terminal { "😀\r\n" } else { "😀\n" });
            assert!(texts.iter().filter(|text| text.contains('😀')).count() == 1);
        }
    });
}

#[test]
fn a_stream_that_ends_inside_a_character_does_not_keep_it() {
    run(async |sandbox| {
        for spec in [bash("printf 'ok\\344\\270'"), bash("printf 'ok\\344\\270'").on_terminal()] {
            let started = Instant::now();
            let update = sandbox.finish(spec).await;
            assert_eq!((update.text.as_str(), update.raw.as_slice()), ("ok\u{fffd}", b"ok\xe4\xb8".as_slice()));
            assert!(started.elapsed() < Duration::from_secs(1));
        }
    });
}

#[test]
fn the_streams_are_kept_apart_and_merged() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("for i in 1 2 3; do echo o$i; sleep 0.02; echo e$i >&2; sleep 0.02; done")).unwrap();
        let gathered = sandbox.engine.gather(process, 1 << 20).await.unwrap();
        assert_eq!((gathered.stdout.as_slice(), gathered.stderr.as_slice()), (b"o1\no2\no3\n".as_slice(), b"e1\ne2\ne3\n".as_slice()));
        assert_eq!(sandbox.end_of(process).await.text, "o1\ne1\no2\ne2\no3\ne3\n");
        let errors = sandbox.engine.read(process, 0, 1 << 20, Some(Stream::Stderr)).await.unwrap();
        let places: Vec<_> = errors.parts.iter().map(|part| (part.offset, part.bytes.as_slice())).collect();
        assert_eq!(places, [(3, b"e1\n".as_slice()), (9, b"e2\n"), (15, b"e3\n")]);
        assert_eq!((errors.next, errors.total, errors.end), (18, 18, exited(0)));
    });
}

#[test]
fn a_million_tiny_writes_are_no_burden() {
    run(async |sandbox| {
        let update = sandbox.finish(argv(&["python3", "-c", "import os\nfor i in range(200000): os.write(1 + i % 2, b'.')"])).await;
        assert_eq!((update.raw.len(), update.end), (200_000, exited(0)));
    });
}

#[test]
fn a_reader_keeps_its_own_cursor() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("echo one; read x; echo two").with_input()).unwrap();
        let first = sandbox.collect(process, until_text("one\n")).await;
        let again = sandbox.collect(process, Collect { cursor: Some(0), ..window(0) }).await;
        assert_eq!((first.text.as_str(), again.text.as_str()), ("one\n", "one\n"));
        sandbox.write(process, "\n").await;
        sandbox.collect(process, until(Until::Exit)).await;
        let since = sandbox.collect(process, Collect { cursor: Some(first.cursor), ..window(0) }).await;
        assert_eq!(since.text, "two\n");
        let beyond = sandbox.engine.collect(process, Collect { cursor: Some(1000), ..window(0) }).await;
        assert_eq!(beyond.unwrap_err().code().as_str(), "invalid_argument");
    });
}

#[test]
fn a_dropped_collect_loses_nothing() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("for i in $(seq 1 40); do echo line$i; sleep 0.02; done").on_terminal()).unwrap();
        for _ in 0..5 {
            let dropped = tokio::time::timeout(Duration::from_millis(100), sandbox.engine.collect(process, window(20_000))).await;
            assert!(dropped.is_err());
        }
        let mut joined = String::new();
        loop {
            let update = sandbox.collect(process, window(300)).await;
            joined.push_str(&update.text);
            if update.end.is_some() {
                break;
            }
        }
        assert_eq!(joined, (1..=40).map(|number| format!("line{number}\r\n")).collect::<String>());
    });
}

#[test]
fn what_is_binary_stays_readable_as_bytes() {
    run(async |sandbox| {
        let update = sandbox.finish(bash("printf 'a\\000b\\355\\240\\200caf\\351 \\360\\237\\224\\215\\n'")).await;
        assert_eq!(update.raw, b"a\0b\xed\xa0\x80caf\xe9 \xf0\x9f\x94\x8d\n");
        assert_eq!(update.text, String::from_utf8_lossy(&update.raw));
    });
}
