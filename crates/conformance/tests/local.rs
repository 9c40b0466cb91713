//! The suite on the backend `local`: a test for every case.
//!
//! The guest comes from `CRANNOG_GUEST`, or stands beside the programs of the same build.

macro_rules! tests {
    ($($theme:ident: $($case:ident),+;)+) => {
        $(mod $theme {
            $(#[test]
            fn $case() {
                let place = crannog_conformance::local::Local::new(env!("CARGO_BIN_EXE_conformance-client"));
                crannog_conformance::suite::run(std::sync::Arc::new(place), concat!(stringify!($theme), "::", stringify!($case)));
            })+
        })+
    };
}

crannog_conformance::for_every_case!(tests);
