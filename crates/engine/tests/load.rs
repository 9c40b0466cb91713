//! Floods, crowds and idleness: what is bounded stays bounded, and nobody starves. One engine per process: see `support`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::format_collect)]

mod support;

use std::time::{Duration, Instant};

use crannog_core::collect::{Collect, Until};
use crannog_core::limits;
use crannog_core::process::StartSpec;
use support::{SpecExt, argv, bash, eventually, exited, resident_bytes, run_with, until, window};

const SECOND: Duration = Duration::from_secs(1);
const MIB: u64 = 1024 * 1024;

fn brief(window_ms: u64) -> Collect {
    Collect { budget: Some(200), ..window(window_ms) }
}

#[test]
fn a_flood_is_bounded_counted_and_easily_stopped() {
    run_with(
        |config| config.spill_bytes = 4 * MIB,
        async |sandbox| {
            let before = resident_bytes();
            let process = sandbox.engine.start(bash("head -c 60000000 /dev/zero | tr '\\0' 'x'; echo; echo LAST")).unwrap();
            let update = sandbox.collect(process, Collect { budget: Some(200), ..until(Until::Exit) }).await;
            let total = 60_000_000 + 6;
            assert_eq!((update.end, update.cursor), (exited(0), total));
            assert!(update.text.ends_with("LAST\n") && update.text.len() < 1200, "{}", update.text.len());
            assert_eq!(update.original_token_count, Some(total.div_ceil(4)));
            let kept = limits::TRANSCRIPT_HEAD_BYTES as u64 + 4 * MIB;
            let tail = total - update.lost_bytes - kept;
            assert!(tail <= limits::TRANSCRIPT_TAIL_BYTES as u64 && tail > 256 * 1024, "{tail}");
            assert!(resident_bytes() < before + 16 * MIB);
            let flood = sandbox.engine.start(argv(&["yes"]).on_terminal()).unwrap();
            eventually("it floods", || sandbox.engine.info(flood).unwrap().output_bytes > MIB).await;
            let started = Instant::now();
            assert!(sandbox.engine.kill(flood, SECOND).await.unwrap().complete);
            assert!(started.elapsed() < SECOND);
        },
    );
}

#[test]
fn ten_floods_leave_room_for_others() {
    run_with(
        |config| config.spill_bytes = MIB,
        async |sandbox| {
            let before = resident_bytes();
            let spec = |number: u32| if number.is_multiple_of(2) { argv(&["yes"]).on_terminal() } else { argv(&["yes"]) };
            let floods: Vec<_> = (0..10).map(|number| sandbox.engine.start(spec(number)).unwrap()).collect();
            for flood in &floods {
                let started = Instant::now();
                let update = sandbox.collect(*flood, brief(100)).await;
                assert!(update.text.len() < 1200 && !update.text.is_empty());
                assert!(started.elapsed() < 1500 * SECOND / 1000, "a poll took {:?}", started.elapsed());
                let started = Instant::now();
                assert_eq!(sandbox.finish(argv(&["echo", "ok"])).await.text, "ok\n");
                assert!(started.elapsed() < 2 * SECOND, "a command took {:?}", started.elapsed());
            }
            assert!(resident_bytes() < before + 64 * MIB, "{} MiB more", (resident_bytes() - before) / MIB);
            let started = Instant::now();
            for flood in floods {
                assert!(sandbox.engine.kill(flood, SECOND).await.unwrap().complete);
            }
            assert!(started.elapsed() < 5 * SECOND);
        },
    );
}

#[test]
fn many_idle_terminals_cost_little() {
    run_with(
        |config| config.processes_live_max = 200,
        async |sandbox| {
            let (memory, descriptors) = (resident_bytes(), support::descriptors());
            let processes: Vec<_> = (0..200).map(|_| sandbox.engine.start(argv(&["cat"]).on_terminal()).unwrap()).collect();
            let update = sandbox.collect(processes[199], window(100)).await;
            assert!(update.end.is_none());
            let each = resident_bytes().saturating_sub(memory) / 200;
            assert!(each <= 64 * 1024, "{each} bytes each");
            assert!(support::descriptors() - descriptors <= 201, "{}", support::descriptors() - descriptors);
            let refused = sandbox.engine.start(argv(&["true"])).unwrap_err();
            assert_eq!(refused.code().as_str(), "process_limit_reached");
            let rest = cpu_ticks();
            tokio::time::sleep(SECOND / 2).await;
            assert!(cpu_ticks() - rest <= 2, "idle terminals keep the engine busy");
            for process in &processes {
                sandbox.write(*process, "\x04").await;
            }
            for process in processes {
                assert_eq!(sandbox.end_of(process).await.end, exited(0));
            }
        },
    );
}

/// Processor time that this process has used, in hundredths of a second.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_transcript_is_the_same_with_a_spill_and_with_a_full_disk() {
    for place in ["spill", "/dev/null/none"] {
        run_with(
            |config| {
                if place != "spill" {
                    config.spill = Some(place.into());
                }
            },
            async |sandbox| {
                let process = sandbox.engine.start(argv(&["seq", "1", "1000000"])).unwrap();
                sandbox.collect(process, brief(30_000)).await;
                let mut joined = Vec::new();
                let (mut next, mut lost) = (0, 0);
                loop {
                    let part = sandbox.engine.read(process, next, usize::MAX, None).await.unwrap();
                    joined.extend(part.parts.into_iter().flat_map(|part| part.bytes));
                    (next, lost) = (part.next, lost + part.lost_bytes);
                    if next == part.total {
                        break;
                    }
                }
                let whole: Vec<u8> = (1..=1_000_000).flat_map(|number| format!("{number}\n").into_bytes()).collect();
                if place == "spill" {
                    assert!((joined == whole) && lost == 0);
                } else {
                    let (head, tail) = joined.split_at(limits::TRANSCRIPT_HEAD_BYTES);
                    assert_eq!(joined.len() as u64 + lost, whole.len() as u64);
                    assert!(whole.starts_with(head) && whole.ends_with(tail) && !tail.is_empty());
                }
            },
        );
    }
}

#[test]
fn a_hundred_at_once_all_end_well() {
    run_with(
        |config| config.processes_live_max = 128,
        async |sandbox| {
            let spec: fn(u32) -> StartSpec = |number| bash(&format!("echo start; sleep 0.0{}; echo end; exit {number}", number % 10));
            let processes: Vec<_> = (0..100).map(|number| sandbox.engine.start(spec(number)).unwrap()).collect();
            for (number, process) in (0..100).zip(&processes) {
                let update = sandbox.end_of(*process).await;
                assert_eq!((update.text.as_str(), update.end), ("start\nend\n", exited(number)));
            }
            assert_eq!(sandbox.engine.processes_live(), 0);
        },
    );
}
