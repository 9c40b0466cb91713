//! Puts the guest program where `embedded-guest` finds it, under a hash of its content.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CRANNOG_GUEST_BINARY");
    if env::var_os("CARGO_FEATURE_EMBEDDED_GUEST").is_none() {
        return;
    }
    let Some(program) = env::var_os("CRANNOG_GUEST_BINARY").map(PathBuf::from) else {
        println!("cargo::error=set CRANNOG_GUEST_BINARY to a built crannog-guest, which the feature embedded-guest carries");
        return;
    };
    println!("cargo::rerun-if-changed={}", program.display());
    let bytes = match fs::read(&program) {
        Ok(bytes) => bytes,
        Err(error) => {
            println!("cargo::error=CRANNOG_GUEST_BINARY {}: {error}", program.display());
            return;
        }
    };
    // The name tells contents of this machine's builds apart; it is no proof of anything.
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    println!("cargo::rustc-env=CRANNOG_GUEST_HASH={:016x}", hasher.finish());
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it for build scripts")).join("crannog-guest");
    if let Err(error) = fs::write(&target, bytes) {
        println!("cargo::error={}: {error}", target.display());
    }
}
