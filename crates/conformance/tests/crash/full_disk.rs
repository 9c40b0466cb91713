//! The disk below the transcripts is full. Output goes on, and what could not be kept is stated in exact bytes.

use std::process::Command;

use crannog_conformance::flags::skipped;
use crannog_conformance::outside;
use crannog_conformance::place::Need;

use crate::support::place;

/// Runs the client's scenario with `size` kibibytes below the runtime directory, in a mount namespace of its own.
fn scenario(size_kib: u32) -> Option<serde_json::Value> {
    if let Some(reason) = place().lacks(Need::Root) {
        skipped(&reason);
        return None;
    }
    let root = tempfile::tempdir().unwrap();
    let runtime = crannog::Host::at(root.path()).unwrap().runtime_directory();
    let script = "set -e; mkdir -p -m 700 \"$1\"; mount -t tmpfs -o mode=700,size=\"$2\"k crannog \"$1\"; shift 2; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(runtime).arg(size_kib.to_string());
    command.arg(place().client()).arg("full-disk").env("CRANNOG_HOME", root.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(outside::parse(&output.stdout))
}

#[test]
fn a_full_disk_stops_no_output_and_the_gap_is_exact() {
    let Some(answer) = scenario(1_024) else { return };
    let number = |name: &str| answer[name].as_u64().unwrap_or_else(|| panic!("{name}: {answer}"));
    assert_eq!(number("printed"), 16 * 1_000_000);
    assert_eq!(number("kept") + number("lost"), number("printed"), "{answer}");
    assert_eq!(number("listed_lost"), number("lost"), "{answer}");
    let in_memory = (crannog::limits::TRANSCRIPT_HEAD_BYTES + crannog::limits::TRANSCRIPT_TAIL_BYTES) as u64;
    assert!(number("kept") > in_memory, "what fitted the disk is kept: {answer}");
    assert!(number("kept") <= in_memory + (1 << 20), "the disk was full: {answer}");
    assert_eq!(answer["misplaced"], 0, "{answer}");
    assert_eq!(answer["next_exec"], "fine\n", "{answer}");
    assert_eq!(answer["destroyed"], true, "{answer}");
}
