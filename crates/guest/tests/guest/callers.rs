//! Many callers, callers that die, and callers that talk nonsense.

use std::time::Duration;

use crannog_core::collect::Until;
use crannog_core::end::End;
use crannog_core::process::StartSpec;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use crate::support::{PATIENCE, TestGuest, collect, shell};

#[tokio::test]
async fn a_hundred_callers_are_served_at_once() {
    let guest = TestGuest::with(|config| config.processes_live_max = 200);
    guest.confirmed().await;
    let mut callers = JoinSet::new();
    for number in 0..100 {
        let client = guest.client();
        callers.spawn(async move {
            let update = client.start(shell(&format!("echo {number}; sleep 0.2; echo done")), Some(collect(0, None))).await.unwrap();
            (number, update.text, update.end)
        });
    }
    while let Some(answer) = callers.join_next().await {
        let (number, text, end) = answer.unwrap();
        assert_eq!((text, end), (format!("{number}\ndone\n"), Some(End::Exited { code: 0 })));
    }
}

#[tokio::test]
async fn a_hundred_readers_of_one_process_see_the_same() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let process = client.start(shell("for i in 1 2 3 4 5; do echo line $i; sleep 0.02; done"), None).await.unwrap().process;
    let mut readers = JoinSet::new();
    for _ in 0..100 {
        let client = guest.client();
        readers.spawn(async move { client.collect(process, collect(0, None)).await.unwrap().text });
    }
    while let Some(text) = readers.join_next().await {
        assert_eq!(text.unwrap(), "line 1\nline 2\nline 3\nline 4\nline 5\n");
    }
}

#[tokio::test]
async fn noise_on_the_socket_hurts_nobody_else() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.start(shell("sleep 0.3; echo fine"), Some(collect(0, None))).await }
    });
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let noises = [b"\0".repeat(100_000), b"GET / HTTP/1.1\r\n\r\n".to_vec(), [&preface[..], &[0xff; 40]].concat(), preface.to_vec()];
    for noise in noises {
        let mut socket = UnixStream::connect(guest.socket()).await.unwrap();
        // The guest may hang up before all is written.
        let _ = socket.write_all(&noise).await;
        let _ = socket.shutdown().await;
        let mut rest = Vec::new();
        assert!(tokio::time::timeout(PATIENCE, socket.read_to_end(&mut rest)).await.is_ok(), "the guest hangs up");
    }
    assert_eq!(waiting.await.unwrap().unwrap().text, "fine\n");
    client.hello().await.unwrap();
}

#[tokio::test]
async fn a_caller_that_dies_takes_nothing_with_it() {
    let guest = TestGuest::start();
    let client = guest.confirmed().await;
    let spec = StartSpec { request_id: Some("survivor".to_owned()), ..shell("for i in 1 2 3; do echo $i; sleep 0.1; done; exit 9") };
    let process = client.start(spec, None).await.unwrap().process;
    // The runtime with its connection is gone in the middle of a collect, without a word to the guest.
    let socket = guest.socket();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let connector = crannog_wire::UnixConnector::new(socket);
            let client = crannog_wire::GuestClient::new(connector, crannog_wire::ClientOptions::default());
            let seen = client.collect(process, collect(0, Until::Text("1".to_owned()))).await.unwrap();
            let abandoned = client.collect(process, collect(seen.cursor, None));
            assert!(tokio::time::timeout(Duration::from_millis(10), abandoned).await.is_err());
        });
    })
    .join()
    .unwrap();
    let update = client.collect(process, collect(0, None)).await.unwrap();
    assert_eq!((update.text.as_str(), update.end), ("1\n2\n3\n", Some(End::Exited { code: 9 })));
}
