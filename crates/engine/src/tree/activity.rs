//! What a process is doing at the moment, thread by thread: the thread that prints need not be the first.

use std::fs;

/// Whether some thread runs, waits for a processor, or waits in the kernel without being interruptible (`proc_pid_stat(5)`).
pub(super) fn is_at_work(pid: u32) -> bool {
    any_thread(pid, |state| matches!(state, b'R' | b'D'))
}

/// Whether it was stopped by a signal.
pub(super) fn is_stopped(pid: u32) -> bool {
    any_thread(pid, |state| state == b'T')
}

fn any_thread(pid: u32, is_wanted: impl Fn(u8) -> bool) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().filter_map(|thread| fs::read(thread.path().join("stat")).ok()).filter_map(|stat| state(&stat)).any(is_wanted)
}

/// The state follows the name, which is in parentheses and may contain any byte.
fn state(stat: &[u8]) -> Option<u8> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    stat.get(name_end + 2).copied()
}

#[cfg(test)]
mod tests {
    use super::state;

    #[test]
    fn the_state_is_found_behind_any_name() {
        assert_eq!(state(b"12 (a) R (b) S 1 12 12"), Some(b'S'));
        assert_eq!(state(b"12 (sh) D 1"), Some(b'D'));
        assert_eq!(state(b"12 (sh)"), None);
        assert_eq!(state(b""), None);
    }
}
