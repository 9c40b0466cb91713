//! The policy that limits the shown content by bytes and counts what is missing in characters.

use std::borrow::Cow;

use super::{Unit, header, marker, split, split_budget};
use crate::lines;

/// Keeps at most `limit_bytes` of content; a negative limit keeps none. The marker, and the line count that stands in front
/// `with_header`, come on top of the limit, so the result may be longer than `text`.
pub fn truncate_bytes(text: &str, limit_bytes: i64, with_header: bool) -> Cow<'_, str> {
    let limit_bytes = limit_bytes.max(0).unsigned_abs();
    if text.len() as u64 <= limit_bytes {
        return Cow::Borrowed(text);
    }
    let (head_bytes, tail_bytes) = split_budget(limit_bytes);
    let parts = split(text, head_bytes, tail_bytes);
    let mut cut = if with_header { header(lines::count(text)) } else { String::new() };
    cut.push_str(parts.head);
    cut.push_str(&marker(Unit::Chars, parts.removed_chars));
    cut.push_str(parts.tail);
    Cow::Owned(cut)
}
