#!/usr/bin/env python3
"""Writes campplus.json: what CAM++ says to a sound that anyone can make again, computed in NumPy in 64 bits.

    pip install -r models/export/requirements.txt
    python3 tests/golden/campplus.py DIR > tests/golden/campplus.json

DIR holds the checkpoint, as for models/export/campplus.py. The filter bank is written out from Kaldi's definition, the
network is that script's `reference`. Nothing here is needed at run time.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models/export"))

from campplus import SOURCE, head_of, reference  # noqa: E402
from weights import torch_state_zip  # noqa: E402

SAMPLES = 60 * 640 + 240
# The part that is embedded beside the whole, in frames of 20 ms.
PART = (30, 90)
MASK = (1 << 64) - 1


def uniform(stream, j):
    """Value j of stream k, [-1, 1): the top 24 bits of splitmix64((k << 32) + j)."""
    z = ((stream << 32) + j + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    z ^= z >> 31
    return (z >> 40) / 8388608.0 - 1.0


def sound():
    """A voice-like hum that swells and fades, with noise; 16-bit steps. As active_speaker.py has it."""
    out = []
    for n in range(SAMPLES):
        t = n / 16000.0
        swell = 0.5 + 0.5 * math.sin(2 * math.pi * 3.0 * t)
        hum = sum(math.sin(2 * math.pi * f * t) / (1 + i) for i, f in enumerate((140.0, 420.0, 1310.0, 2750.0)))
        out.append(round(6000.0 * swell * hum + 300.0 * uniform(1, n)) / 32768.0)
    return np.array(out)


def fbank(samples):
    """Kaldi's log mel energies [T,80]: 25 ms every 10, DC out, preemphasis 0.97, Povey's window, 512 bins, 20 Hz to 8 kHz."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, 400)[::160]
    frames = frames - frames.mean(axis=1, keepdims=True)
    before = np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 399)) ** 0.85
    power = np.abs(np.fft.rfft((frames - 0.97 * before) * window, 512)) ** 2

    def mel(hertz):
        return 1127 * np.log1p(np.asarray(hertz) / 700)

    edges = np.linspace(mel(20.0), mel(8000.0), 82)
    at = mel(np.arange(256) * 16000 / 512)
    rising = (at[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - at[None]) / (edges[2:] - edges[1:-1])[:, None]
    triangles = np.clip(np.minimum(rising, falling), 0, None)
    values = np.log(np.maximum(power[:, :256] @ triangles.T, 2.0**-23))
    return values - values.mean(axis=0)


def main():
    state = torch_state_zip(Path(sys.argv[1]) / SOURCE)
    whole, frames = reference(state, fbank(sound()))
    part = frames[:, slice(*PART)]
    head = head_of({name: value.astype(np.float64) for name, value in state.items()})
    part = head @ np.concatenate([part.mean(1), part.std(1, ddof=1), [1.0]])
    rounded = {name: [round(float(v), 5) for v in vector] for name, vector in (("whole", whole), ("part_vector", part))}
    json.dump({"samples": SAMPLES, "part": PART, **rounded}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
