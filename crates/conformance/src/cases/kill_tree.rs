//! Timeouts, kills and cancelled callers reach the whole tree, and only that tree.

use std::time::{Duration, Instant};

use crannog::{End, Signal, Target};
use futures_util::future::join_all;

use crate::marker;
use crate::need;
use crate::outside;
use crate::place::Need;
use crate::processes::{self, eventually, matching};
use crate::room::Room;
use crate::run::{Run, Wait};

/// KILL-01.
pub(crate) async fn a_timeout_reaches_grandchildren(room: &Room) {
    let (one, two) = (marker::sleep_seconds(), marker::sleep_seconds());
    let begin = Instant::now();
    let output = room.exec(Run::bash(format!("echo part; sleep {one} & sleep {two}; true")).timeout_ms(1_000)).await;
    assert!(begin.elapsed() <= Duration::from_secs(3), "{:?}", begin.elapsed());
    assert_eq!(output.end, End::TimedOut { after_ms: 1_000 });
    assert_eq!(output.stdout, b"part\n", "what was printed before is kept");
    assert!(eventually(Duration::from_secs(1), || matching(&one).is_empty() && matching(&two).is_empty()).await);
}

/// KILL-02.
pub(crate) async fn a_timeout_reaches_a_child_in_its_own_session(room: &Room) {
    let (one, two) = (marker::sleep_seconds(), marker::sleep_seconds());
    let begin = Instant::now();
    let output = room.exec(Run::bash(format!("setsid sleep {one} & sleep {two}; true")).timeout_ms(1_000)).await;
    assert!(begin.elapsed() <= Duration::from_secs(3), "{:?}", begin.elapsed());
    assert_eq!(output.end, End::TimedOut { after_ms: 1_000 });
    assert!(eventually(Duration::from_secs(2), || matching(&one).is_empty() && matching(&two).is_empty()).await, "{:?}", matching(&one));
}

/// The kind behind KILL-02: every way out of a tree, at once, while the leader ignores TERM.
pub(crate) async fn a_kill_reaches_every_way_out_of_the_tree(room: &Room) {
    let sleeps: Vec<_> = (0..5).map(|_| marker::sleep_seconds()).collect();
    let [own, forked, bare, double, leader] = &sleeps[..] else { unreachable!("five were made") };
    let text = format!(
        "trap '' TERM HUP INT
        setsid sleep {own} &
        (setsid -f sh -c 'sleep {forked} & wait' &)
        env -i /usr/bin/setsid -f /usr/bin/nohup /bin/sleep {bare} >/dev/null 2>&1 </dev/null
        python3 -c 'import os, signal
[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]
os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.chdir(\"/\"); os.closerange(0, 99)
os.execvp(\"sleep\", [\"sleep\", \"{double}\"])'
        echo all; sleep {leader}"
    );
    for terminal in [false, true] {
        let first = room.start(Run::bash(&text).terminal_if(terminal).until_text("all")).await;
        let running = |sleep: &String| matching(&format!("sleep {sleep}")).iter().any(|seen| !seen.command.contains("sh -c"));
        assert!(eventually(Duration::from_secs(3), || sleeps.iter().all(running)).await, "all five run");
        let begin = Instant::now();
        let killed = room.kill(first.process).await;
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        assert!(killed.complete && killed.reached >= 6, "{killed:?}");
        assert_eq!(killed.end, End::Cancelled { signal: Signal::KILL });
        for sleep in &sleeps {
            assert!(eventually(Duration::from_secs(1), || matching(sleep).is_empty()).await, "{:?}", matching(sleep));
        }
    }
}

/// KILL-04.
pub(crate) async fn a_stopped_process_is_ended(room: &Room) {
    let word = marker::word();
    let first = room.start(Run::bash(format!("kill -STOP $$; echo never # {word}")).window(500)).await;
    assert!(first.end.is_none());
    let begin = Instant::now();
    room.kill(first.process).await;
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert!(matching(&word).is_empty());
    let whole = room.finish(first).await;
    assert_eq!(whole.text, "");
    assert!(matches!(whole.end, Some(End::Cancelled { .. })), "{:?}", whole.end);
}

/// KILL-05.
pub(crate) async fn no_zombies_and_no_descriptors_pile_up(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    room.bash("true").await;
    let descriptors = || processes::descriptors(guest).map(|all| all.len());
    let before = descriptors();
    for _ in 0..20 {
        join_all((0..10).map(|_| room.start(Run::words("true").window(10_000)))).await;
    }
    for _ in 0..5 {
        join_all((0..10).map(|index| async move {
            let sleeping = room.start(Run::words("sleep 60").terminal_if(index % 2 == 0).window(0)).await;
            room.kill(sleeping.process).await;
        }))
        .await;
    }
    let zombies = || processes::children(guest).into_iter().filter(|seen| seen.state == 'Z').count();
    assert!(eventually(Duration::from_secs(2), || zombies() == 0).await, "{:?}", processes::children(guest));
    if let Some(before) = before {
        let back = || descriptors().is_some_and(|now| now.abs_diff(before) <= 3);
        assert!(eventually(Duration::from_secs(2), back).await, "{before} descriptors became {:?}", descriptors());
    }
}

/// Orphans that come to the guest are waited for, too.
pub(crate) async fn orphans_are_reaped(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    let output = room.exec(Run::bash("for i in $(seq 50); do (sleep 0.2 &) ; done; (setsid -f true)")).await;
    assert_eq!(output.exit_code(), Some(0));
    let clean = || processes::children(guest).is_empty();
    assert!(eventually(Duration::from_secs(3), clean).await, "{:?}", processes::children(guest));
}

/// KILL-08.
pub(crate) async fn a_process_outlives_half_a_minute_of_idleness(room: &Room) {
    let first = room.start(Run::words("sleep 60").terminal().window(300)).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let later = room.collect(first.process, Wait::ms(250)).await;
    assert_eq!(later.end, None);
}

/// KILL-11.
pub(crate) async fn a_program_that_buffers_shows_nothing_before_its_timeout(room: &Room) {
    let text = "import time; print('x'); time.sleep(60)";
    let output = room.exec(Run::python(text).timeout_ms(1_000)).await;
    assert_eq!((output.stdout.as_slice(), output.end), (&b""[..], End::TimedOut { after_ms: 1_000 }));
    let update = room.start(Run::python(text).terminal().window(3_000).until_text("\n")).await;
    assert_eq!(update.text, "x\r\n");
}

/// KILL-12.
pub(crate) async fn a_flood_does_not_starve_its_timeout(room: &Room) {
    need!(room, Need::GuestProcess);
    let guest = room.guest().await;
    let before = processes::resident_bytes(guest);
    let flood = |bytes_max: u64| async move {
        let begin = Instant::now();
        let output = room.sandbox().exec_with(Run::words("yes").timeout_ms(2_000).into_command(), bytes_max).await.unwrap();
        let took = begin.elapsed();
        assert!((Duration::from_secs(2)..Duration::from_secs(4)).contains(&took), "{took:?}");
        assert_eq!(output.end, End::TimedOut { after_ms: 2_000 });
        assert!(output.stdout.len() as u64 <= bytes_max && output.stdout.starts_with(b"y\ny\n"));
    };
    flood(crannog::limits::EXEC_OUTPUT_BYTES_DEFAULT).await;
    // Ten times the default would measure how fast this test takes it in.
    join_all((0..10).map(|_| flood(100_000))).await;
    let growth = processes::resident_bytes(guest).saturating_sub(before);
    assert!(growth < 64 << 20, "the guest grew by {growth} bytes");
}

/// KILL-14, with the caller's process killed and with its future dropped. The HTTP form adds only a third way to go away.
pub(crate) async fn a_caller_that_goes_away_ends_its_exec_but_no_started_process(room: &Room) {
    let (one, two, kept) = (marker::sleep_seconds(), marker::sleep_seconds(), marker::sleep_seconds());
    let started = room.start(Run::words(&format!("sleep {kept}")).window(0)).await;
    let text = format!("sleep {one} & sleep {two}");
    let both = || matching(&format!("sleep {one}")).len() >= 2 && matching(&format!("sleep {two}")).len() >= 2;
    let mut client = outside::spawn_client(room, &["exec", room.id(), &text]);
    // The client's own arguments hold both marks, and so do those of the shell.
    assert!(eventually(Duration::from_secs(5), both).await, "{:?}", matching(&one));
    client.kill().unwrap();
    client.wait().unwrap();
    let gone = || matching(&one).is_empty() && matching(&two).is_empty();
    assert!(eventually(Duration::from_secs(3), gone).await, "{:?}", matching(&one));

    let dropped = tokio::time::timeout(Duration::from_millis(500), room.exec(Run::bash(&text))).await;
    assert!(dropped.is_err());
    assert!(eventually(Duration::from_secs(3), gone).await, "{:?}", matching(&one));
    assert_eq!(room.collect(started.process, Wait::ms(0)).await.end, None, "a started process stays");
}

/// A tree that forks faster than it is listed is ended all the same.
pub(crate) async fn a_tree_that_keeps_forking_is_ended(room: &Room) {
    let word = marker::word();
    let text = "import os, signal, sys, time\n\
        signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n\
        [os.fork() for _ in range(4)]\n\
        print('up', flush=True)\n\
        while True:\n\
        \x20 if os.fork(): time.sleep(0.02); os._exit(0)\n\
        \x20 os.setsid(); time.sleep(0.002)\n";
    let run = Run::argv(["python3", "-c", text, word.as_str()]);
    let first = room.start(run.until_text("up")).await;
    let killed = room.kill(first.process).await;
    assert!(killed.complete, "{killed:?}");
    assert!(eventually(Duration::from_secs(1), || matching(&word).is_empty()).await, "{:?}", matching(&word));
}

/// A handler of TERM gets the grace and its last words are kept.
pub(crate) async fn the_grace_lets_a_handler_say_its_last_words(room: &Room) {
    let text = "import os, signal, time\n\
        def last(*_): os.write(1, b'bye\\n'); os._exit(3)\n\
        signal.signal(signal.SIGTERM, last); os.write(1, b'up\\n'); time.sleep(60)";
    let first = room.start(Run::python(text).until_text("up")).await;
    let killed = room.kill(first.process).await;
    let whole = room.finish(first).await;
    assert_eq!(whole.text, "up\nbye\n");
    assert_eq!(whole.end, Some(killed.end));
    assert!(matches!(whole.end, Some(End::Cancelled { .. } | End::Exited { code: 3 })), "{:?}", whole.end);
}

/// A signal by name reaches whom it is aimed at, and its effect is told as what it was.
pub(crate) async fn a_signal_reaches_its_target_only(room: &Room) {
    let sleep = marker::sleep_seconds();
    let first = room.start(Run::bash(format!("setsid sleep {sleep} & sleep {sleep}")).window(0)).await;
    assert!(eventually(Duration::from_secs(2), || matching(&format!("sleep {sleep}")).len() >= 3).await);
    room.signal(first.process, Signal::parse("USR1").unwrap(), Target::Group).await;
    let whole = room.finish(first).await;
    assert_eq!(whole.exit_code(), Some(128 + 10));
    assert!(matches!(whole.end, Some(End::Signalled { .. })), "{:?}", whole.end);
    assert_eq!(matching(&sleep).len(), 1, "its own session is another group");
    room.signal(whole.process, Signal::KILL, Target::Tree).await;
    assert!(eventually(Duration::from_secs(2), || matching(&sleep).is_empty()).await);
}

/// A timeout on a process that ends in time has no effect, on nobody.
pub(crate) async fn a_timeout_that_is_not_reached_has_no_effect(room: &Room) {
    let sleep = marker::sleep_seconds();
    let whole = room.whole(Run::bash(format!("sleep {sleep} >/dev/null 2>&1 & echo ok")).timeout_ms(400)).await;
    assert_eq!((whole.text.as_str(), whole.end.clone()), ("ok\n", Some(End::Exited { code: 0 })));
    tokio::time::sleep(Duration::from_millis(800)).await;
    let later = room.collect(whole.process, Wait::ms(0)).await;
    assert_eq!(later.end, whole.end, "an end never changes");
}
