#!/usr/bin/env python3
"""Mixes people who speak over a robot: m0.wav … m9.wav, the robot alone as r0.wav …, and labels.json.

Usage: barge_in.py FOLDER dev|test OUT   (needs numpy, gst-launch-1.0, flite, espeak-ng)

  benches/barge_in.py ../shared/recordings/audio/librispeech dev /tmp/dev
  ENGRAM_MIXES=/tmp/dev cargo test --lib over::tests::mixtures -- --ignored --nocapture

A robot says two sentences in a room (30 ms, then a tail that falls by 60 dB in 0.3 s), a reader of a LibriSpeech folder says
1.5 to 3.5 s over it, dry, at the same level (RMS of what is louder than a fiftieth of the peak). `dev` has three voices of
flite and three readers, `test` a fourth of flite, two of espeak-ng and the other readers.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from mix_voices import RATE, read

FLITE = {"slt", "kal16", "rms", "awb"}
VOICES = {"dev": ["slt", "kal16", "rms"], "test": ["awb", "en-us", "en-gb+f3"]}
SAID = [
    "The green parcel is on the shelf in the kitchen, beside the kettle. I saw it there this morning at half past nine, "
    "when Ava put it down.",
    "Your next appointment is at four o'clock with the dentist. Afterwards you wanted to buy bread, and to fetch the "
    "bicycle from the workshop.",
    "I have looked in every room of the house and could not find the blue umbrella. Perhaps it was left in the car "
    "yesterday evening.",
    "The weather will be dry until the evening, and then there will be rain and wind. Take a coat with you if you go out "
    "after six.",
    "Two people came while you were away. One of them was the postman, and the other one was a woman whom I have not met "
    "before.",
]


def say(voice, text):
    """A synthesised sentence, 16 kHz."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        if voice in FLITE:
            command = ["flite", "-voice", voice, "-t", text, "-o", file.name]
        else:
            command = ["espeak-ng", "-v", voice, "-s", "150", "-w", file.name, text]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return read(file.name)


def level(sound):
    """RMS of what is louder than a fiftieth of the peak."""
    return np.sqrt((sound[np.abs(sound) > 0.02 * np.abs(sound).max()] ** 2).mean())


def in_a_room(sound, chance):
    """The sound in a room, with a third of a second more."""
    length = int(0.3 * RATE)
    tail = 0.25 * chance.standard_normal(length) * np.exp(-6.9 * np.arange(length) / length)
    tail[0] = 3
    tail = np.concatenate([np.zeros(int(0.03 * RATE)), tail])
    return np.convolve(sound, tail)[: len(sound) + RATE // 3]


def write(path, sound):
    """A mono file of 16 bits."""
    with tempfile.NamedTemporaryFile() as raw:
        raw.write((np.clip(sound, -1, 1) * 32767).astype(np.int16).tobytes())
        raw.flush()
        encode = f"filesrc location={raw.name} ! rawaudioparse use-sink-caps=false format=pcm pcm-format=s16le " \
                 f"sample-rate={RATE} num-channels=1 ! wavenc ! filesink location={path}"
        subprocess.run(["gst-launch-1.0", "-q", *encode.split()], check=True)


def mix(folder, which, number, chance, out):
    """Writes one mixture and the robot alone; gives its labels, seconds."""
    voice, text = VOICES[which][number % 3], SAID[number % 5 if which == "dev" else (3 * number + 1) % 5]
    robot = in_a_room(say(voice, text), chance)
    readers = sorted(path for path in folder.iterdir() if path.is_dir())
    reader = (readers[:3] if which == "dev" else readers[3:])[number % 3]
    files = sorted(reader.glob("*.flac"))
    person = read(files[(number // 3 + (0 if which == "dev" else 4)) % len(files)])
    first = int((0.3 + chance.uniform()) * RATE)
    person = person[first : first + int(chance.uniform(2, 3.5) * RATE)]
    fade = np.minimum(np.arange(len(person)), np.arange(len(person))[::-1]) / (0.02 * RATE)
    person = person * np.minimum(1, fade) * level(robot) / level(person)
    at = int(chance.uniform(1, max(1.1, len(robot) / RATE - 3)) * RATE)
    alone = np.zeros(max(len(robot), at + len(person)) + 2 * RATE)
    alone[RATE : RATE + len(robot)] += robot
    mixed = alone.copy()
    mixed[RATE + at : RATE + at + len(person)] += person
    noise = 0.0005 * chance.standard_normal(len(mixed))
    gain = 0.5 / np.abs(mixed).max()
    write(out / f"m{number}.wav", mixed * gain + noise)
    write(out / f"r{number}.wav", alone * gain + noise)
    end = 1 + (len(robot) - RATE // 3) / RATE
    spans = {"robot": [1.0, end], "person": [1 + at / RATE, 1 + (at + len(person)) / RATE]}
    return {"n": number, "voice": voice, "text": text, "reader": reader.name, **spans}


def main():
    """Makes ten."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("which", choices=VOICES)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng({"dev": 1, "test": 2}[args.which])
    labels = [mix(args.folder, args.which, number, chance, args.out) for number in range(10)]
    (args.out / "labels.json").write_text(json.dumps(labels, indent=1))


if __name__ == "__main__":
    main()
