//! How long a collect waits: from what a caller wished, in seconds or milliseconds, to what it gets.

use crate::limits::{WINDOW_EMPTY_WRITE_MS_MIN, WINDOW_MS_MAX, WINDOW_MS_MIN, WINDOW_START_MS_DEFAULT, WINDOW_WRITE_MS_DEFAULT};

/// The window that stands for `wish_ms`: within [`WINDOW_MS_MIN`] and [`WINDOW_MS_MAX`], so a negative wish gets the shortest.
pub fn clamp_ms(wish_ms: i64) -> u64 {
    wish_ms.max(0).unsigned_abs().clamp(WINDOW_MS_MIN, WINDOW_MS_MAX)
}

/// The window of a write. One without text is a poll and waits at least [`WINDOW_EMPTY_WRITE_MS_MIN`].
pub fn write_ms(wish_ms: i64, input_is_empty: bool) -> u64 {
    let window_ms = clamp_ms(wish_ms);
    if input_is_empty { window_ms.max(WINDOW_EMPTY_WRITE_MS_MIN) } else { window_ms }
}

/// Seconds to milliseconds, cut towards zero and not yet clamped. What no integer can hold becomes the nearest that can; not a
/// number becomes 0.
pub fn ms_from_seconds(seconds: f64) -> i64 {
    // Multiplying before cutting is what the compatible surface does; it decides cases such as 1.0005 s.
    #[expect(clippy::cast_possible_truncation, reason = "the saturating cut is what is wanted")]
    let ms = (seconds * 1_000.0) as i64;
    ms
}

/// The wish of a start in milliseconds, not yet clamped: [`WINDOW_START_MS_DEFAULT`] unless told.
pub fn start_wish_ms(seconds: Option<f64>) -> i64 {
    seconds.map_or(WINDOW_START_MS_DEFAULT.cast_signed(), ms_from_seconds)
}

/// The wish of a write in milliseconds, not yet clamped: [`WINDOW_WRITE_MS_DEFAULT`] unless told.
pub fn write_wish_ms(seconds: Option<f64>) -> i64 {
    seconds.map_or(WINDOW_WRITE_MS_DEFAULT.cast_signed(), ms_from_seconds)
}

#[cfg(test)]
mod tests {
    use super::ms_from_seconds;

    #[test]
    fn seconds_that_no_integer_holds_saturate() {
        assert_eq!(ms_from_seconds(f64::INFINITY), i64::MAX);
        assert_eq!(ms_from_seconds(f64::NEG_INFINITY), i64::MIN);
        assert_eq!(ms_from_seconds(f64::NAN), 0);
    }
}
