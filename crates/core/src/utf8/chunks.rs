//! The pieces of text in raw bytes, found as fast as the bytes allow.

use super::incomplete_suffix_len;

/// Bytes validated at once: they are still in the first cache when they are copied or counted, and an ill-formed byte costs the slow way
/// through no more than these.
const BLOCK_BYTES: usize = 16 * 1024;

/// Calls `each` with every well-formed run of `bytes` and whether a maximal ill-formed subpart follows it. `bytes` must not end inside a
/// scalar; how they are cut into runs is nobody's business.
pub(super) fn each_chunk(mut bytes: &[u8], mut each: impl FnMut(&str, bool)) {
    while !bytes.is_empty() {
        let block = &bytes[..bytes.len().min(BLOCK_BYTES)];
        // A scalar that the block cuts goes to the next one. At the end nothing is cut, so there is always something to go through.
        let (block, rest) = bytes.split_at(block.len() - if block.len() < bytes.len() { incomplete_suffix_len(block) } else { 0 });
        // This only says whether all of it is well-formed, many bytes at a time; the standard library then says where it is not.
        match simdutf8::basic::from_utf8(block) {
            Ok(text) => each(text, false),
            Err(_) => block.utf8_chunks().for_each(|chunk| each(chunk.valid(), !chunk.invalid().is_empty())),
        }
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BLOCK_BYTES, each_chunk};
    use crate::utf8::incomplete_suffix_len;

    fn lossy(bytes: &[u8]) -> String {
        let mut text = String::new();
        each_chunk(bytes, |valid, is_broken| {
            text.push_str(valid);
            text.extend(is_broken.then_some(char::REPLACEMENT_CHARACTER));
        });
        text
    }

    proptest! {
        #[test]
        fn edges_of_blocks_do_not_show(
            before in BLOCK_BYTES - 6..BLOCK_BYTES,
            edge in prop::collection::vec(prop::sample::select(b"a\x80\xA0\xC3\xE0\xE2\x82\xAC\xED\xF0\x9F\x98\xF4\xFF".to_vec()), 0..12),
            after in 0..2 * BLOCK_BYTES,
        ) {
            let mut bytes = vec![b'-'; before];
            bytes.extend(edge);
            bytes.resize(bytes.len() + after, b'-');
            bytes.truncate(bytes.len() - incomplete_suffix_len(&bytes));
            prop_assert_eq!(lossy(&bytes), String::from_utf8_lossy(&bytes));
        }
    }
}
