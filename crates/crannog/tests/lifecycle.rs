//! Making, finding, losing and destroying sandboxes, with real guests.

#![allow(clippy::unwrap_used)]

mod common;

use std::time::Duration;

use common::{Place, entries, eventually, signal, tagged};
use crannog::{Command, ErrorCode, Host, Sandbox, SandboxOptions, SandboxState};

#[tokio::test]
async fn a_sandbox_is_found_by_id_beginning_and_name_and_leaves_nothing() {
    let place = Place::new();
    let sandbox = Sandbox::create(&place.host, SandboxOptions::new().name("one").env("GREETING", "hi")).await.unwrap();
    let id = sandbox.id().to_string();
    for reference in [id.as_str(), &id[..20], &id[4..20], "one"] {
        let found = Sandbox::open(&place.host, reference).await.unwrap();
        assert_eq!(found.id(), sandbox.id(), "{reference}");
    }
    let output = sandbox.exec(Command::shell("printf %s $GREETING; pwd; touch made")).await.unwrap();
    assert_eq!(output.stdout_text(), format!("hi{}\n", sandbox.workspace().display()));
    let infos = Sandbox::list(&place.host).await.unwrap();
    assert_eq!(infos.len(), 1);
    let info = &infos[0];
    assert_eq!((info.state, info.name.as_deref(), info.processes_live), (SandboxState::Ready, Some("one"), Some(0)));
    assert!(info.workspace_owned && info.guest_pid.is_some() && info.tracking.is_some());
    assert_eq!(&sandbox.info().await.unwrap(), info);

    let other = Host::at(place.home.path()).unwrap();
    other.destroy("one").await.unwrap();
    place.assert_empty().await;
    let error = Sandbox::open(&place.host, "one").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SandboxNotFound);
    let error = sandbox.exec(Command::shell("true")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SandboxNotFound);
    sandbox.destroy().await.unwrap();
}

#[tokio::test]
async fn a_workspace_of_ones_own_stays_and_must_be_there() {
    let place = Place::new();
    let work = place.home.path().join("my work");
    let options = || SandboxOptions::new().workspace(&work);
    let error = Sandbox::create(&place.host, options()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::WorkspaceRootNotFound);
    std::fs::write(&work, b"").unwrap();
    let error = Sandbox::create(&place.host, options()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::WorkspaceRootNotFound);
    std::fs::remove_file(&work).unwrap();
    std::fs::create_dir(&work).unwrap();

    let sandbox = Sandbox::create(&place.host, options()).await.unwrap();
    sandbox.exec(Command::shell("echo kept > file")).await.unwrap();
    sandbox.destroy().await.unwrap();
    place.assert_empty().await;
    assert_eq!(std::fs::read(work.join("file")).unwrap(), b"kept\n");
}

#[tokio::test]
async fn a_name_is_free_again_once_its_sandbox_is_gone() {
    let place = Place::new();
    let first = Sandbox::create(&place.host, SandboxOptions::new().name("n")).await.unwrap();
    let error = Sandbox::create(&place.host, SandboxOptions::new().name("n")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SandboxNameTaken);
    assert_eq!(Sandbox::list(&place.host).await.unwrap().len(), 1, "the second left no record");
    first.destroy().await.unwrap();
    Sandbox::create(&place.host, SandboxOptions::new().name("n")).await.unwrap().destroy().await.unwrap();
    place.assert_empty().await;
}

#[tokio::test]
async fn a_home_with_a_very_long_path_works() {
    let place = Place::new();
    let deep = place.home.path().join("d".repeat(120)).join("e".repeat(120));
    let host = Host::at(&deep).unwrap();
    let sandbox = Sandbox::create(&host, SandboxOptions::new()).await.unwrap();
    let output = Sandbox::open(&host, sandbox.id().as_str()).await.unwrap().exec(Command::shell("echo deep")).await.unwrap();
    assert_eq!(output.stdout, b"deep\n");
    sandbox.destroy().await.unwrap();
    assert_eq!(entries(&host.runtime_directory()), Vec::<String>::new());
}

#[tokio::test]
async fn several_may_destroy_the_same_sandbox_at_once() {
    let place = Place::new();
    let sandbox = place.sandbox().await;
    sandbox.start(Command::shell("sleep 1000 & setsid sleep 1000 & wait")).await.unwrap();
    let id = sandbox.id().clone();
    let destroyers: Vec<_> = (0..4).map(|_| tokio::spawn(sandbox.clone().destroy())).collect();
    for destroyer in destroyers {
        destroyer.await.unwrap().unwrap();
    }
    place.assert_empty().await;
    assert_eq!(tagged(&id), Vec::<u32>::new());
}

#[tokio::test]
async fn a_killed_guest_is_told_as_lost_and_its_processes_end_with_the_sandbox() {
    let place = Place::new();
    let sandbox = place.sandbox().await;
    sandbox.start(Command::shell("sleep 1000 & setsid sleep 1000 & wait")).await.unwrap();
    let id = sandbox.id().clone();
    eventually("all three run", async || tagged(&id).len() == 3).await;
    signal(sandbox.info().await.unwrap().guest_pid.unwrap(), "KILL");
    eventually("the loss is seen", async || sandbox.info().await.unwrap().state == SandboxState::Lost).await;
    let error = sandbox.exec(Command::shell("true")).await.unwrap_err();
    assert_eq!((error.code(), error.retryable()), (ErrorCode::SandboxLost, Some(false)));
    let error = Sandbox::open(&place.host, id.as_str()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SandboxLost);
    assert_eq!(Sandbox::list(&place.host).await.unwrap()[0].state, SandboxState::Lost);
    place.host.destroy(id.as_str()).await.unwrap();
    place.assert_empty().await;
    assert_eq!(tagged(&id), Vec::<u32>::new());
}

#[tokio::test]
async fn a_stopped_guest_is_not_taken_for_gone_and_can_be_destroyed() {
    let place = Place::new();
    let sandbox = place.sandbox().await;
    sandbox.start(Command::shell("sleep 1000")).await.unwrap();
    let guest = sandbox.info().await.unwrap().guest_pid.unwrap();
    signal(guest, "STOP");
    eventually("it is seen to be stopped", async || sandbox.info().await.unwrap().state == SandboxState::Unresponsive).await;
    let reaped = place.host.reap().await.unwrap();
    assert!(reaped.removed.is_empty() && reaped.failed.is_empty());
    signal(guest, "CONT");
    assert_eq!(sandbox.exec(Command::shell("echo on")).await.unwrap().stdout, b"on\n");
    signal(guest, "STOP");
    let id = sandbox.id().clone();
    sandbox.destroy().await.unwrap();
    place.assert_empty().await;
    assert_eq!(tagged(&id), Vec::<u32>::new());
}

#[tokio::test]
async fn a_creation_that_nobody_waits_for_is_taken_back() {
    let place = Place::new();
    for delay_us in [0, 200, 1_000, 3_000] {
        let creation = Sandbox::create(&place.host, SandboxOptions::new());
        if let Ok(made) = tokio::time::timeout(Duration::from_micros(delay_us), creation).await {
            made.unwrap().destroy().await.unwrap();
        }
    }
    eventually("all is taken back", async || {
        Sandbox::list(&place.host).await.unwrap().is_empty() && entries(&place.host.runtime_directory()).is_empty()
    })
    .await;
    place.assert_empty().await;
}

#[tokio::test]
async fn locked_directories_in_a_workspace_do_not_keep_it() {
    let place = Place::new();
    let sandbox = place.sandbox().await;
    let text = "mkdir -p a/b/c && echo x > a/b/c/f && ln -s / a/b/root && chmod 0 a/b/c a/b a";
    assert!(sandbox.exec(Command::shell(text)).await.unwrap().success());
    sandbox.destroy().await.unwrap();
    place.assert_empty().await;
}

#[tokio::test]
async fn many_sandboxes_live_side_by_side() {
    let place = Place::new();
    let makers: Vec<_> = (0..12)
        .map(|number| {
            let host = place.host.clone();
            tokio::spawn(async move {
                let sandbox = Sandbox::create(&host, SandboxOptions::new().env("N", number.to_string())).await.unwrap();
                let output = sandbox.exec(Command::shell("echo $N > mine; cat mine")).await.unwrap();
                assert_eq!(output.stdout_text(), format!("{number}\n"));
                sandbox
            })
        })
        .collect();
    let mut sandboxes = Vec::new();
    for maker in makers {
        sandboxes.push(maker.await.unwrap());
    }
    assert_eq!(Sandbox::list(&place.host).await.unwrap().len(), 12);
    for sandbox in sandboxes {
        sandbox.destroy().await.unwrap();
    }
    place.assert_empty().await;
}
