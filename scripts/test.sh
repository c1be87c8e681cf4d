#!/usr/bin/env bash
# Form, lints, tests. `cargo nextest` is used where it is installed.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

say "cargo fmt --check"
cargo fmt --check
say "cargo clippy"
cargo clippy --locked --all-targets --quiet -- -D warnings
say "tests"
if cargo nextest --version > /dev/null 2>&1; then
    cargo nextest run --locked
    # A documentation test is built elsewhere: the binary's own search path does not reach that far.
    LD_LIBRARY_PATH="$PWD/target/native/lib" cargo test --locked --doc
else
    LD_LIBRARY_PATH="$PWD/target/native/lib" cargo test --locked
fi
