//! The caller is killed while it collects. It goes on from what it wrote down, and misses nothing.

use std::path::Path;

use crannog::End;
use crannog_conformance::outside;
use crannog_conformance::room::Room;
use crannog_conformance::run::Wait;

use crate::support::{Random, block_on, check_counted, counting, room};

const ROUNDS: u32 = 60;

/// Starts a recording client and kills it within `bound_ms`, `rounds` times, then lets one finish. Returns how often something had been
/// recorded meanwhile.
async fn record_and_kill(room: &Room, random: &mut Random, process: &str, file: &Path, rounds: u32) -> u32 {
    let arguments = ["record", room.id(), process, file.to_str().unwrap()];
    let length = || std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    let mut grown = 0;
    for _ in 0..rounds {
        let before = length();
        let mut client = outside::spawn_client(room, &arguments);
        tokio::time::sleep(random.pause(200)).await;
        client.kill().unwrap();
        client.wait().unwrap();
        grown += u32::from(length() > before);
    }
    grown
}

#[test]
fn a_killed_client_resumes_without_a_byte_lost_or_doubled() {
    block_on(async {
        let mut random = Random::seeded();
        let room = room(crannog::SandboxOptions::new()).await;
        let directory = tempfile::tempdir().unwrap();
        for terminal in [false, true] {
            let first = room.start(counting().terminal_if(terminal).window(0)).await;
            let process = first.process.to_string();
            let file = directory.path().join(&process);
            let grown = record_and_kill(&room, &mut random, &process, &file, ROUNDS / 2).await;
            assert!(grown > 5, "the clients were killed before they recorded anything: {grown}");
            room.bash("touch stop").await;
            let mut last = outside::spawn_client(&room, &["record", room.id(), &process, file.to_str().unwrap()]);
            assert!(tokio::task::spawn_blocking(move || last.wait()).await.unwrap().unwrap().success());
            let mut bytes = std::fs::read(&file).unwrap();
            if terminal {
                bytes = String::from_utf8(bytes).unwrap().replace("\r\n", "\n").into_bytes();
            }
            let lines = check_counted(&bytes);
            assert!(bytes.ends_with(format!("end {lines}\n").as_bytes()) && lines > 1_000, "{lines}");
            let end = room.collect(first.process, Wait::ms(0)).await.end;
            assert_eq!(end, Some(End::Exited { code: 7 }));
            room.bash("rm stop").await;
        }
        assert_eq!(room.close().await, Vec::<String>::new());
    });
}
