//! Skipping a case for a reason that can be read.

/// Ends the case, saying why, when the place lacks what it needs.
#[macro_export]
macro_rules! need {
    ($room:expr, $need:expr) => {
        if let Some(reason) = $room.lacks($need) {
            $crate::flags::skipped(&reason);
            return;
        }
    };
}

/// Says why a case is not run here. Where `CI` is set nothing may be skipped, so there it fails.
#[expect(clippy::print_stderr, reason = "a test's own output is where its reader looks")]
pub fn skipped(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "not run: {reason}");
    eprintln!("skipped: {reason}");
}
