#!/usr/bin/env python3
"""Sounds whose words and times are known, for `engramd bench words`: what is no speech, and speech of single words.

Usage: words.py FOLDER [--seed N] [--silences RECORDINGS]; then
  engramd --set models.set=edge --json bench words FOLDER/nonspeech
  engramd --set models.set=edge --json bench words FOLDER/times
  engramd --set models.set=edge --json bench words FOLDER/silences

`nonspeech`: 10 minutes of noise, hum, fans, music, coughs, knocks and glides like voices, at levels from -45 to -3 dBFS,
each with an empty text beside it (nobody speaks). `times`: sentences of flite's voices, word by word with pauses of 20 to
300 ms between, and when each word is said (engram-truth/1). Needs numpy and flite. Another seed, other sounds.
`silences`: where the labels (.rttm, .scv) beside the recordings of a folder say that for a second or more nobody speaks,
each pause a file with an empty text. Needs GStreamer.
"""

import argparse
import json
import subprocess
import tempfile
import wave
from pathlib import Path

import numpy as np

from mix_voices import read

RATE = 16000
SENTENCES = [
    "the old man walked slowly down to the river with his brown dog and sat there until the evening",
    "yesterday my sister bought three green apples and a loaf of bread at the market near the station",
    "if you want to come with us tomorrow morning please bring a warm coat and some good shoes",
    "he said that nobody had opened the window for years but the room was clean and full of light",
    "can you tell the doctor that the children are feeling much better after their long holiday",
    "we found the red cup under the sofa and put it back on the shelf in the kitchen",
]
VOICES = ["slt", "rms", "awb"]


def save(path, sound):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())


def shaped(rng, count, gain):
    """Noise whose spectrum is `gain` of the frequency, Hz."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    return np.fft.irfft(spectrum * gain(np.fft.rfftfreq(count, 1 / RATE)), count)


def peaks(*centres):
    """Resonances, as of a throat: (Hz, width Hz)."""
    return lambda f: 0.05 + sum(1 / (1 + ((f - at) / width) ** 2) for at, width in centres)


def coughs(rng, count):
    sound, at = np.zeros(count), int(rng.uniform(0, 0.3) * RATE)
    while at < count:
        length = min(int(rng.uniform(0.2, 0.45) * RATE), count - at)
        burst = shaped(rng, length, peaks((rng.uniform(300, 900), 150), (rng.uniform(1200, 2500), 300)))
        t = np.arange(length) / RATE
        sound[at : at + length] += burst * np.minimum(t / 0.01, 1) * np.exp(-t / rng.uniform(0.05, 0.15))
        at += length + int(rng.uniform(0.1, 1.2) * RATE)
    return sound


def knocks(rng, count):
    sound, at = np.zeros(count), int(rng.uniform(0, 0.3) * RATE)
    while at < count:
        t = np.arange(min(3000, count - at)) / RATE
        tone = np.sin(2 * np.pi * rng.uniform(90, 600) * t) * np.exp(-t / rng.uniform(0.01, 0.05))
        sound[at : at + len(t)] += tone + 0.3 * rng.standard_normal(len(t)) * np.exp(-t / 0.005)
        at += int(rng.uniform(0.15, 0.6) * RATE)
    return sound


def hum(rng, count):
    t, base = np.arange(count) / RATE, rng.choice([50, 60, 100])
    tones = sum(np.sin(2 * np.pi * base * k * t + rng.uniform(0, 6)) / k ** rng.uniform(0.5, 2) for k in range(1, 12))
    return tones + 0.1 * rng.standard_normal(count)


def fan(rng, count):
    t = np.arange(count) / RATE
    rush = shaped(rng, count, lambda f: 1 / (1 + (f / rng.uniform(300, 1200)) ** 2))
    return rush * (1 + 0.3 * np.sin(2 * np.pi * rng.uniform(2, 20) * t))


def music(rng, count):
    sound, at = np.zeros(count), 0
    base, harmonics, vibrato = rng.uniform(110, 330), int(rng.integers(3, 12)), rng.uniform(0, 0.3)
    while at < count:
        t = np.arange(min(int(rng.choice([0.2, 0.4, 0.8]) * RATE), count - at)) / RATE
        for _ in range(rng.integers(1, 4)):
            pitch = base * 2 ** (rng.choice([0, 2, 4, 5, 7, 9, 11, 12]) / 12)
            wobble = vibrato * np.sin(2 * np.pi * 5 * t)
            tone = sum(np.sin(2 * np.pi * pitch * k * t + k * wobble) / k for k in range(1, harmonics))
            sound[at : at + len(t)] += tone * np.minimum(t / 0.02, 1) * np.exp(-t / rng.uniform(0.1, 0.8))
        at += len(t)
    return sound + (0.3 * knocks(rng, count) if rng.random() < 0.5 else 0)


def glides(rng, count):
    """A buzz with resonances whose pitch glides: as near to a voice as no words can be."""
    t = np.arange(count) / RATE
    pitch = rng.uniform(100, 400) * (1 + 0.2 * np.sin(2 * np.pi * rng.uniform(0.5, 4) * t))
    buzz = (np.cumsum(pitch) / RATE) % 1 - 0.5
    filtered = np.fft.rfft(buzz) * peaks((rng.uniform(300, 900), 120), (rng.uniform(900, 2400), 200))(np.fft.rfftfreq(count, 1 / RATE))
    return np.fft.irfft(filtered, count) * (np.sin(2 * np.pi * rng.uniform(2, 6) * t) > -0.3)


KINDS = {
    "white": lambda rng, count: rng.standard_normal(count),
    "pink": lambda rng, count: shaped(rng, count, lambda f: 1 / np.sqrt(np.maximum(f, 20))),
    "brown": lambda rng, count: shaped(rng, count, lambda f: 1 / np.maximum(f, 20)),
    "hum": hum, "fan": fan, "coughs": coughs, "knocks": knocks, "music": music, "glides": glides,
}


def nonspeech(folder, rng):
    """Each kind for 67 s: stretches of 2 to 8 s with quiet between, each at a level of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, make in KINDS.items():
        parts, left = [], 67 * RATE
        while left > 0:
            count = min(int(rng.uniform(2, 8) * RATE), left)
            sound = make(rng, count)
            parts.append(sound / np.abs(sound).max() * 10 ** (rng.uniform(-45, -3) / 20))
            parts.append(np.zeros(min(RATE, max(left - count, 0))))
            left -= count + RATE
        sound = np.concatenate(parts)
        save(folder / f"{kind}.wav", sound + 1e-4 * rng.standard_normal(len(sound)))
        (folder / f"{kind}.txt").write_text("")


def spoken(word, voice):
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        subprocess.run(["flite", "-voice", voice, "-t", word, "-o", file.name], check=True)
        with wave.open(file.name) as sound:
            assert sound.getframerate() == RATE, f"{voice}: {sound.getframerate()} Hz"
            samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2") / 32768
    loud = np.flatnonzero(np.sqrt(np.convolve(samples**2, np.ones(160) / 160, "same")) > 0.01)
    return samples[max(loud[0] - 80, 0) : loud[-1] + 160]


def times(folder, rng):
    folder.mkdir(parents=True, exist_ok=True)
    for number, sentence in enumerate(SENTENCES):
        for voice in VOICES:
            parts, at, words = [np.zeros(RATE // 2)], RATE // 2, []
            for word in sentence.split():
                sound = spoken(word, voice)
                words.append({"w": word, "start": at / RATE, "end": (at + len(sound)) / RATE})
                gap = int(RATE * rng.choice([0.02, 0.05, 0.05, 0.1, 0.3]))
                parts += [sound, np.zeros(gap)]
                at += len(sound) + gap
            sound = np.concatenate([*parts, np.zeros(RATE)])
            save(folder / f"{voice}_{number}.wav", sound + 1e-4 * rng.standard_normal(len(sound)))
            turn = {"start": words[0]["start"], "end": words[-1]["end"], "speaker": voice, "text": sentence, "words": words}
            (folder / f"{voice}_{number}.json").write_text(json.dumps({"format": "engram-truth/1", "turns": [turn]}))


def spoken_in(labels):
    """Where somebody speaks by a NIST RTTM or a TEN VAD label file: recording to (start, end), seconds."""
    found = {}
    for line in labels.read_text().splitlines():
        if labels.suffix == ".rttm" and line.startswith("SPEAKER"):
            _, name, _, start, length = line.split()[:5]
            found.setdefault(name, []).append((float(start), float(start) + float(length)))
        elif labels.suffix == ".scv":
            name, *cells = line.strip().split(",")
            stretches = zip(cells[::3], cells[1::3], cells[2::3])
            found[name] = [(float(start), float(end)) for start, end, speech in stretches if speech == "1"]
    return found


def silences(folder, recordings):
    """Pauses of a second or more between labelled turns, a tenth of a second away from them, faded in and out."""
    folder.mkdir(parents=True, exist_ok=True)
    fade = np.linspace(0, 1, RATE // 50)
    for labels in sorted(path for path in recordings.rglob("*") if path.suffix in (".rttm", ".scv")):
        for name, turns in spoken_in(labels).items():
            files = [labels.with_name(name + end) for end in (".wav", ".mp4")]
            recording = next((file for file in files if file.exists()), None)
            if recording is None:
                continue
            sound, at = read(recording), 0.0
            for start, end in [*sorted(turns), (len(sound) / RATE, 0)]:
                if start - at > 1.2:
                    pause = sound[int((at + 0.1) * RATE) : int((start - 0.1) * RATE)].copy()
                    pause[: len(fade)] *= fade
                    pause[-len(fade) :] *= fade[::-1]
                    save(folder / f"{name}-{at:.0f}.wav", pause)
                    (folder / f"{name}-{at:.0f}.txt").write_text("")
                at = max(at, end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--silences", type=Path, metavar="RECORDINGS")
    chosen = parser.parse_args()
    nonspeech(chosen.folder / "nonspeech", np.random.default_rng(chosen.seed))
    times(chosen.folder / "times", np.random.default_rng(chosen.seed + 1))
    if chosen.silences:
        silences(chosen.folder / "silences", chosen.silences)


if __name__ == "__main__":
    main()
