//! Leases, and what the reaper takes.

#![allow(clippy::unwrap_used)]

mod common;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{Place, entries, eventually, tagged};
use crannog::{Command, ErrorCode, Sandbox, SandboxId, SandboxOptions, SandboxState, Until, Wait};
use crannog_store::{Options, ProcessIdentity, Record, State, Store};

#[tokio::test]
async fn a_sandbox_ends_with_its_lease_and_is_reaped() {
    let place = Place::new();
    let options = SandboxOptions::new().lease(Duration::from_secs(1));
    let (short, kept) = (Sandbox::create(&place.host, options).await.unwrap(), place.sandbox().await);
    short.start(Command::shell("setsid sleep 1000 & sleep 1000")).await.unwrap();
    let id = short.id().clone();
    let remaining = short.info().await.unwrap().lease_remaining.unwrap();
    assert!(remaining <= Duration::from_secs(1));
    eventually("the lease runs out", async || short.info().await.unwrap().state == SandboxState::Lost).await;
    assert_eq!(tagged(&id), Vec::<u32>::new(), "the guest ended its processes itself");
    let reaped = place.host.reap().await.unwrap();
    assert_eq!(reaped.removed, [id]);
    assert!(reaped.failed.is_empty());
    assert_eq!(Sandbox::list(&place.host).await.unwrap().len(), 1, "the other one is left alone");
    kept.destroy().await.unwrap();
    place.assert_empty().await;
}

#[tokio::test]
async fn renewing_keeps_a_sandbox_alive_and_may_free_it_of_its_lease() {
    let place = Place::new();
    let options = SandboxOptions::new().lease(Duration::from_secs(2));
    let sandbox = Sandbox::create(&place.host, options).await.unwrap();
    for _ in 0..6 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        sandbox.renew(Some(Duration::from_secs(2))).await.unwrap();
    }
    assert_eq!(sandbox.info().await.unwrap().state, SandboxState::Ready, "three seconds on a lease of two");
    sandbox.renew(None).await.unwrap();
    let info = sandbox.info().await.unwrap();
    assert_eq!((info.lease, info.lease_remaining), (None, None));
    sandbox.destroy().await.unwrap();
    place.assert_empty().await;
}

#[tokio::test]
async fn whoever_took_over_renews_and_nobody_else() {
    let place = Place::new();
    let first = place.sandbox().await;
    let second = Sandbox::open(&place.host, first.id().as_str()).await.unwrap();
    second.take_over(Some(Duration::from_mins(1))).await.unwrap();
    let error = first.renew(None).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LeaseFenced);
    second.renew(Some(Duration::from_mins(1))).await.unwrap();
    assert_eq!(first.exec(Command::shell("echo still")).await.unwrap().stdout, b"still\n");
    let third = Sandbox::open(&place.host, first.id().as_str()).await.unwrap();
    third.renew(None).await.unwrap();
    // The first handle's generation is old; destroying is not a matter of leases.
    first.destroy().await.unwrap();
    place.assert_empty().await;
}

#[tokio::test]
async fn whoever_took_over_ends_the_sandbox_gently() {
    let place = Place::new();
    let workspace = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::create(&place.host, SandboxOptions::new().workspace(workspace.path())).await.unwrap();
    sandbox.take_over(None).await.unwrap();
    let text = "trap 'echo asked > asked; exit' TERM; echo ready; while :; do sleep 0.05; done";
    let wait = Wait::at_most(Duration::from_secs(20)).until(Until::Text("ready".to_owned()));
    sandbox.start_and_collect(Command::shell(text), wait).await.unwrap();
    sandbox.destroy().await.unwrap();
    assert_eq!(std::fs::read_to_string(workspace.path().join("asked")).unwrap(), "asked\n");
    place.assert_empty().await;
}

#[tokio::test]
async fn impossible_leases_are_refused() {
    let place = Place::new();
    let sandbox = place.sandbox().await;
    for lease in [Duration::ZERO, Duration::from_millis(10), Duration::MAX] {
        assert_eq!(sandbox.renew(Some(lease)).await.unwrap_err().code(), ErrorCode::InvalidArgument);
    }
    sandbox.destroy().await.unwrap();
}

#[tokio::test]
async fn directories_without_a_record_are_reaped_and_others_are_not() {
    let place = Place::new();
    let kept = place.sandbox().await;
    let stray = SandboxId::from_bits(77);
    let (run, work) = (place.host.runtime_directory(), place.host.state_directory().join("workspaces"));
    std::fs::create_dir_all(run.join(stray.as_str())).unwrap();
    std::fs::create_dir_all(work.join(stray.as_str()).join("inner")).unwrap();
    std::fs::create_dir_all(run.join("not a sandbox")).unwrap();
    let reaped = place.host.reap().await.unwrap();
    assert_eq!(reaped.removed, [stray]);
    assert_eq!(entries(&work), [kept.id().to_string()]);
    assert!(entries(&run).contains(&"not a sandbox".to_owned()));
    assert_eq!(kept.exec(Command::shell("echo on")).await.unwrap().stdout, b"on\n");
    kept.destroy().await.unwrap();
}

#[tokio::test]
async fn an_unreadable_record_is_an_error_and_nothing_is_reaped() {
    let place = Place::new();
    let run = place.host.runtime_directory().join(SandboxId::from_bits(78).as_str());
    std::fs::create_dir_all(&run).unwrap();
    let store = place.host.state_directory().join("store");
    std::fs::create_dir_all(&store).unwrap();
    std::fs::write(store.join("crannog.db"), vec![0x55; 8192]).unwrap();
    assert_eq!(place.host.reap().await.unwrap_err().code(), ErrorCode::StoreFailed);
    assert!(run.exists());
}

#[tokio::test]
async fn a_half_made_sandbox_is_reaped_when_its_maker_is_gone_for_a_while() {
    let place = Place::new();
    place.sandbox().await.destroy().await.unwrap();
    let store = Store::open(&place.host.state_directory().join("store/crannog.db")).unwrap();
    let now_ms = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let gone = ProcessIdentity { pid: 1, start_time: u64::MAX >> 1, boot: String::new() };
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start_time = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().nth(19).unwrap().parse().unwrap();
    let here = ProcessIdentity { pid: std::process::id(), start_time, boot };
    let half_made = |number, creator: &ProcessIdentity, created_ms| {
        let id = SandboxId::from_bits(number);
        let run = place.host.runtime_directory().join(id.as_str());
        std::fs::create_dir_all(&run).unwrap();
        let record = Record {
            name: None,
            backend: "local".to_owned(),
            state: State::Creating,
            lease_generation: 1,
            lease_ms: None,
            lease_expires_ms: None,
            workspace: place.host.state_directory().join("workspaces").join(id.as_str()),
            workspace_owned: true,
            runtime: run,
            guest: None,
            creator: Some(creator.clone()),
            cgroup: None,
            environment: Vec::new(),
            created_ms,
            options: Options::default(),
            id,
        };
        store.insert_creating(&record).unwrap();
        record.id
    };
    let abandoned = half_made(1, &gone, now_ms - 120_000);
    let kept = [half_made(2, &gone, now_ms), half_made(3, &here, now_ms - 120_000), half_made(4, &gone, now_ms + 3_600_000)];
    let reaped = place.host.reap().await.unwrap();
    assert_eq!(reaped.removed, [abandoned]);
    let states: Vec<_> = Sandbox::list(&place.host).await.unwrap().into_iter().map(|info| (info.id, info.state)).collect();
    assert_eq!(states, kept.clone().map(|id| (id, SandboxState::Creating)));
    for id in kept {
        let error = Sandbox::open(&place.host, id.as_str()).await.unwrap_err();
        assert_eq!(error.retryable(), Some(true), "its maker may be about to finish");
        place.host.destroy(id.as_str()).await.unwrap();
    }
    place.assert_empty().await;
}
