//! What the transcript tests share: output to push, an archive that fills up, and a model that keeps everything.

use crannog_core::log::{Archive, Limits, MemoryArchive, Unreadable};
use crannog_core::process::Stream;
use crannog_core::utf8::Decoder;
use proptest::prelude::*;

/// Pieces of characters and of line ends, so that every cut of either is met.
const BYTES: &[u8] = &[b'a', b'b', b'\n', b'\r', 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80, 0xFF];

pub(crate) fn stream() -> impl Strategy<Value = Stream> {
    prop_oneof![3 => Just(Stream::Stdout), 1 => Just(Stream::Stderr)]
}

pub(crate) fn output(pushes: usize) -> impl Strategy<Value = Vec<(Stream, Vec<u8>)>> {
    let ragged = prop::collection::vec(prop::sample::select(BYTES), 0..12);
    let whole = prop::collection::vec(prop::sample::select(vec!["é", "€", "😀", "x", "\r\n", "\n"]), 0..6)
        .prop_map(|text| text.concat().into_bytes());
    prop::collection::vec((stream(), prop_oneof![ragged, whole]), 0..pushes)
}

pub(crate) fn limits() -> impl Strategy<Value = Limits> {
    (0..20_usize, 1..24_usize, prop_oneof![Just(0), 0..30_u64, Just(10_000)], prop_oneof![1..6_usize, Just(1_000)])
        .prop_map(|(head_bytes, tail_bytes, archive_bytes, runs_max)| Limits { head_bytes, tail_bytes, archive_bytes, runs_max })
}

/// Takes only so much, like a full disk, and may then fail to give it back.
#[derive(Debug, Clone, Default)]
pub(crate) struct FullDisk {
    pub(crate) kept: MemoryArchive,
    pub(crate) room: usize,
    pub(crate) is_unreadable: bool,
}

impl Archive for FullDisk {
    fn append(&mut self, bytes: &[u8]) -> usize {
        let taken = self.kept.append(&bytes[..bytes.len().min(self.room)]);
        self.room -= taken;
        taken
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<(), Unreadable> {
        if self.is_unreadable { Err(Unreadable) } else { self.kept.read_at(offset, out) }
    }
}

/// Everything that was printed, byte by byte, and the text that each byte completed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) bytes: Vec<(Stream, u8)>,
    pub(crate) texts: Vec<String>,
    decoders: [Decoder; 2],
}

impl Model {
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        for byte in bytes {
            let mut text = String::new();
            self.decoders[usize::from(stream == Stream::Stderr)].decode(&[*byte], &mut text);
            self.bytes.push((stream, *byte));
            self.texts.push(text);
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(crate) fn raw(&self, range: std::ops::Range<u64>) -> Vec<u8> {
        self.bytes[index_of(range.start)..index_of(range.end)].iter().map(|(_, byte)| *byte).collect()
    }

    pub(crate) fn raw_of(&self, stream: Stream, range: std::ops::Range<u64>) -> Vec<u8> {
        self.bytes[index_of(range.start)..index_of(range.end)].iter().filter(|(of, _)| *of == stream).map(|(_, byte)| *byte).collect()
    }

    /// The text of a range: what its bytes completed.
    pub(crate) fn text(&self, range: std::ops::Range<u64>) -> String {
        self.texts[index_of(range.start)..index_of(range.end)].concat()
    }

    /// What the streams leave unfinished.
    pub(crate) fn ending(&self) -> String {
        let mut text = String::new();
        self.decoders.clone().iter_mut().for_each(|decoder| decoder.finish(&mut text));
        text
    }
}

pub(crate) fn index_of(offset: u64) -> usize {
    usize::try_from(offset).unwrap()
}
