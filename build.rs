//! Lets every engram binary find libtorch and ONNX Runtime beside itself, wherever it is put.
//!
//! `target/release/engramd` and `target/debug/deps/<test>` look in `target/native/lib`; an installed
//! `/usr/bin/engramd` looks in `/usr/lib/engram`. DT_RPATH (not RUNPATH) so that libraries loaded by
//! libraries are found the same way.
//!
//! And lists the files of the web page (`src/http/page`), which the binary carries.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    for dir in ["../native/lib", "../../native/lib", "../lib/engram"] {
        println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/{dir}");
    }
    println!("cargo:rustc-link-arg=-Wl,--disable-new-dtags");
    println!("cargo:rerun-if-changed=build.rs");
    page()
}

/// Writes `page.rs`: the page's files, each with its bytes.
fn page() -> io::Result<()> {
    let var = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let folder = var("CARGO_MANIFEST_DIR").join("src/http/page");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let served = [".html", ".js", ".css"].iter().any(|ending| name.ends_with(ending));
        if served {
            names.push(name);
        }
    }
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        let path = folder.join(&name);
        println!("cargo:rerun-if-changed={}", path.display());
        let _ = writeln!(list, "({name:?}, include_bytes!({path:?})),");
    }
    list.push_str("]\n");
    fs::write(Path::new(&var("OUT_DIR")).join("page.rs"), list)
}
