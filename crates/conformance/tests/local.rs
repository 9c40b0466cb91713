//! The suite on the backend `local`: a test for every case.
//!
//! The guest comes from `CRANNOG_GUEST`, or stands beside the programs of the same build.

use std::sync::Arc;

use crannog_conformance::local::Local;
use crannog_conformance::place::Place;
use crannog_conformance::suite;

fn run(name: &str) {
    let place: Arc<dyn Place> = Arc::new(Local::new(env!("CARGO_BIN_EXE_conformance-client")));
    suite::run(&place, name);
}

macro_rules! tests {
    ($($theme:ident: $($case:ident),+;)+) => {
        $(mod $theme {
            $(#[test]
            fn $case() {
                super::run(concat!(stringify!($theme), "::", stringify!($case)));
            })+
        })+
    };
}

crannog_conformance::for_every_case!(tests);
