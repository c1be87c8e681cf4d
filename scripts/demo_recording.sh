#!/usr/bin/env bash
# Makes target/demo/demo.mp4 and its ground truth out of portraits that packages carry and the beginning of the made evening.
# The portraits are in the public domain: NASA's of Eileen Collins (in pip scikit-image), the White House's of
# Barack Obama and Joe Biden (in pip face_recognition).
set -euo pipefail
source "$(dirname "$0")/lib.sh"

work=target/demo/parts
portraits=$work/portraits
mkdir -p "$portraits" target/demo

# package PIP_OPTIONS... NAME: downloads into a folder of its own and prints the archive's path.
package() {
    local name=${*: -1} folder
    folder=$work/${name%%==*}
    mkdir -p "$folder"
    compgen -G "$folder/*" > /dev/null ||
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder" "$@" >&2 ||
        die "pip package $name could not be had"
    echo "$folder"/*
}

if [ ! -s "$portraits/astronaut.png" ]; then
    say "portrait out of pip scikit-image"
    wheel=$(package --only-binary=:all: --python-version 3.11 --platform manylinux_2_17_x86_64 scikit-image==0.24.0)
    unzip -qoj "$wheel" skimage/data/astronaut.png -d "$portraits"
fi
if [ ! -s "$portraits/biden.jpg" ]; then
    say "portraits out of pip face_recognition"
    archive=$(package --no-binary=:all: face_recognition==1.3.0)
    tar -xzf "$archive" -C "$portraits" --strip-components=3 \
        face_recognition-1.3.0/tests/test_images/{obama,obama2,obama3,biden}.jpg
fi
sha256sum --quiet --check - <<'LIST' || die "a portrait is not the one that the scenes were drawn for; remove target/demo/parts and try again"
88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5  target/demo/parts/portraits/astronaut.png
3c17508bb91554c637a2eabddfae790e5bb1caba93130814fc2ac50be9760c4c  target/demo/parts/portraits/biden.jpg
0930e3aa8cae5920329c0c8cbc6a2ab70f47b0e67b432875beaa95cbf7e741f6  target/demo/parts/portraits/obama.jpg
a7efcc907375274796f39646510704aa86672d59f6d5469d69af3c85590976a6  target/demo/parts/portraits/obama2.jpg
76ac6bf97c36dc2da0ad16a537d6a5ac1b10f48d49aac29a0cca9a17cdbc3ca3  target/demo/parts/portraits/obama3.jpg
LIST
scripts/evening.sh demo
say "rendering target/demo/demo.mp4"
# Debian's own Python: NumPy and Pillow come with it.
/usr/bin/python3 scripts/demo_recording.py --portraits "$portraits" --out target/demo \
    --kokoro target/evening/kokoro --stems target/evening/stems
