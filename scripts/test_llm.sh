#!/usr/bin/env bash
# engram against a real language model server that nobody here wrote: llama.cpp behind llama-cpp-python, with a
# tiny model of random weights. Its grammar makes even that reply in our form: a clip is memorized, a question is
# answered. Building the server takes ten minutes, once; it lies in target/llm then.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

version=0.3.36
home=$PWD/target/llm
python=$home/venv/bin/python
mkdir -p "$home"
if ! "$python" -c "import llama_cpp, gguf, uvicorn" 2> /dev/null; then
    say "building llama-cpp-python $version from source"
    python3 -m venv "$home/venv"
    export CMAKE_ARGS="${CMAKE_ARGS:--DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF}"
    nice "$home/venv/bin/pip" install --quiet "llama-cpp-python[server]==$version" gguf
fi
"$python" scripts/tiny_model.py "$home/tiny.gguf"

engramd=${ENGRAMD:-}
if [ -z "$engramd" ]; then
    [ -x target/release/engramd ] || cargo build --locked --release
    engramd=target/release/engramd
fi
recording=${VIDEO:-}
for candidate in target/demo/demo.mp4 "${ENGRAM_SHARED:-../shared}/recordings/two_people_dev.mp4"; do
    [ -n "$recording" ] || [ ! -e "$candidate" ] || recording=$candidate
done
[ -n "$recording" ] || die "no recording; \`make setup\` makes the demo recording, or give VIDEO=file"

port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
say "llama.cpp's server on port $port"
"$python" -m llama_cpp.server --model "$home/tiny.gguf" --n_ctx 32768 --chat_format chatml \
    --host 127.0.0.1 --port "$port" > "$home/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true' EXIT
for _ in $(seq 60); do
    curl -sf "http://127.0.0.1:$port/v1/models" > /dev/null && break
    kill -0 "$server" || die "the server ended; see $home/server.log"
    sleep 1
done

data=$home/data
rm -rf "$data"
options=(--data-dir "$data" --set robot.id=rob --set transcriber.kind=none --set models.set="${SET:-edge}"
    --set llm.base_url="http://127.0.0.1:$port/v1" --set llm.model=tiny --set llm.pictures=false
    --set llm.temperature=1.0 --set llm.thinking_tokens=0)
if [ -d "${ENGRAM_SHARED:-../shared}/models" ]; then
    options+=(--set models.mirror="$(realpath "${ENGRAM_SHARED:-../shared}/models")")
fi
passed=0 failed=0
expect() {
    if [ "$2" "$3" "$4" ]; then
        passed=$((passed + 1)) && say "held: $1 ($2)"
    else
        failed=$((failed + 1)) && warn "NOT HELD: $1 ($2 $3 $4)"
    fi
}
count() { "$engramd" sql "${options[@]}" --json "$1" | "$python" -c 'import json, sys; print(json.load(sys.stdin)["rows"][0][0])'; }

say "memorizing the first minute of $recording"
"$engramd" replay "${options[@]}" --set memorizer.kind=model --set memorizer.timeout_secs=900 \
    --duration 60 "$recording"
expect "no clip waits" "$(find "$data/spool" -name '*.clip' | wc -l)" -eq 0
expect "the model's memories are in" "$(count "SELECT count(*) FROM memories WHERE origin = 'model:tiny'")" -gt 0
expect "the built-in ones, too" "$(count "SELECT count(*) FROM memories WHERE origin = 'builtin'")" -gt 0

say "asking"
answer=$("$engramd" ask "${options[@]}" --set answerer.kind=model --set answerer.rounds=1 \
    --effort deep --deadline-ms 300000 --json "Who was there?")
printf '%s\n' "$answer"
field() { printf '%s' "$answer" | "$python" -c "import json, sys; print(json.load(sys.stdin)$1)"; }
expect "the model answered" "$(field '["engine"]')" = model:tiny
expect "its tokens were counted" "$(field '["cost"]["tokens"]["completion"]')" -gt 0
"$python" - "$home/server.log" <<'PYTHON'
import sys
lines = [line for line in open(sys.argv[1], errors="replace") if "POST /v1/chat/completions" in line]
print(f"the server saw {len(lines)} requests")
PYTHON
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
