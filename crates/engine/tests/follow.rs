//! Followers, backpressure, and both streams of a finished run. One engine per process: see `support`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::format_collect)]

mod support;

use std::time::Duration;

use crannog_core::process::Stream;
use crannog_core::transcript::{Ended, FollowEvent};
use crannog_engine::Follower;
use support::{SpecExt, argv, bash, eventually, exited, run, run_with};

/// What a follower got.
#[derive(Default)]
struct Got {
    streams: [Vec<u8>; 2],
    lost: u64,
    ended: Option<Ended>,
}

async fn follow(mut follower: Follower) -> Got {
    assert!(matches!(follower.next().await, Some(FollowEvent::Started(_))));
    let mut got = Got::default();
    let mut offset = None;
    while let Some(event) = follower.next().await {
        match event {
            FollowEvent::Started(_) => panic!("started twice"),
            FollowEvent::Output(part) => {
                assert!(offset.is_none_or(|offset| offset == part.offset) && !part.bytes.is_empty());
                offset = Some(part.offset + part.bytes.len() as u64);
                got.streams[usize::from(part.stream == Stream::Stderr)].extend(part.bytes);
            }
            FollowEvent::Lost(bytes) => {
                got.lost += bytes;
                offset = offset.map(|offset| offset + bytes);
            }
            FollowEvent::Ended(ended) => got.ended = Some(ended),
        }
    }
    got
}

#[test]
fn a_follower_gets_everything_and_the_end() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("for i in 1 2 3; do echo o$i; echo e$i >&2; sleep 0.02; done; exit 9")).unwrap();
        let got = follow(sandbox.engine.follow(process, 0, false).unwrap()).await;
        assert_eq!(got.streams, [b"o1\no2\no3\n".to_vec(), b"e1\ne2\ne3\n".to_vec()]);
        let ended = got.ended.unwrap();
        assert_eq!((Some(ended.end), ended.stdout_omitted_bytes, ended.stderr_omitted_bytes), (exited(9), 0, 0));
        assert!((60..5000).contains(&ended.duration_ms) && ended.usage.memory_peak_bytes > 500_000);
        let late = follow(sandbox.engine.follow(process, 15, false).unwrap()).await;
        assert_eq!(late.streams.concat().len(), 3);
        assert!(sandbox.engine.follow(process, 19, false).is_err());
    });
}

#[test]
fn a_holding_follower_loses_nothing_however_slow() {
    run_with(
        |config| config.spill = None,
        async |sandbox| {
            let process = sandbox.engine.start(bash("head -c 20000000 /dev/zero; head -c 1000 /dev/zero >&2")).unwrap();
            let mut follower = sandbox.engine.follow(process, 0, true).unwrap();
            assert!(matches!(follower.next().await, Some(FollowEvent::Started(_))));
            let mut bytes = 0;
            let mut pauses = 0;
            let ended = loop {
                match follower.next().await {
                    Some(FollowEvent::Output(part)) => bytes += part.bytes.len(),
                    Some(FollowEvent::Ended(ended)) => break ended,
                    other => panic!("{other:?}"),
                }
                if pauses < 5 {
                    pauses += 1;
                    tokio::time::sleep(Duration::from_millis(30)).await;
                }
            };
            assert_eq!((bytes, Some(ended.end), ended.stdout_omitted_bytes), (20_001_000, exited(0), 0));
        },
    );
}

#[test]
fn a_dropped_follower_lets_the_process_go_on() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("head -c 20000000 /dev/zero; echo end >&2")).unwrap();
        let follower = sandbox.engine.follow(process, 0, true).unwrap();
        let mut last = u64::MAX;
        // Held, it comes to a stand.
        while sandbox.engine.info(process).unwrap().output_bytes != last {
            last = sandbox.engine.info(process).unwrap().output_bytes;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!((100_000..2_000_000).contains(&last), "{last}");
        assert_eq!(sandbox.engine.info(process).unwrap().end, None);
        drop(follower);
        eventually("it ends", || sandbox.engine.info(process).unwrap().end.is_some()).await;
        assert_eq!(sandbox.engine.info(process).unwrap().output_bytes, 20_000_004);
    });
}

#[test]
fn a_held_process_can_be_killed() {
    run(async |sandbox| {
        let process = sandbox.engine.start(argv(&["yes"])).unwrap();
        let _follower = sandbox.engine.follow(process, 0, true).unwrap();
        eventually("it is held", || sandbox.engine.info(process).unwrap().output_bytes > 300_000).await;
        assert!(sandbox.engine.kill(process, Duration::from_secs(1)).await.unwrap().complete);
    });
}

#[test]
fn a_free_follower_is_told_what_it_missed() {
    run_with(
        |config| config.spill = None,
        async |sandbox| {
            let process = sandbox.engine.start(bash("head -c 30000000 /dev/zero")).unwrap();
            let follower = sandbox.engine.follow(process, 0, false).unwrap();
            eventually("it has ended", || sandbox.engine.info(process).unwrap().end.is_some()).await;
            let got = follow(follower).await;
            assert_eq!(got.streams[0].len() as u64 + got.lost, 30_000_000);
            assert!(got.lost > 20_000_000);
            assert_eq!(got.ended.unwrap().stdout_omitted_bytes, got.lost);
        },
    );
}

#[test]
fn gathering_keeps_head_and_tail_of_each_stream() {
    run(async |sandbox| {
        let process = sandbox.engine.start(bash("seq 1 100000; echo short >&2")).unwrap();
        let gathered = sandbox.engine.gather(process, 100).await.unwrap();
        assert_eq!(gathered.stdout.len(), 100);
        assert!(gathered.stdout.starts_with(b"1\n2\n3\n") && gathered.stdout.ends_with(b"99999\n100000\n"));
        assert_eq!((gathered.ended.stdout_omitted_bytes, gathered.ended.stderr_omitted_bytes), (588_795, 0));
        assert_eq!(gathered.stderr, b"short\n");
        let none = sandbox.engine.gather(process, 0).await.unwrap();
        assert_eq!((none.stdout.len(), none.ended.stdout_omitted_bytes), (0, 588_895));
        let terminal = sandbox.engine.start(argv(&["echo", "x"]).on_terminal()).unwrap();
        assert_eq!(sandbox.engine.gather(terminal, 100).await.unwrap().stdout, b"x\r\n");
    });
}
