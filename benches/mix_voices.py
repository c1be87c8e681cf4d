#!/usr/bin/env python3
"""Mixes two readers of a LibriSpeech folder into a conversation with known overlaps: OUT.wav and OUT.rttm.

Usage: mix_voices.py FOLDER SEED OUT [--telephone]   (needs numpy and gst-launch-1.0)

  for s in 1 2 3 4; do benches/mix_voices.py .../librispeech $s /tmp/m$s; done
  engramd --json bench perception /tmp/m1.wav --labels /tmp/m1.rttm --set diarization.segmentation=separate

Eight utterances of 4 to 8 s alternate. Each begins 0.3 to 3 s before the other one's end, or (half of them) 0.1 to 1.5 s
after it; every fourth is a reply of about 1 s inside the other's. Labels come of the level of each clean source, as for
the composed recordings: 20 ms steps, 20 dB below its loud part, gaps under 0.25 s closed. `--telephone`: 300 to 3400 Hz.
"""

import argparse
import random
import subprocess
import tempfile
import wave
from pathlib import Path

import numpy as np

RATE = 16000
STEP = 320


def read(path):
    """16 kHz mono of anything that GStreamer decodes."""
    with tempfile.NamedTemporaryFile() as raw:
        decode = f"filesrc location={path} ! decodebin caps=audio/x-raw expose-all-streams=false ! audioconvert ! audioresample ! " \
                 f"audio/x-raw,format=S16LE,rate={RATE},channels=1 ! filesink location={raw.name}"
        subprocess.run(["gst-launch-1.0", "-q", *decode.split()], check=True)
        return np.fromfile(raw.name, np.int16).astype(np.float32) / 32768


def speech(sound):
    """Stretches (start, end) of speech, seconds."""
    power = (sound[: len(sound) // STEP * STEP].reshape(-1, STEP) ** 2).mean(axis=1)
    level = 10 * np.log10(power + 1e-10)
    found = []
    for step in np.flatnonzero(level > np.percentile(level, 90) - 20):
        start, end = step * STEP / RATE, (step + 1) * STEP / RATE
        if found and start - found[-1][1] < 0.25:
            found[-1][1] = end
        else:
            found.append([start, end])
    return [(start, end) for start, end in found if end - start >= 0.1]


def compose(folder, seed):
    """The mixture and its labels (start, end, speaker)."""
    chance = random.Random(seed)
    pair = chance.sample(sorted(path.name for path in folder.iterdir() if path.is_dir()), 2)
    files = {name: chance.sample(sorted((folder / name).glob("*")), 8) for name in pair}
    gain = {pair[0]: 0.0, pair[1]: chance.uniform(-4, 4)}
    mix, labels = np.zeros(RATE * 120, np.float32), []
    end, own_end = 1.0, dict.fromkeys(pair, 0.0)
    for number in range(8):
        who = pair[number % 2]
        sound = read(files[who].pop())
        spans = speech(sound)
        sound = sound[int(spans[0][0] * RATE) : int(spans[-1][1] * RATE)][: RATE * chance.choice([4, 6, 8])]
        if number % 4 == 3:
            sound = sound[: int(RATE * chance.uniform(0.8, 1.5))]
            start = end - chance.uniform(1.5, 3.0)
        elif number > 0 and chance.random() < 0.5:
            start = end - chance.uniform(0.3, 3.0)
        else:
            start = end + (chance.uniform(0.1, 1.5) if number > 0 else 0.0)
        start = max(start, own_end[who] + 0.2)
        sound = sound / np.sqrt((sound**2).mean()) * 0.05 * 10 ** (gain[who] / 20)
        first = int(start * RATE)
        mix[first : first + len(sound)] += sound
        labels += [(start + a, start + b, who) for a, b in speech(sound)]
        own_end[who] = start + len(sound) / RATE
        end = max(end, own_end[who])
    mix = mix[: int((end + 1) * RATE)]
    return mix + np.random.default_rng(seed).normal(0, 2e-4, len(mix)), sorted(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("out")
    parser.add_argument("--telephone", action="store_true")
    chosen = parser.parse_args()
    mix, labels = compose(chosen.folder, chosen.seed)
    if chosen.telephone:
        spectrum, hertz = np.fft.rfft(mix), np.fft.rfftfreq(len(mix), 1 / RATE)
        mix = np.fft.irfft(np.where((hertz > 300) & (hertz < 3400), spectrum, 0), len(mix))
    with wave.open(f"{chosen.out}.wav", "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(mix, -1, 1) * 32767).astype(np.int16).tobytes())
    line = "SPEAKER mix 1 {:.3f} {:.3f} <NA> <NA> {} <NA> <NA>\n"
    Path(f"{chosen.out}.rttm").write_text("".join(line.format(a, b - a, who) for a, b, who in labels))


if __name__ == "__main__":
    main()
