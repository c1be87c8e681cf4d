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
    cargo test --locked --doc
else
    cargo test --locked
fi
