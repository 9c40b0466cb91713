//! Trees: background children that outlive their parent, timeouts, kills, and that nothing stays. One engine per process: see `support`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::format_collect)]

mod support;

use std::time::{Duration, Instant};

use crannog_core::collect::{Collect, Until};
use crannog_core::end::End;
use crannog_core::signal::{Signal, Target};
use support::{SpecExt, argv, bash, eventually, exited, is_running, run, run_both, run_with, tagged, until, until_text, window, zombies};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_background_child_that_holds_the_output_does_not_delay_the_end() {
    run_both(async |sandbox| {
        for (spec, alive) in [
            (bash("sleep 3131 & echo started"), true),
            (bash("setsid sleep 3133 & echo started; sleep 0.1").on_terminal(), true),
            // The kernel hangs up the foreground group of a leader that ends.
            (bash("sleep 3132 & echo started").on_terminal(), false),
        ] {
            let started = Instant::now();
            let process = sandbox.engine.start(spec).unwrap();
            let update = sandbox.end_of(process).await;
            assert_eq!((update.text.trim_end(), update.end), ("started", exited(0)));
            assert!(started.elapsed() < SECOND, "{:?}", started.elapsed());
            if alive {
                assert!(update.descendants_alive);
                let killed = sandbox.engine.kill(process, SECOND).await.unwrap();
                assert_eq!((killed.end, killed.reached, killed.complete), (End::Exited { code: 0 }, 1, true));
            }
            eventually("no descendant is left", || !sandbox.engine.info(process).unwrap().descendants_alive).await;
        }
        assert!(!is_running("sleep 3131") && !is_running("sleep 3132") && !is_running("sleep 3133"));
    });
}

#[test]
fn output_on_its_way_through_a_helper_belongs_to_the_command() {
    run_both(async |sandbox| {
        // With pipes: on a terminal the kernel hangs up the helper when its leader ends.
        for _ in 0..20 {
            let update = sandbox.finish(bash("exec > >(tee log.txt) 2>&1; echo hi-procsub")).await;
            assert_eq!((update.text.as_str(), update.end), ("hi-procsub\n", exited(0)));
        }
        assert_eq!(std::fs::read_to_string(sandbox.path().join("log.txt")).unwrap(), "hi-procsub\n");
    });
}

#[test]
fn what_a_child_prints_later_stays_with_its_process() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("(for i in 1 2 3; do sleep 0.1; echo bg$i; done) & echo fg; exit 4")).unwrap();
        let first = sandbox.collect(process, until(Until::Exit)).await;
        assert_eq!((first.text.as_str(), first.end.clone()), ("fg\n", exited(4)));
        assert_eq!(sandbox.finish(bash("echo other")).await.text, "other\n");
        eventually("the child has printed", || sandbox.engine.info(process).unwrap().output_bytes == 15).await;
        assert_eq!(sandbox.collect(process, window(0)).await.text, "bg1\nbg2\nbg3\n");
    });
}

#[test]
fn a_timeout_reaches_the_whole_tree() {
    run_both(async |sandbox| {
        let script = "echo partial; sleep 3201 & setsid sleep 3203 & (setsid sh -c 'sleep 3204 & exec sleep 3205' &) ; sleep 3202; true";
        let started = Instant::now();
        let update = sandbox.finish(bash(script).within(SECOND / 2)).await;
        assert_eq!((update.text.as_str(), update.end), ("partial\n", Some(End::TimedOut { after_ms: 500 })));
        assert!(started.elapsed() < 10 * SECOND, "{:?}", started.elapsed());
        eventually("the tree is gone", || (3201..=3205).all(|number| !is_running(&format!("sleep {number}")))).await;
    });
}

#[test]
fn a_timeout_ends_a_flood_and_a_tangle_of_fifos() {
    run(async |sandbox| {
        let started = Instant::now();
        let floods: Vec<_> = (0..10).map(|_| sandbox.engine.start(argv(&["yes"]).within(SECOND)).unwrap()).collect();
        let fifo = "mkfifo p1; (while true; do echo child; sleep 0.1; done) > p1 & cat p1";
        let tangle = sandbox.engine.start(bash(fifo).within(SECOND)).unwrap();
        for flood in floods {
            let update = sandbox.collect(flood, Collect { budget: Some(100), ..until(Until::Exit) }).await;
            assert_eq!(update.end, Some(End::TimedOut { after_ms: 1000 }));
        }
        assert!(sandbox.end_of(tangle).await.text.starts_with("child\n"));
        // On a quiet machine it takes one second; this is for one that builds at the same time.
        assert!(started.elapsed() < 20 * SECOND, "{:?}", started.elapsed());
        eventually("nothing runs", || tagged(&sandbox.id).is_empty()).await;
    });
}

#[test]
fn a_kill_asks_first_and_then_insists() {
    run_both(async |sandbox| {
        let polite = sandbox.engine.start(bash("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done")).unwrap();
        let deaf = sandbox.engine.start(bash("trap '' TERM; echo ready; while :; do sleep 0.01; done")).unwrap();
        let stopped = sandbox.engine.start(bash("echo ready; kill -STOP $$; echo never")).unwrap();
        let plain = sandbox.engine.start(argv(&["sleep", "3206"])).unwrap();
        for process in [polite, deaf, stopped] {
            sandbox.collect(process, until_text("ready\n")).await;
        }
        let end = async |process| {
            let killed = sandbox.engine.kill(process, SECOND / 2).await.unwrap();
            assert!(killed.complete && killed.reached >= 1, "{killed:?}");
            killed.end
        };
        assert_eq!(end(polite).await, End::Exited { code: 3 });
        assert_eq!(end(deaf).await, End::Cancelled { signal: Signal::KILL });
        assert_eq!(end(stopped).await, End::Cancelled { signal: Signal::TERM });
        assert_eq!(end(plain).await, End::Cancelled { signal: Signal::TERM });
        assert!(sandbox.end_of(polite).await.text.contains("bye\n"));
        assert_eq!(sandbox.end_of(stopped).await.text, "ready\n");
        let again = sandbox.engine.kill(plain, SECOND).await.unwrap();
        assert_eq!((again.end, again.reached, again.complete), (End::Cancelled { signal: Signal::TERM }, 0, true));
    });
}

#[test]
fn a_dropped_kill_goes_on() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("trap '' TERM; echo ready; while :; do sleep 0.01; done")).unwrap();
        sandbox.collect(process, until_text("ready")).await;
        let dropped = tokio::time::timeout(Duration::from_millis(20), sandbox.engine.kill(process, SECOND / 4)).await;
        assert!(dropped.is_err());
        assert_eq!(sandbox.end_of(process).await.end, Some(End::Cancelled { signal: Signal::KILL }));
    });
}

#[test]
fn a_tree_that_forks_all_the_time_is_ended() {
    run_both(async |sandbox| {
        let process =
            sandbox.engine.start(bash("f() { sleep 0.01; (f &) ; }; for i in 1 2 3 4; do f & done; echo ready; wait; sleep 3207")).unwrap();
        sandbox.collect(process, until_text("ready")).await;
        assert!(sandbox.engine.kill(process, Duration::from_millis(50)).await.unwrap().complete);
        assert_eq!(tagged(&sandbox.id), Vec::<String>::new());
    });
}

#[test]
fn burners_of_an_ended_command_do_not_outlive_the_sandbox() {
    run_both(async |sandbox| {
        let update = sandbox.finish(bash("for i in $(seq 8); do yes > /dev/null & done; echo ok")).await;
        assert_eq!((update.text.as_str(), update.descendants_alive), ("ok\n", true));
        assert_eq!(sandbox.engine.shutdown(SECOND).await, 1);
        assert_eq!(tagged(&sandbox.id), Vec::<String>::new());
        assert!(sandbox.engine.start(argv(&["true"])).is_err(), "a closed sandbox starts nothing");
    });
}

#[test]
fn closing_hangs_up_before_it_kills() {
    run_both(async |sandbox| {
        let script = "trap 'echo hup > hup.txt; exit 0' HUP; echo ready; while :; do sleep 0.05; done";
        let process = sandbox.engine.start(bash(script).on_terminal()).unwrap();
        sandbox.collect(process, until_text("ready")).await;
        sandbox.engine.shutdown(2 * SECOND).await;
        assert_eq!(std::fs::read_to_string(sandbox.path().join("hup.txt")).unwrap(), "hup\n");
    });
}

#[test]
fn the_end_by_a_signal_is_told_as_such() {
    run(async |sandbox| {
        for (number, code) in [(9, 137), (15, 143), (11, 139), (6, 134), (2, 130), (1, 129), (13, 141)] {
            for on_terminal in [true, false] {
                let spec = bash(&format!("ulimit -c unlimited; kill -{number} $$; sleep 1"));
                let end = sandbox.finish(if on_terminal { spec.on_terminal() } else { spec }).await.end.unwrap();
                assert_eq!((end.kind(), end.exit_code()), ("signalled", Some(code)), "signal {number}");
            }
        }
    });
}

#[test]
fn signals_reach_their_target() {
    run_both(async |sandbox| {
        let script = "trap 'echo leader' USR1; sh -c 'trap \"echo child\" USR1; echo ready; while :; do sleep 0.02; done' & while :; do sleep 0.02; done";
        let process = sandbox.engine.start(bash(script)).unwrap();
        sandbox.collect(process, until_text("ready")).await;
        sandbox.engine.signal(process, Target::Group, Signal::parse("USR1").unwrap()).unwrap();
        let both = |text: &str| text.contains("leader\n") && text.contains("child\n");
        let deadline = Instant::now() + 10 * SECOND;
        while !both(&sandbox.collect(process, Collect { cursor: Some(0), ..window(10) }).await.text) {
            assert!(Instant::now() < deadline);
        }
        sandbox.engine.signal(process, Target::Tree, Signal::KILL).unwrap();
        let end = sandbox.end_of(process).await.end;
        assert_eq!(end, Some(End::Signalled { signal: Signal::KILL, core_dumped: false }));
        let late = sandbox.engine.signal(process, Target::Foreground, Signal::INT).unwrap_err();
        assert_eq!(late.code().as_str(), "process_ended");
    });
}

#[test]
fn nothing_piles_up() {
    run_both(async |sandbox| {
        sandbox.finish(argv(&["true"])).await;
        let before = support::descriptors();
        for number in 0..100 {
            let spec = argv(&["true"]);
            sandbox.finish(if number % 2 == 0 { spec.on_terminal() } else { spec }).await;
        }
        for _ in 0..10 {
            let process = sandbox.engine.start(argv(&["sleep", "60"]).on_terminal()).unwrap();
            sandbox.engine.kill(process, SECOND).await.unwrap();
        }
        assert_eq!(zombies(), 0);
        eventually("all descriptors are closed", || support::descriptors() <= before + 1).await;
    });
}

#[test]
fn the_number_of_an_ended_process_is_not_signalled() {
    // In a namespace of its own the kernel can be told which number comes next, so the reuse can be forced.
    let status = std::process::Command::new("unshare")
        .args(["--pid", "--fork", "--kill-child", "--mount-proc"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "reuse_within_a_namespace", "--include-ignored", "--nocapture"])
        .env("CRANNOG_TEST_REUSE", "1")
        .status();
    match status {
        Ok(status) if status.code() != Some(1) || is_root() => assert!(status.success()),
        _ => println!("no namespaces for this user; nothing is tested"),
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0)
}

#[test]
fn reuse_within_a_namespace() {
    if std::env::var_os("CRANNOG_TEST_REUSE").is_none() {
        return;
    }
    run_with(
        |config| config.cgroups = false,
        async |sandbox| {
            let process = sandbox.engine.start(argv(&["sleep", "0.1"])).unwrap();
            let pid = sandbox.engine.info(process).unwrap().pid.unwrap();
            sandbox.end_of(process).await;
            std::fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).unwrap();
            #[expect(clippy::zombie_processes, reason = "the engine reaps every child")]
            let mut victim = std::process::Command::new("setsid").args(["sleep", "60"]).spawn().unwrap();
            assert_eq!(victim.id(), pid, "the number was not reused");
            eventually("it runs", || is_running("sleep 60")).await;
            for _ in 0..2 {
                sandbox.engine.kill(process, Duration::ZERO).await.unwrap();
            }
            assert!(is_running("sleep 60"));
            victim.kill().unwrap();
        },
    );
}
