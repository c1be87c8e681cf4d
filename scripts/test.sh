#!/usr/bin/env bash
# Form, lints, tests. `cargo nextest` is used where it is installed.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

say "cargo fmt --check"
cargo fmt --check
say "cargo clippy"
cargo clippy --locked --all-targets --quiet -- -D warnings
say "fuzz/Cargo.lock"
cargo metadata --locked --manifest-path fuzz/Cargo.toml --format-version 1 --filter-platform "$(rustc -vV | sed -n 's/^host: //p')" > /dev/null ||
    die "fuzz/Cargo.lock is older than Cargo.toml: (cd fuzz && cargo metadata --format-version 1 > /dev/null)"
say "tests"
if cargo nextest --version > /dev/null 2>&1; then
    cargo nextest run --locked --no-fail-fast
    # A documentation test is built elsewhere: the binary's own search path does not reach that far.
    LD_LIBRARY_PATH="$PWD/target/native/lib" cargo test --locked --doc
else
    LD_LIBRARY_PATH="$PWD/target/native/lib" cargo test --locked --no-fail-fast
fi
say "tests of the benchmarks' own judges"
python3 -B -m unittest discover --quiet --start-directory benches
