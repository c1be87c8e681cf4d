#!/usr/bin/env bash
# Coverage-guided fuzzing of what comes from outside: scripts/fuzz.sh TARGET [SECONDS]; without arguments it names
# the targets. Executions are added up in target/prove/fuzz; what was found to be new is kept in target/fuzz/corpus.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

target=${1:-} seconds=${2:-60}
if [ -z "$target" ]; then
    sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | grep -v engram-fuzz
    exit
fi
cargo fuzz --version > /dev/null 2>&1 || die "cargo-fuzz is not installed: cargo install cargo-fuzz --locked"
[ "$target" = build ] || [ -e "fuzz/fuzz_targets/$target.rs" ] || die "there is no target $target; scripts/fuzz.sh names them"

# The instrumentation of the pinned compiler; a sanitizer would need the nightly one's libraries.
export RUSTC_BOOTSTRAP=1
how=(--sanitizer none --target-dir target/fuzz)
if [ "$target" = build ]; then
    exec cargo fuzz build "${how[@]}"
fi

# The first folder takes what is new, the others are only read.
corpus=(target/fuzz/corpus/$target)
mkdir -p "${corpus[0]}" "target/fuzz/found/$target" target/prove/fuzz
for seeds in "fuzz/seeds/$target" "$(case $target in config) echo config ;; thresholds) echo calibration/thresholds ;; esac)"; do
    [ -n "$seeds" ] && [ -d "$seeds" ] && corpus+=("$seeds")
done
log=target/fuzz/$target.log
limits=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=3072 -max_len=65536 -print_final_stats=1)
status=0
cargo fuzz run "${how[@]}" "$target" "${corpus[@]}" -- "${limits[@]}" \
    -artifact_prefix="target/fuzz/found/$target/" > "$log" 2>&1 || status=$?
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
count=target/prove/fuzz/$target
echo $(($(cat "$count" 2> /dev/null || echo 0) + ${runs:-0})) > "$count"
[ "$status" = 0 ] || { tail -40 "$log" >&2; die "$target: see target/fuzz/found/$target and $log"; }
say "$target: ${runs:-0} executions in $seconds s, $(cat "$count") in all"
