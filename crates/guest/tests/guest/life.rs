//! How a guest begins and ends, and what it takes with it.

use std::time::{Duration, Instant};

use crannog_core::collect::Until;
use crannog_core::error::ErrorCode;
use crannog_sys::reaper::WaitStatus;
use crannog_wire::GuestClient;

use crate::support::{TestGuest, collect, printed_pid, shell, until_gone};

const SIGHUP: i32 = 1;
const SIGTERM: i32 = 15;
const CLEAN: WaitStatus = WaitStatus::Exited(0);

/// Starts a process that ignores everything it may, and answers its kernel number.
async fn start_stubborn(client: &GuestClient) -> u32 {
    let line = Until::Text("\n".to_owned());
    let spec = shell("trap '' HUP TERM INT; echo $$; while :; do sleep 1000; done");
    let update = client.start(spec, Some(collect(0, line))).await.unwrap();
    printed_pid(&update.text)
}

#[tokio::test]
async fn a_guest_answers_at_once_and_says_who_it_is() {
    let before = Instant::now();
    let guest = TestGuest::start();
    let hello = guest.client().hello().await.unwrap();
    assert!(before.elapsed() < Duration::from_secs(2), "{:?}", before.elapsed());
    assert_eq!((hello.pid, hello.lease_generation, hello.processes_live), (guest.identity.pid, 1, 0));
    assert!(hello.lease_remaining.unwrap() <= Duration::from_secs(30));
    assert!(hello.sandbox.starts_with("test"));
}

#[tokio::test]
async fn an_unconfirmed_guest_ends_itself_and_its_processes() {
    let guest = TestGuest::with(|config| config.lease_unconfirmed = Duration::from_millis(1_500));
    let pid = start_stubborn(&guest.client()).await;
    assert_eq!(guest.wait(), CLEAN);
    until_gone(pid).await;
}

#[tokio::test]
async fn a_confirmed_lease_outlives_the_provisional_one_and_runs_out_in_turn() {
    let guest = TestGuest::with(|config| config.lease_unconfirmed = Duration::from_secs(1));
    let client = guest.client();
    let renewed = Instant::now();
    client.renew(1, Some(Duration::from_secs(3))).await.unwrap();
    let pid = start_stubborn(&client).await;
    assert_eq!(guest.wait(), CLEAN);
    assert!(renewed.elapsed() >= Duration::from_secs(3), "{:?}", renewed.elapsed());
    until_gone(pid).await;
}

#[tokio::test]
async fn an_owner_that_was_replaced_can_neither_renew_nor_end_the_sandbox() {
    let guest = TestGuest::start();
    let (old, new) = (guest.client(), guest.client());
    assert_eq!(old.renew(1, None).await.unwrap(), 1);
    assert_eq!(new.renew(2, None).await.unwrap(), 2);
    let error = old.renew(1, None).await.unwrap_err();
    assert_eq!((error.code(), error.context()["current_generation"].as_str()), (ErrorCode::LeaseFenced, "2"));
    assert_eq!(old.shutdown(1, Duration::ZERO).await.unwrap_err().code(), ErrorCode::LeaseFenced);
    assert_eq!(new.hello().await.unwrap().lease_generation, 2);
}

#[tokio::test]
async fn a_shutdown_is_answered_when_everything_has_ended() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let pid = start_stubborn(&client).await;
    assert_eq!(client.shutdown(1, Duration::from_millis(50)).await.unwrap(), 1);
    until_gone(pid).await;
    assert_eq!(guest.wait(), CLEAN);
}

#[tokio::test]
async fn sigterm_ends_a_guest_in_order_and_a_hangup_does_not() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let pid = start_stubborn(&client).await;
    guest.signal(SIGHUP);
    client.hello().await.unwrap();
    guest.signal(SIGTERM);
    assert_eq!(guest.wait(), CLEAN);
    until_gone(pid).await;
}

#[test]
fn a_config_that_cannot_be_meant_ends_the_guest_with_a_reason() {
    let guest = TestGuest::with(|config| config.workspace = "relative".into());
    let log = guest.socket().with_file_name("guest.log");
    let kept = tempfile::NamedTempFile::new().unwrap();
    std::fs::remove_file(kept.path()).unwrap();
    std::fs::hard_link(&log, kept.path()).unwrap();
    assert_eq!(guest.wait(), WaitStatus::Exited(1));
    let told = std::fs::read_to_string(kept.path()).unwrap();
    assert!(told.contains("`workspace` must be an absolute path"), "{told}");
}
