#!/usr/bin/env bash
# What is too long for `make test`, in parts of at most 9 minutes. A part that held is not run again for the
# same commit: stop whenever you like, run again, and the parts add up. `scripts/prove.sh --list` names them.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

limit=540
revision=$(git rev-parse HEAD 2> /dev/null || echo none)
git diff --quiet HEAD 2> /dev/null || revision=$revision-changed
stamps=target/prove/$revision
promise() { echo "cargo test --locked --release --test promises -- --exact --nocapture $1"; }
kills=a_kill_loses_nothing::a_killed_replay_resumes_into_the_same_memory

# name | command
parts=("build|cargo test --locked --release --test promises --no-run")
for from in 0 5 10 15; do
    parts+=("kill -9, rounds $from to $((from + 4))|ENGRAM_KILLS=5 ENGRAM_KILLS_FROM=$from $(promise $kills)")
done
# Ingest, upkeep and erasure at once.
for from in 0 25 50 75; do
    parts+=("kill -9 of a life, kills $from to $((from + 24))|ENGRAM_KILLS=25 ENGRAM_KILLS_FROM=$from cargo test --locked --release --lib -- --exact --nocapture daemon::service::killed::kill_9_loses_nothing_and_brings_nothing_back")
done
# Every fault once, live and through a replay; then again and again, while the daemon is killed every 30 s.
faults() { echo "$(promise a_robot_survives_its_faults::$1) --ignored"; }
live=no_clip_and_no_request_is_lost_whatever_goes_wrong
replayed=a_replay_through_every_fault_ends_in_the_same_memory
parts+=("each fault once while live|$(faults $live)")
parts+=("each fault once through a replay|$(faults $replayed)")
parts+=("faults while live|ENGRAM_FAULT_SECS=360 $(faults $live)")
parts+=("faults through a replay|ENGRAM_FAULT_SECS=360 $(faults $replayed)")
for recording in living_room_dev two_people_dev one_person_dev; do
    for set in edge open; do
        parts+=("one memory of $recording with $set|ENGRAM_RECORDING=$recording ENGRAM_SET=$set $(promise replay_is_deterministic::any_recording_at_any_rate_with_any_workers) --ignored")
    done
done
# Seeded mutations of bags, messages and definitions: each run goes on where the one before stopped.
mutated() { echo "ENGRAM_MUTATIONS=$2 ENGRAM_MUTATIONS_STATE=$PWD/target/prove/mutations cargo test --locked --release --lib -- --exact capture::bag::mutations::$1"; }
parts+=("3,000,000 mutated messages|$(mutated mutated_messages_never_panic 3000000)")
parts+=("3,000,000 mutated definitions|$(mutated mutated_definitions_never_panic 3000000)")
mutated_in() { echo "ENGRAM_MUTATIONS=$2 ENGRAM_MUTATIONS_STATE=$PWD/target/prove/mutations cargo test --locked --release --lib -- --exact $1"; }
parts+=("2,000,000 mutated requests|$(mutated_in mqtt::message::request::tests::mutated_requests_never_panic 2000000)")
parts+=("100,000 mutated configurations|$(mutated_in config::load::tests::mutated_files_never_panic 100000)")
parts+=("500,000 mutated picture files|$(mutated mutated_picture_files_never_panic 500000)")
parts+=("2,000,000 mutated pictures|$(mutated mutated_pixels_never_panic 2000000)")
for format in mcap rosbag1 sqlite; do
    parts+=("700,000 mutated bags, $format|$(mutated mutated_${format}_never_panics 700000)")
done
# Guided by coverage: ten minutes of each target, in two parts. cargo-fuzz is no part of the set-up.
if cargo fuzz --version > /dev/null 2>&1; then
    parts+=("build of the fuzz targets|scripts/fuzz.sh build")
    for target in $(scripts/fuzz.sh); do
        for part in first second; do
            parts+=("$part five minutes of fuzzing: $target|scripts/fuzz.sh $target 305")
        done
    done
else
    warn "without cargo-fuzz (cargo install cargo-fuzz --locked) only the seeded mutations run"
fi
# Whatever has added up so far, over all runs.
parts+=("10,000,000 executions in all|cat target/prove/mutations/* target/prove/fuzz/* 2> /dev/null | awk '{ sum += \$1 } END { print sum + 0; exit !(sum >= 10000000) }'")
parts+=("a year of forgetting|cargo test --locked --release --lib -- --exact --nocapture bench::forget::tests::a_year_stays_under_its_cap_and_still_answers --ignored")
parts+=("voices, measured|cargo test --locked --release --lib -- voice::measured --ignored --nocapture --test-threads 1")
# Round trips of questions, and a model server that hangs.
for broker in embedded mosquitto; do
    parts+=("round trip of a fast question, $broker|benches/round_trip.py --broker $broker")
    parts+=("200 questions before a stalled model, ten times, $broker|benches/round_trip.py --broker $broker --stalled")
done
# Two hours of recording time in one store; parts that are not needed any more do nothing.
recording=${ENGRAM_SHARED:-../shared}/recordings/living_room_dev.mp4
soak="--folder $stamps/soak"
for number in 1 2 3 4 5 6; do
    parts+=("soak, part $number|benches/soak.py part --recording $recording $soak --secs 450 --set models.set=edge")
done
parts+=("soak, two hours together|benches/soak.py summary $soak")

if [ "${1:-}" = --list ]; then
    printf '%s\n' "${parts[@]%%|*}"
    exit
fi

mkdir -p "$stamps"
failed=()
number=0
for part in "${parts[@]}"; do
    name=${part%%|*}
    command=${part#*|}
    number=$((number + 1))
    stamp=$stamps/$number
    if [ -e "$stamp.held" ]; then
        say "$number/${#parts[@]} $name: held before"
        continue
    fi
    say "$number/${#parts[@]} $name"
    if timeout "$limit" bash -c "$command" > "$stamp.log" 2>&1; then
        touch "$stamp.held"
    else
        status=$?
        failed+=("$name")
        tail -15 "$stamp.log" >&2
        [ "$status" = 124 ] && warn "$name took longer than $limit s"
    fi
done
held=$(find "$stamps" -name '*.held' | wc -l)
say "$held of ${#parts[@]} parts held (logs in $stamps)"
[ ${#failed[@]} = 0 ] || die "failed: ${failed[*]}"
