//! The guest is killed under load. What was collected before stands, the sandbox is lost and says so, and destroying it leaves nothing.

use std::time::Duration;

use crannog::{ErrorCode, SandboxOptions, SandboxState};
use crannog_conformance::run::{Run, Wait};
use crannog_conformance::{marker, outside, processes};

use crate::support::{Random, block_on, check_counted, counting, room};

const ROUNDS: u32 = 40;

async fn round(random: &mut Random) {
    let room = room(SandboxOptions::new()).await;
    let guest = room.guest().await;
    let counter = room.start(counting().window(0)).await;
    let sleep = marker::sleep_seconds();
    room.start(Run::bash(format!("trap '' HUP; setsid -f sleep {sleep}; (setsid sleep {sleep} &); sleep {sleep}")).window(0)).await;
    room.start(Run::words("yes").terminal().window(0).budget(1)).await;
    let begun = processes::eventually(Duration::from_secs(5), || processes::matching(&format!("sleep {sleep}")).len() >= 3).await;
    assert!(begun, "the load runs");

    let file = room.root().join("recorded");
    let mut client = outside::spawn_client(&room, &["record", room.id(), &counter.process.to_string(), file.to_str().unwrap()]);
    tokio::time::sleep(random.pause(250)).await;
    outside::kill_now(guest);
    tokio::task::spawn_blocking(move || client.wait()).await.unwrap().unwrap();
    check_counted(&std::fs::read(&file).unwrap_or_default());

    let error = room.try_collect(counter.process, Wait::ms(1_000)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SandboxLost, "{error:?}");
    assert_eq!(room.host().describe(room.id()).await.unwrap().state, SandboxState::Lost);
    assert_eq!(room.close().await, Vec::<String>::new());
    assert!(processes::matching(&sleep).is_empty(), "{:?}", processes::matching(&sleep));
    assert!(crannog::Sandbox::list(room.host()).await.unwrap().is_empty());
}

#[test]
fn a_killed_guest_loses_the_sandbox_and_leaves_nothing() {
    block_on(async {
        let mut random = Random::seeded();
        for _ in 0..ROUNDS {
            round(&mut random).await;
        }
    });
}

#[test]
fn a_stopped_guest_can_be_destroyed() {
    block_on(async {
        let room = room(SandboxOptions::new()).await;
        let sleep = marker::sleep_seconds();
        room.start(Run::bash(format!("setsid -f sleep {sleep}; sleep {sleep}")).window(100)).await;
        let guest = room.guest().await;
        let held = outside::stopped(guest, Duration::from_mins(1));
        let left = tokio::select! {
            left = room.close() => left,
            () = held => panic!("destroying waited for a guest that is stopped"),
        };
        assert_eq!(left, Vec::<String>::new());
        assert!(processes::matching(&sleep).is_empty());
    });
}
