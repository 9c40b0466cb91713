//! How an end, a time or an amount is said to a person.

use std::time::Duration;

use crannog::End;

/// How a process ended, to follow its name in a sentence.
pub(crate) fn end(end: &End) -> String {
    match end {
        End::Exited { code } => format!("exited with code {code}"),
        End::Signalled { signal, core_dumped: true } => format!("was ended by {signal} and dumped core"),
        End::Signalled { signal, .. } => format!("was ended by {signal}"),
        End::TimedOut { after_ms } => format!("was ended after its timeout of {}", time(Duration::from_millis(*after_ms))),
        End::OutOfMemory => "was ended because memory ran out".to_owned(),
        End::Cancelled { signal } => format!("was killed with {signal}"),
        End::Lost { reason } => format!("was lost: {reason}"),
    }
}

/// A length of time in its largest units.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{}ms", time.as_millis()),
        1..=9 if time.subsec_millis() > 0 => format!("{}.{}s", seconds, time.subsec_millis() / 100),
        1..=119 => format!("{seconds}s"),
        120..=7_199 => format!("{}m", seconds / 60),
        7_200..=172_799 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// An amount of bytes.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, size) in UNITS {
        if count >= size {
            return format!("{}.{} {unit}", count / size, count % size * 10 / size);
        }
    }
    format!("{count} B")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crannog::{End, Signal};

    #[test]
    fn amounts_are_short() {
        assert_eq!(super::bytes(999), "999 B");
        assert_eq!(super::bytes(1_572_864), "1.5 MiB");
        assert_eq!(super::time(Duration::from_millis(2_350)), "2.3s");
        assert_eq!(super::time(Duration::from_millis(42)), "42ms");
        assert_eq!(super::time(Duration::from_secs(7_300)), "2h");
    }

    #[test]
    fn an_end_makes_a_sentence() {
        assert_eq!(super::end(&End::Cancelled { signal: Signal::TERM }), "was killed with SIGTERM");
        assert_eq!(super::end(&End::TimedOut { after_ms: 1_500 }), "was ended after its timeout of 1.5s");
    }
}
