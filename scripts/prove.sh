#!/usr/bin/env bash
# What is too long for `make test`, in parts of at most 9 minutes. A part that held is not run again for the
# same commit, or the same changes on it: stop whenever you like, run again, and the parts add up.
# `scripts/prove.sh --list` names them. A part that left something out ("SKIPPED: …" in its log: no root, no Mosquitto,
# no ../shared) has not held and is run again. Exit code 1: parts failed; 3: none did, but some left something out.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

limit=540
revision=$(git rev-parse HEAD 2> /dev/null || echo none)
# Changes on it, new files too, have stamps of their own.
others=(git ls-files --others --exclude-standard --exclude __pycache__)
if ! git diff --quiet HEAD 2> /dev/null || [ -n "$("${others[@]}")" ]; then
    changes() { git diff --binary HEAD; "${others[@]}" -z | xargs -0 -r sha256sum || true; }
    revision=$revision-$(changes 2>&1 | sha256sum | cut -c1-8)
fi
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
parts+=("mouths not compared with the sound|$(promise recordings_are_understood::everybody_is_found_without_their_mouths_watched) --ignored")
# Seeded mutations of bags, messages and definitions: each run goes on where the one before stopped.
mutated() { echo "ENGRAM_MUTATIONS=$2 ENGRAM_MUTATIONS_STATE=$PWD/target/prove/mutations cargo test --locked --release --lib -- --exact capture::bag::mutations::$1"; }
parts+=("3,000,000 mutated messages|$(mutated mutated_messages_never_panic 3000000)")
parts+=("3,000,000 mutated definitions|$(mutated mutated_definitions_never_panic 3000000)")
mutated_in() { echo "ENGRAM_MUTATIONS=$2 ENGRAM_MUTATIONS_STATE=$PWD/target/prove/mutations cargo test --locked --release --lib -- --exact $1"; }
parts+=("2,000,000 mutated requests|$(mutated_in mqtt::message::payload::tests::mutated_requests_never_panic 2000000)")
parts+=("100,000 mutated configurations|$(mutated_in config::load::tests::mutated_files_never_panic 100000)")
parts+=("500,000 mutated picture files|$(mutated mutated_picture_files_never_panic 500000)")
parts+=("2,000,000 mutated pictures|$(mutated mutated_pixels_never_panic 2000000)")
for format in mcap rosbag1 sqlite; do
    parts+=("700,000 mutated bags, $format|$(mutated mutated_${format}_never_panics 700000)")
done
# Guided by coverage: ten minutes of each target, in two parts.
parts+=("build of the fuzz targets|scripts/fuzz.sh build")
for target in $(scripts/fuzz.sh); do
    for part in first second; do
        parts+=("$part five minutes of fuzzing: $target|scripts/fuzz.sh $target 305")
    done
done
# A clean Debian in a container of its own, with a systemd that runs the service.
parts+=("Debian packages|scripts/deb.sh && scripts/deb_test.sh")
parts+=("the service in a booted system|scripts/boot_test.sh")
# Whatever has added up so far, over all runs.
parts+=("10,000,000 executions in all|cat target/prove/mutations/* target/prove/fuzz/* 2> /dev/null | awk '{ sum += \$1 } END { print sum + 0; exit !(sum >= 10000000) }'")
parts+=("a year of forgetting|cargo test --locked --release --lib -- --exact --nocapture bench::forget::tests::a_year_stays_under_its_cap_and_still_answers --ignored")
parts+=("voices, measured|cargo test --locked --release --lib -- voice::measured --ignored --nocapture --test-threads 1")
parts+=("ready, first answer, idle and stop of a service|benches/service.py --set models.set=edge")
# Round trips of questions, and a model server that hangs.
for broker in embedded mosquitto; do
    parts+=("round trip of a fast question, $broker|benches/round_trip.py --broker $broker")
    parts+=("200 questions before a stalled model, ten times, $broker|benches/round_trip.py --broker $broker --stalled")
done
# An evening whose every word is known: spoken once, then kept.
for number in {1..3}; do
    parts+=("the made evening spoken, part $number|scripts/evening.sh part")
done
parts+=("the made evening|scripts/evening.sh")
# Two hours of recording time in one store, as many parts as a slow machine takes: those that are not needed do nothing.
recording=${ENGRAM_SHARED:-../shared}/recordings/living_room_dev.mp4
soak="--folder $stamps/soak"
for number in {1..12}; do
    parts+=("soak, part $number|benches/soak.py part --recording $recording $soak --secs 450 --set models.set=edge")
done
parts+=("soak, two hours together|benches/soak.py summary $soak")
# A live daemon before recordings and an empty room, in real time; then with something going wrong.
for number in {1..30}; do
    parts+=("live, part $number|benches/live.py run target/release/engramd --folder $stamps/live --secs 500 --minutes 240 --set models.set=edge")
done
parts+=("live, four hours together|benches/live.py summary --folder $stamps/live --minutes 240")
parts+=("live, trouble|benches/live.py run target/release/engramd --folder $stamps/trouble --secs 500 --minutes 8 --trouble --set models.set=edge")

if [ "${1:-}" = --list ]; then
    printf '%s\n' "${parts[@]%%|*}"
    exit
fi

mkdir -p "$stamps"
# What tests and scripts say that leave something out (tests/support/mod.rs, src/perceive/face/fixtures.rs).
left_out() { grep -ao 'SKIPPED: .*' "$1"; }
names() { local all; all=$(printf '; %s' "$@"); echo "${all:2}"; }
failed=()
skipped=()
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
        if grep -aq '^running 0 tests' "$stamp.log"; then
            failed+=("$name")
            warn "$name: there is no test of that name"
        elif left_out "$stamp.log" > "$stamp.left_out"; then
            skipped+=("$name")
            sort -u "$stamp.left_out" >&2
        else
            touch "$stamp.held"
        fi
    else
        status=$?
        failed+=("$name")
        tail -15 "$stamp.log" >&2
        [ "$status" = 124 ] && warn "$name took longer than $limit s"
    fi
done
held=$(find "$stamps" -name '*.held' | wc -l)
say "$held of ${#parts[@]} parts held (logs in $stamps)"
missed=
[ ${#skipped[@]} = 0 ] || missed="skipped, so not held: $(names "${skipped[@]}")"
[ ${#failed[@]} = 0 ] || die "failed: $(names "${failed[@]}")${missed:+. $missed}"
[ -z "$missed" ] || { warn "$missed"; exit 3; }
