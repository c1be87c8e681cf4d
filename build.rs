//! Lets every engram binary find libtorch and ONNX Runtime beside itself, wherever it is put.
//!
//! `target/release/engramd` and `target/debug/deps/<test>` look in `target/native/lib`; an installed
//! `/usr/bin/engramd` looks in `/usr/lib/engram`. DT_RPATH (not RUNPATH) so that libraries loaded by
//! libraries are found the same way.

fn main() {
    for dir in ["../native/lib", "../../native/lib", "../lib/engram"] {
        println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/{dir}");
    }
    println!("cargo:rustc-link-arg=-Wl,--disable-new-dtags");
    println!("cargo:rerun-if-changed=build.rs");
}
