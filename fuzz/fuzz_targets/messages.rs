//! Messages from a foreign side: whatever the bytes are, decoding answers or refuses, and what it accepts survives being sent again.
#![no_main]

use crannog_core::collect::Collect;
use crannog_core::process::{ProcessInfo, StartSpec, Update};
use crannog_core::transcript::{FollowEvent, Killed, TranscriptPart};
use crannog_wire::message::{Hello, RunSpec};
use crannog_wire::{GuestConfig, proto};
use libfuzzer_sys::fuzz_target;
use prost::Message;

/// What is accepted must come back the same when it is sent on.
fn check<Word, Sent>(bytes: &[u8])
where
    Word: Clone + PartialEq + std::fmt::Debug + TryFrom<Sent>,
    Word::Error: std::fmt::Debug,
    Sent: Message + Default + From<Word>,
{
    let Ok(Ok(word)) = Sent::decode(bytes).map(Word::try_from) else { return };
    let again = Sent::from(word.clone()).encode_to_vec();
    let again = Word::try_from(Sent::decode(again.as_slice()).expect("our own encoding decodes"));
    assert_eq!(again.expect("an accepted word is accepted again"), word);
}

fuzz_target!(|bytes: &[u8]| {
    check::<StartSpec, proto::StartSpec>(bytes);
    check::<RunSpec, proto::RunRequest>(bytes);
    check::<Collect, proto::Collect>(bytes);
    check::<Update, proto::Update>(bytes);
    check::<ProcessInfo, proto::ProcessInfo>(bytes);
    check::<FollowEvent, proto::FollowEvent>(bytes);
    check::<TranscriptPart, proto::ReadReply>(bytes);
    check::<Killed, proto::KillReply>(bytes);
    check::<Hello, proto::HelloReply>(bytes);
    if let Ok(config) = GuestConfig::decode(bytes) {
        assert_eq!(GuestConfig::decode(&config.encode()).expect("our own encoding decodes"), config);
    }
});
