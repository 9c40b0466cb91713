//! Clocks that jump or disagree. The wall clock belongs to the whole machine and is left alone; what is tested instead: everything is
//! stopped for a while (all clocks jump between two turns of the guest), caller and guest have monotonic clocks a year apart, and
//! records carry wall times of another century.

use std::process::Command;
use std::time::{Duration, Instant};

use crannog::{End, Sandbox, SandboxOptions, SandboxState};
use crannog_conformance::flags::skipped;
use crannog_conformance::run::{Run, Wait};
use crannog_conformance::{outside, processes};

use crate::support::{block_on, place, room};

#[test]
fn timeouts_and_windows_that_pass_while_the_guest_stands_still_end_at_once() {
    block_on(async {
        let room = room(SandboxOptions::new()).await;
        let guest = room.guest().await;
        let timed = room.start(Run::bash("echo part; sleep 60").timeout_ms(1_000).until_text("part")).await;
        let waiting = room.start(Run::bash("sleep 60").window(0)).await;
        let window = room.collect(waiting.process, Wait::ms(500));
        let (update, ()) = tokio::join!(window, outside::stopped(guest, Duration::from_secs(3)));
        assert_eq!(update.end, None);
        let begin = Instant::now();
        let whole = room.finish(timed).await;
        assert_eq!((whole.text.as_str(), whole.end), ("part\n", Some(End::TimedOut { after_ms: 1_000 })));
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
        assert_eq!(room.close().await, Vec::<String>::new());
    });
}

#[test]
fn a_lease_that_runs_out_while_the_guest_stands_still_ends_everything() {
    block_on(async {
        let room = room(SandboxOptions::new().lease(Duration::from_secs(2))).await;
        let guest = room.guest().await;
        room.start(Run::bash("setsid -f sleep 1000; sleep 1000").window(0)).await;
        outside::stopped(guest, Duration::from_secs(4)).await;
        let gone = || processes::running(guest).is_none() && processes::of_sandbox(room.id()).is_empty();
        assert!(processes::eventually(Duration::from_secs(5), gone).await, "{:?}", processes::of_sandbox(room.id()));
        assert_eq!(room.host().describe(room.id()).await.unwrap().state, SandboxState::Lost);
        assert_eq!(room.close().await, Vec::<String>::new());
    });
}

#[test]
fn a_renewed_lease_keeps_everything() {
    block_on(async {
        let room = room(SandboxOptions::new().lease(Duration::from_secs(1))).await;
        let sleep = room.start(Run::words("sleep 1000").window(0)).await;
        for _ in 0..8 {
            tokio::time::sleep(Duration::from_millis(400)).await;
            room.sandbox().renew(Some(Duration::from_secs(1))).await.unwrap();
        }
        assert_eq!(room.collect(sleep.process, Wait::ms(0)).await.end, None);
        assert_eq!(room.close().await, Vec::<String>::new());
    });
}

#[test]
fn clocks_a_year_apart_do_not_matter() {
    let year = "31536000";
    let shifted = |client: &std::path::Path| {
        let mut command = Command::new("unshare");
        command.args(["--time", "--fork", "--monotonic", year, "--boottime", year]).arg(client);
        command
    };
    if !Command::new("unshare").args(["--time", "--fork", "true"]).output().is_ok_and(|output| output.status.success()) {
        skipped("no time namespace can be made");
        return;
    }
    block_on(async {
        let room = room(SandboxOptions::new().lease(Duration::from_mins(1))).await;
        let output = shifted(place().client()).args(["exec", room.id(), "echo here"]).env("CRANNOG_HOME", room.root()).output().unwrap();
        assert_eq!(outside::parse(&output.stdout)["stdout"], "here\n", "{output:?}");
        let inner = room.root().join("shifted");
        let output = shifted(place().client()).args(["fresh", "sleep 0.3; echo there"]).env("CRANNOG_HOME", inner).output().unwrap();
        assert_eq!(outside::parse(&output.stdout)["stdout"], "there\n", "{output:?}");
        assert_eq!(room.close().await, Vec::<String>::new());
    });
}

#[test]
fn wall_times_of_another_century_in_the_records_do_no_harm() {
    block_on(async {
        for wall_ms in ["0", "1", "7258118400000"] {
            let room = room(SandboxOptions::new().lease(Duration::from_mins(1))).await;
            let sleep = room.start(Run::words("sleep 1000").window(0)).await;
            rewrite_times(room.root(), wall_ms);
            room.host().reap().await.unwrap();
            let all = Sandbox::list(room.host()).await.unwrap();
            assert_eq!((all.len(), all[0].state), (1, SandboxState::Ready), "{all:?}");
            assert!(all[0].lease_remaining.is_some_and(|left| left > Duration::from_secs(30)), "the guest's clock counts: {all:?}");
            assert_eq!(room.collect(sleep.process, Wait::ms(0)).await.end, None);
            assert_eq!(room.close().await, Vec::<String>::new());
        }
    });
}

/// Sets every wall time of the records below `root`.
fn rewrite_times(root: &std::path::Path, wall_ms: &str) {
    let script = "import glob, sqlite3, sys\n\
        changed = 0\n\
        for path in glob.glob(sys.argv[1] + '/**/*.db', recursive=True) + glob.glob(sys.argv[1] + '/**/*.sqlite*', recursive=True):\n\
        \x20 if path.endswith(('-wal', '-shm')): continue\n\
        \x20 base = sqlite3.connect(path, timeout=10)\n\
        \x20 for (_, name, *_) in list(base.execute('pragma table_info(sandboxes)')):\n\
        \x20   if name.endswith('_ms') and ('created' in name or 'expir' in name):\n\
        \x20     changed += base.execute(f'update sandboxes set {name} = ?', (int(sys.argv[2]),)).rowcount\n\
        \x20 base.commit()\n\
        print(changed)\n";
    let output = Command::new("python3").args(["-c", script]).arg(root).arg(wall_ms).output().unwrap();
    let changed: u32 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or_else(|_| panic!("{output:?}"));
    assert!(changed >= 2, "the times of the record were found");
}
