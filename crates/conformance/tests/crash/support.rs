//! Seeds, numbered output, and a room for each test.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crannog::SandboxOptions;
use crannog_conformance::local::Local;
use crannog_conformance::place::Place;
use crannog_conformance::room::Room;
use crannog_conformance::run::Run;

/// A small generator (xorshift), so that one number repeats a run.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// From `CRANNOG_SEED`, or from the clock; either way it is printed.
    #[expect(clippy::print_stderr, reason = "a failing run must tell its seed")]
    pub(crate) fn seeded() -> Self {
        let given = std::env::var("CRANNOG_SEED").ok().and_then(|text| text.parse().ok());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos());
        let seed = given.unwrap_or_else(|| u64::try_from(now & u128::from(u64::MAX)).unwrap_or(1)).max(1);
        eprintln!("CRANNOG_SEED={seed}");
        Self(seed)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % bound
    }

    /// A time below `bound_ms`.
    pub(crate) fn pause(&mut self, bound_ms: u64) -> Duration {
        Duration::from_micros(self.below(bound_ms * 1_000))
    }
}

/// The local place, with the client program of this build.
pub(crate) fn place() -> Arc<dyn Place> {
    Arc::new(Local::new(env!("CARGO_BIN_EXE_conformance-client")))
}

/// Runs a test on one thread.
pub(crate) fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// A room with these options.
pub(crate) async fn room(options: SandboxOptions) -> Room {
    Room::open(place(), options).await
}

/// Prints numbered lines at one to two megabytes a second until the file `stop` exists, then the number of lines, and exits with 7.
pub(crate) fn counting() -> Run {
    Run::python(
        "import os, time\nn = 0\n\
         while not os.path.exists('stop'):\n\
         \x20 os.write(1, b''.join(b'%015d\\n' % i for i in range(n, n + 100))); n += 100; time.sleep(0.001)\n\
         os.write(1, b'end %d\\n' % n); os._exit(7)",
    )
}

/// Asserts that `bytes` are the numbered lines from the first on, none missing, none twice, perhaps cut at the end. Returns the number of
/// whole lines.
pub(crate) fn check_counted(bytes: &[u8]) -> u64 {
    let mut count = 0;
    for chunk in bytes.chunks(16) {
        let expected = format!("{count:015}\n");
        if chunk.starts_with(b"end ") {
            assert_eq!(chunk, format!("end {count}\n").as_bytes());
            return count;
        }
        assert!(expected.as_bytes().starts_with(chunk), "after line {count}: {:?}", String::from_utf8_lossy(chunk));
        count += u64::from(chunk.len() == 16);
    }
    count
}
