//! Two hundred processes at once.

use std::time::{Duration, Instant};

use crannog::{End, SandboxOptions, Until};
use crannog_conformance::processes;
use crannog_conformance::run::{Run, Wait};
use futures_util::future::join_all;

use crate::support::{block_on, room};

const PROCESSES: usize = 200;

#[test]
fn two_hundred_processes_are_served_at_once() {
    block_on(async {
        let room = room(SandboxOptions::new().processes_live_max(256)).await;
        let guest = room.guest().await;
        let before = processes::resident_bytes(guest);
        let starts = join_all((0..PROCESSES).map(|index| {
            let run = Run::bash(format!("echo ready {index}; read x; echo \"got $x\"; exit {}", index % 200));
            room.start(run.terminal_if(index % 2 == 0).piped_unless(index % 2 == 0).window(30_000).until(Until::Text("\n".into())))
        }))
        .await;
        for (index, update) in starts.iter().enumerate() {
            assert!(update.text.starts_with(&format!("ready {index}")) && update.end.is_none(), "{index}: {update:?}");
        }
        let live = room.list().await.iter().filter(|info| info.end.is_none()).count();
        assert_eq!(live, PROCESSES);
        let growth = processes::resident_bytes(guest).saturating_sub(before);
        assert!(growth < 64 << 20, "the guest grew by {growth} bytes");

        let begin = Instant::now();
        assert_eq!(room.sandbox().info().await.unwrap().processes_live, Some(u32::try_from(PROCESSES).unwrap()));
        assert!(begin.elapsed() < Duration::from_secs(2));

        let ends = join_all(starts.iter().enumerate().map(|(index, update)| {
            let answer = room.write(update.process, format!("word{index}\n"), Wait::ms(30_000));
            async move { (index, answer.await) }
        }))
        .await;
        for (index, update) in ends {
            assert_eq!(update.end, Some(End::Exited { code: u8::try_from(index % 200).unwrap() }), "{index}");
            assert!(update.text.contains(&format!("got word{index}")), "{index}: {:?}", update.text);
        }
        assert_eq!(room.close().await, Vec::<String>::new());
    });
}

#[test]
fn two_hundred_processes_end_with_their_sandbox() {
    block_on(async {
        let room = room(SandboxOptions::new().processes_live_max(256)).await;
        join_all((0..PROCESSES).map(|index| {
            let text = "trap '' TERM HUP; setsid -f sleep 1000; sleep 1000";
            room.start(Run::bash(text).terminal_if(index % 2 == 0).window(0))
        }))
        .await;
        let begin = Instant::now();
        assert_eq!(room.close().await, Vec::<String>::new());
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    });
}
