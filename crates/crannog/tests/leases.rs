//! Leases, and what the reaper takes.

#![allow(clippy::unwrap_used)]

mod common;

use std::time::Duration;

use common::{Place, entries, eventually, tagged};
use crannog::{Command, ErrorCode, Sandbox, SandboxId, SandboxOptions, SandboxState};

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
