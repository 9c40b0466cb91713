//! Many callers, many processes, many rooms: nothing mixes, blocks, leaks or is taken for another.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crannog::{End, ErrorCode, ProcessId, Until};
use futures_util::future::join_all;

use crate::marker;
use crate::need;
use crate::outside;
use crate::place::Need;
use crate::processes::{self, eventually, matching};
use crate::room::Room;
use crate::run::{Run, Wait};
use crate::whole::Whole;

/// LIFE-01.
pub(crate) async fn two_writes_at_the_same_time_do_not_mix(room: &Room) {
    let reader = "import os, tty\ntty.setraw(0)\nprint('ready', flush=True)\nd = b''\n\
        while len(d) < 200000: d += os.read(0, 65536)\n\
        print('runs', 1 + sum(a != b for a, b in zip(d, d[1:])))";
    for _ in 0..3 {
        let first = room.start(Run::python(reader).terminal().until_text("ready")).await;
        let letters = [b'A', b'B'].map(|letter| vec![letter; 100_000]);
        let writes = letters.iter().map(|bytes| room.write(first.process, bytes, Wait::ms(10_000).until(Until::Text("runs".into()))));
        for update in join_all(writes).await {
            assert_eq!(update.written.map(|written| written.accepted), Some(100_000));
        }
        let whole = room.finish(first).await;
        assert!(whole.text.contains("runs 2"), "{:?}", whole.text);
    }
}

/// LIFE-02.
pub(crate) async fn a_cancelled_collect_loses_nothing(room: &Room) {
    let first = room.start(Run::bash("for i in $(seq 1 50); do echo line$i; sleep 0.1; done").terminal().window(0)).await;
    let mut whole = Whole::of(&first);
    for _ in 0..3 {
        // No cursor: the place where the last answered collect ended is the product's to remember.
        let cut = tokio::time::timeout(Duration::from_millis(500), room.collect(first.process, Wait::ms(2_000))).await;
        assert!(cut.is_err(), "cut off before its window ended");
    }
    while whole.end.is_none() {
        whole.add(&room.collect(first.process, Wait::ms(1_000)).await);
    }
    let expected: String = (1..=50).map(|line| format!("line{line}\r\n")).collect();
    assert_eq!((whole.text.as_str(), whole.exit_code()), (expected.as_str(), Some(0)));
}

/// LIFE-04.
pub(crate) async fn a_blocked_write_blocks_nobody(room: &Room) {
    let sleep = room.start(Run::words("sleep 60").terminal().window(0)).await;
    let lines = [vec![b'x'; 79], b"\n".to_vec()].concat().repeat(13_000);
    let blocked = room.try_write(sleep.process, lines, Wait::ms(20_000));
    let meanwhile = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let begin = Instant::now();
        let quick = |begin: Instant| assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        assert_eq!(room.start(Run::bash("echo other")).await.text, "other\n");
        quick(begin);
        let begin = Instant::now();
        assert_eq!(room.bash("echo exec").await, "exec");
        quick(begin);
        let begin = Instant::now();
        assert!(room.list().await.len() >= 2);
        quick(begin);
        let begin = Instant::now();
        room.try_resize(sleep.process, 30, 90).await.unwrap();
        quick(begin);
        room.kill(sleep.process).await;
        Instant::now()
    };
    let (answer, ended) = tokio::join!(blocked, meanwhile);
    assert!(ended.elapsed() < Duration::from_secs(2), "the write ends with its process");
    match answer {
        Ok(update) => assert!(update.end.is_some() && update.written.is_some_and(|w| w.accepted < 1_040_000), "{update:?}"),
        Err(error) => assert_eq!(error.code(), ErrorCode::ProcessEnded, "{error:?}"),
    }
}

/// LIFE-07.
pub(crate) async fn many_terminals_leak_nothing(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    let terminals = || {
        let all = processes::descriptors(guest)?;
        Some(all.iter().filter(|path| path.ends_with("ptmx")).count())
    };
    assert_eq!(terminals().unwrap_or(0), 0);
    for _ in 0..30 {
        for update in join_all((0..10).map(|_| room.start(Run::words("true").terminal()))).await {
            assert_eq!(update.end, Some(End::Exited { code: 0 }));
        }
    }
    for _ in 0..5 {
        join_all((0..10).map(|_| async {
            let sleep = room.start(Run::words("sleep 100").terminal().window(0)).await;
            assert!(room.kill(sleep.process).await.complete);
        }))
        .await;
    }
    assert!(eventually(Duration::from_secs(2), || terminals().unwrap_or(0) == 0).await, "{:?} masters are open", terminals());
}

/// LIFE-08.
pub(crate) async fn a_late_kill_does_not_reach_a_recycled_number(room: &Room) {
    need!(room, Need::Root);
    need!(room, Need::ProcessNamespace);
    let answer = outside::recycled(room).await;
    assert_eq!(answer["same_number"], true, "{answer}");
    assert_eq!(answer["victim_alive"], true, "{answer}");
}

/// LIFE-09.
pub(crate) async fn ids_are_not_reused_and_old_ids_reach_nobody(room: &Room) {
    let mut ids: HashSet<ProcessId> = HashSet::new();
    let mut oldest = None;
    for _ in 0..20 {
        for update in join_all((0..10).map(|_| room.start(Run::words("true")))).await {
            assert!((1_000..100_000).contains(&update.process.0), "{}", update.process);
            assert!(ids.insert(update.process), "{} came twice", update.process);
            oldest.get_or_insert(update.process);
        }
    }
    let shells = join_all((0..10).map(|_| room.start(Run::words("bash --norc -i").terminal().until(Until::Input)))).await;
    assert!(shells.iter().all(|shell| !ids.contains(&shell.process)));
    for id in ids.iter().take(20).copied().chain(oldest) {
        let error = room.try_write(id, "rm x\n", Wait::ms(0)).await.unwrap_err();
        assert!(matches!(error.code(), ErrorCode::ProcessEnded | ErrorCode::PtySessionNotFound), "{error:?}");
    }
    for shell in shells {
        let later = room.collect(shell.process, Wait::ms(50).from(shell.cursor)).await;
        assert_eq!(later.text, "", "a shell received something");
    }
    let error = room.try_write(ProcessId(7), "x", Wait::ms(0)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::PtySessionNotFound);
}

/// LIFE-12. The order is hang-up, TERM, a grace, KILL.
pub(crate) async fn closing_hangs_up_first(room: &Room) {
    let directory = tempfile::tempdir().unwrap();
    let fresh = room.neighbour(room.place().options().workspace(directory.path())).await;
    let text = "trap 'echo hup > hup.txt; exit 0' HUP; echo ready; while :; do sleep 0.1; done";
    fresh.start(Run::bash(text).terminal().until_text("ready")).await;
    let begin = Instant::now();
    assert_eq!(fresh.close().await, Vec::<String>::new());
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(std::fs::read_to_string(directory.path().join("hup.txt")).unwrap(), "hup\n");
}

/// LIFE-15.
pub(crate) async fn ten_floods_are_served_fairly(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    let before = processes::resident_bytes(guest);
    let floods = join_all((0..10).map(|_| room.start(Run::words("yes").terminal().window(0).budget(200)))).await;
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(10) {
        for flood in &floods {
            let asked = Instant::now();
            let update = room.collect(flood.process, Wait::ms(300).budget(200)).await;
            assert!(asked.elapsed() <= Duration::from_millis(1_500), "{:?}", asked.elapsed());
            assert!(update.end.is_none() && !update.text.is_empty());
            if begin.elapsed() >= Duration::from_secs(10) {
                break;
            }
        }
        let asked = Instant::now();
        assert_eq!(room.bash("echo ok").await, "ok");
        assert!(asked.elapsed() <= Duration::from_secs(2), "{:?}", asked.elapsed());
    }
    let growth = processes::resident_bytes(guest).saturating_sub(before);
    assert!(growth < 128 << 20, "the guest grew by {growth} bytes");
    let begin = Instant::now();
    join_all(floods.iter().map(|flood| room.kill(flood.process))).await;
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

/// The live limit: a clear refusal, no harm to what runs, and room again when one has ended.
pub(crate) async fn at_the_live_limit_a_start_fails_and_nothing_is_killed(room: &Room) {
    let fresh = room.neighbour(room.place().options().processes_live_max(5)).await;
    let running = join_all((0..5).map(|_| fresh.start(Run::words("sleep 100").window(0)))).await;
    let error = fresh.try_start(Run::words("true")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ProcessLimitReached, "{error:?}");
    assert!(fresh.list().await.iter().all(|info| info.end.is_none()));
    fresh.kill(running[2].process).await;
    assert_eq!(fresh.whole(Run::words("true")).await.exit_code(), Some(0));
}

/// Two sandboxes of one host do not see each other's processes, and the end of one is not the end of the other.
pub(crate) async fn sandboxes_do_not_share_their_fate(room: &Room) {
    let (mine, theirs) = (marker::sleep_seconds(), marker::sleep_seconds());
    let first = room.start(Run::words(&format!("sleep {mine}")).window(0)).await;
    let fresh = room.neighbour(room.place().options()).await;
    let other = fresh.start(Run::words(&format!("sleep {theirs}")).window(0)).await;
    if first.process != other.process {
        assert_eq!(fresh.try_kill(first.process).await.unwrap_err().code(), ErrorCode::PtySessionNotFound);
    }
    assert!(fresh.close().await.is_empty());
    assert!(eventually(Duration::from_secs(2), || matching(&theirs).is_empty()).await);
    assert_eq!(matching(&mine).len(), 1);
    let error = fresh.try_start(Run::words("true")).await.unwrap_err();
    assert!(matches!(error.code(), ErrorCode::SandboxNotFound | ErrorCode::SandboxLost | ErrorCode::GuestUnreachable), "{error:?}");
}
