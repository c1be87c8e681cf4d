#!/usr/bin/env bash
# Coverage-guided fuzzing of what comes from outside. Without arguments it names the targets.
#
#   scripts/fuzz.sh build              builds them all, over the release build's dependencies
#   scripts/fuzz.sh TARGET [SECONDS]   runs one, for a minute where nothing is said. Executions are added up in
#                                      target/prove/fuzz, what was found to be new goes into target/fuzz/corpus
#   scripts/fuzz.sh keep [TARGET...]   takes over into fuzz/seeds, to be committed, what runs found: of the files of at
#                                      most 4 kB those that reach code which neither a seed made by hand nor a smaller
#                                      file reaches, at most 200 of a target. They are named by their hashes and chosen
#                                      anew each time, out of those kept before and target/fuzz/corpus
set -euo pipefail
source "$(dirname "$0")/lib.sh"

most_bytes=4096 most_files=200
limits=(-timeout=20 -rss_limit_mb=3072)
libraries=$PWD/target/native/lib
# What libFuzzer calls what it found: by its SHA-1.
hashes=$(printf '[0-9a-f]%.0s' {1..40})

targets() { sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | grep -v engram-fuzz; }

# program TARGET: what was built of it.
program() {
    [ -e "fuzz/fuzz_targets/$1.rs" ] || die "there is no target $1; scripts/fuzz.sh names them"
    [ -x "target/release/$1" ] || die "target/release/$1 is not built: scripts/fuzz.sh build"
    echo "target/release/$1"
}

# seeds TARGET: the folders that hold what it starts from.
seeds() {
    [ ! -d "fuzz/seeds/$1" ] || echo "fuzz/seeds/$1"
    case $1 in
        config) echo config ;;
        thresholds) echo calibration/thresholds ;;
    esac
}

build() {
    # Into the release build's folder: its dependencies serve.
    RUSTC_WRAPPER=$PWD/scripts/fuzz_rustc.sh exec cargo build --locked --release --bins \
        --manifest-path fuzz/Cargo.toml --target-dir target
}

fuzz() {
    local target=$1 seconds=$2 program corpus log runs count status=0
    program=$(program "$target")
    # The first folder takes what is new, the others are only read.
    mapfile -t corpus < <(echo "target/fuzz/corpus/$target" && seeds "$target")
    mkdir -p "${corpus[0]}" "target/fuzz/found/$target" target/prove/fuzz
    log=target/fuzz/$target.log
    LD_LIBRARY_PATH=$libraries "$program" "${corpus[@]}" "${limits[@]}" -artifact_prefix="target/fuzz/found/$target/" \
        -max_total_time="$seconds" -max_len=65536 -print_final_stats=1 > "$log" 2>&1 || status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    count=target/prove/fuzz/$target
    echo $(($(cat "$count" 2> /dev/null || echo 0) + ${runs:-0})) > "$count"
    [ "$status" = 0 ] || { tail -40 "$log" >&2; die "$target: see target/fuzz/found/$target and $log"; }
    say "$target: ${runs:-0} executions in $seconds s, $(cat "$count") in all"
}

keep() {
    local target=$1 program folder kept=fuzz/seeds/$1 work=target/fuzz/keep/$1
    program=$(program "$target")
    rm -rf "$work" && mkdir -p "$work/merged" "$work/found" "$work/crashes" "$kept"
    # What was made by hand stays, whatever it reaches; the rest has to add to it.
    while read -r folder; do
        find "$folder" -maxdepth 1 -type f ! -name "$hashes" -exec cp -t "$work/merged" {} +
    done < <(seeds "$target")
    for folder in "target/fuzz/corpus/$target" "$kept"; do
        [ ! -d "$folder" ] || find "$folder" -maxdepth 1 -type f -name "$hashes" \
            -size "-$((most_bytes + 1))c" -exec cp -t "$work/found" {} +
    done
    # Code reached counts, not how often: else there would be thousands.
    LD_LIBRARY_PATH=$libraries "$program" -merge=1 -use_counters=0 "${limits[@]}" -artifact_prefix="$work/crashes/" \
        "$work/merged" "$work/found" > "$work/log" 2>&1 || { tail -40 "$work/log" >&2; die "$target: see $work/log"; }
    find "$kept" -maxdepth 1 -type f -name "$hashes" -delete
    find "$work/merged" -maxdepth 1 -type f -name "$hashes" -printf '%s %p\n' | sort -n |
        sed "$((most_files + 1)),\$d; s/^[0-9]* //" | xargs -r -d '\n' cp -t "$kept"
    say "$target: $(find "$kept" -type f -name "$hashes" | wc -l) of $(find "$work/found" -type f | wc -l) files kept"
    # Nobody needs an empty folder.
    rmdir "$kept" 2> /dev/null || true
}

case ${1:-} in
    "") targets ;;
    build) build ;;
    keep)
        shift
        chosen=("$@")
        [ $# -gt 0 ] || mapfile -t chosen < <(targets)
        for target in "${chosen[@]}"; do
            keep "$target"
        done
        ;;
    *) fuzz "$1" "${2:-60}" ;;
esac
