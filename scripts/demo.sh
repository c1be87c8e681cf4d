#!/usr/bin/env bash
# Shows engram at work: replays a recording into a fresh memory, then asks the daemon over MQTT.
#
#   make demo                      the demo recording that the set-up made
#   make demo VIDEO=party.mp4      a video or bag of yours
#   make demo CAMERA=/dev/video0   a camera (and the default microphone), live, until Ctrl-C
#   SET=edge                       another model set
#   PROFILE=release                with the release build
#   SERVE=1                        leaves the daemon there, with its web page, until Ctrl-C
set -euo pipefail
source "$(dirname "$0")/lib.sh"

case ${PROFILE:-dev} in
dev) engramd=target/debug/engramd ;;
release) engramd=target/release/engramd ;;
*) die "unknown build \`$PROFILE\`: dev or release" ;;
esac
data=target/demo/data
log=target/demo/replay.jsonl
# Ports of its own, so that neither a broker nor another engram is in the way.
options=(--set robot.id=demo --set models.set="${SET:-open}" --set mqtt.broker=embedded
    --set mqtt.listen=127.0.0.1:18830 --set mqtt.listen_v5=127.0.0.1:18840 --set http.listen=127.0.0.1:18090)
page=http://127.0.0.1:18090/

mkdir -p target/demo
rm -rf "$data"
daemon=
stop() {
    [ -n "$daemon" ] && kill "$daemon" 2> /dev/null && wait "$daemon" 2> /dev/null
    daemon=
}
trap stop EXIT
trap 'stop; exit 130' INT TERM

ask() {
    printf '\n%s? %s%s\n' "$bold" "$1" "$plain"
    "$engramd" ask "${options[@]}" "$1" || warn "no answer"
}

if [ -n "${CAMERA:-}" ]; then
    config=target/demo/camera.toml
    case $CAMERA in
    /dev/*) printf '[[camera]]\nid = "camera"\npipeline = "v4l2"\nuri = "%s"\n' "$CAMERA" ;;
    *) printf '[[camera]]\nid = "camera"\nuri = "%s"\n' "$CAMERA" ;;
    esac > "$config"
    printf '[[microphone]]\nid = "microphone"\nbackend = "cpal"\ndevice = "default"\n' >> "$config"
    "$engramd" run --config "$config" "${options[@]}" --data-dir "$data" &
    daemon=$!
    say "watching $CAMERA, to be seen at $page; type a question and Enter (Ctrl-D ends)"
    while kill -0 "$daemon" 2> /dev/null && IFS= read -r question; do
        [ -n "$question" ] && ask "$question"
    done
    exit
fi

recording=${VIDEO:-target/demo/demo.mp4}
[ -e "$recording" ] || die "$recording does not exist; \`make setup\` makes the demo recording"
say "remembering $recording with the model set ${SET:-open}"
# Now, not when the daemon starts: what an earlier demo wrote there would be taken for this one's.
: > "$log"
"$engramd" replay "$recording" --serve --rate max --json "${options[@]}" --data-dir "$data" > "$log" &
daemon=$!
shown=0
while ! grep -q '"done"' "$log"; do
    kill -0 "$daemon" 2> /dev/null || die "the replay ended early; its last words are above"
    lines=$(grep -c '"clip"' "$log" || true)
    if [ "$lines" -gt "$shown" ]; then
        tail -n +$((shown + 1)) "$log" | head -n $((lines - shown)) | sed 's/^/  /'
        shown=$lines
    fi
    sleep 0.2
done
tail -n +$((shown + 1)) "$log" | sed 's/^/  /'

if [ -n "${VIDEO:-}" ]; then
    questions=("Who was there?" "What was said?" "What happened?")
else
    questions=("Who was there?" "Where is the red mug?" "When did you last see Eileen?")
fi
for question in "${questions[@]}"; do
    ask "$question"
done
echo
say "the memory lies in $data; try: $engramd people --data-dir $data"
if [ -n "${SERVE:-}" ]; then
    say "the web page: $page (Ctrl-C ends it)"
    wait "$daemon"
else
    say "to look at it in a browser: make demo SERVE=1, then $page"
fi
