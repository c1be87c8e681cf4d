#!/usr/bin/env python3
"""Writes yamnet.json: what the exported YAMNet hears in two seconds of made sound, by a spectrogram in NumPy.

Usage: yamnet.py target/models/yamnet.onnx

Sample n of the sound is 0.4 sin(2π (300 n / 16000 + 400 (n / 16000)²)) + 0.05 (w / 2³¹ - 1), w the high 32 bits of
(n + 1) · 6364136223846793005 + 1442695040888963407 modulo 2⁶⁴. A patch begins every 7,680 samples. Needs NumPy and ONNX Runtime.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime

RATE, FRAME, SHIFT, FFT, FRAMES, BANDS, LOW, HIGH = 16_000, 400, 160, 512, 96, 64, 125.0, 7_500.0


def sound(count):
    n = np.arange(count, dtype=np.uint64)
    words = ((n + np.uint64(1)) * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)) >> np.uint64(32)
    t = np.arange(count) / RATE
    return (0.4 * np.sin(2 * np.pi * (300 * t + 400 * t ** 2)) + 0.05 * (words / 2.0 ** 31 - 1)).astype(np.float32)


def to_mel(hz):
    return 1127 * np.log(1 + np.asarray(hz) / 700)


def filters():
    edges = np.linspace(to_mel(LOW), to_mel(HIGH), BANDS + 2)
    bins = to_mel(np.arange(FFT // 2 + 1) * RATE / FFT)[:, None]
    up = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    down = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0, np.minimum(up, down))
    weights[0] = 0
    return weights


def patch(samples):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)
    frames = np.stack([samples[k * SHIFT:k * SHIFT + FRAME] * window for k in range(FRAMES)])
    return np.log(np.abs(np.fft.rfft(frames, FFT)) @ filters() + 0.001)


def main():
    session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
    classes = session.get_modelmeta().custom_metadata_map["classes"].splitlines()
    samples = sound(2 * RATE)
    told = []
    for start in range(0, len(samples) - ((FRAMES - 1) * SHIFT + FRAME) + 1, FRAMES // 2 * SHIFT):
        mel = patch(samples[start:])
        (scores,) = session.run(None, {"patch": mel[None, None].astype(np.float32)})[0]
        best = np.argsort(-scores)[:5]
        told.append({"mel": [round(float(v), 5) for v in mel[::19, ::13].ravel()],
                     "scores": {classes[k]: round(float(scores[k]), 5) for k in best}})
    Path(__file__).with_suffix(".json").write_text(json.dumps({"classes": len(classes), "patches": told}, indent=1) + "\n")


if __name__ == "__main__":
    main()
