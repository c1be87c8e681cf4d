#!/usr/bin/env python3
"""Writes active_speaker.json: what the published preprocessing and network say to inputs anyone can make again.

    pip install torch numpy scipy python_speech_features
    python3 active_speaker.py asd_lrasd_finetuning_TalkSet.model > active_speaker.json

MFCC come from the package `python_speech_features` 0.6, the scores from PyTorch's own operators put together in the
order that the papers give (Liao et al., Light-ASD, CVPR 2023; LR-ASD, IJCV 2025). Nothing here is needed at run time.
"""

import json
import math
import sys

import numpy as np
import python_speech_features
import torch
import torch.nn.functional as F

FRAMES = 30
MASK = (1 << 64) - 1


def uniform(stream, j):
    """Value j of stream k, [-1, 1): the top 24 bits of splitmix64((k << 32) + j)."""
    z = ((stream << 32) + j + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    z ^= z >> 31
    return (z >> 40) / 8388608.0 - 1.0


def sound(samples):
    """A voice-like hum that swells and fades, with noise; 16-bit steps."""
    out = []
    for n in range(samples):
        t = n / 16000.0
        swell = 0.5 + 0.5 * math.sin(2 * math.pi * 3.0 * t)
        hum = sum(math.sin(2 * math.pi * f * t) / (1 + i) for i, f in enumerate((140.0, 420.0, 1310.0, 2750.0)))
        out.append(int(round(6000.0 * swell * hum + 300.0 * uniform(1, n))))
    return np.array(out, dtype=np.int16)


def crops(frames):
    """Grey pictures: a dark bar that opens and closes on a noisy ramp."""
    out = []
    for t in range(frames):
        half = 3.0 + 9.0 * (0.5 + 0.5 * math.sin(2 * math.pi * 3.0 * t / 25.0))
        for y in range(112):
            for x in range(112):
                bar = 36 <= x < 76 and abs(y - 80) <= half
                noise = 8.0 * uniform(2, (t * 112 + y) * 112 + x)
                out.append(int(min(max((40.0 if bar else 110.0 + 0.5 * y) + noise, 0.0), 255.0)))
    return out


def network(weights, mfcc, video):
    def block(x, name, convs, conv, stride=None):
        for part in convs:
            w = weights[f"{name}.{part}.weight"]
            pad = [size // 2 for size in w.shape[2:]]
            step = stride if stride and part == convs[0] else 1
            x = conv(x, w, stride=step, padding=pad)
            x = F.relu(norm(x, f"{name}.{part[0]}_norm_{part[2]}"))
        return x

    def norm(x, name):
        part = [weights[f"{name}.{p}"] for p in ("running_mean", "running_var", "weight", "bias")]
        return F.batch_norm(x, *part, training=False, eps=1e-3)

    def attend(x, name):
        gate = F.conv1d(x, weights[f"{name}.attention.weight"])
        return x * torch.sigmoid(norm(gate, f"{name}.bn"))

    v = (video / 255 - 0.4161) / 0.1688  # [1, 1, T, 112, 112]
    for n in (1, 2, 3):
        stride = (1, 2, 2) if n == 1 else None
        v = block(v, f"model.visualEncoder.block{n}", ("s_1", "s_2", "t_1", "t_2"), F.conv3d, stride)
        if n < 3:
            v = F.max_pool3d(v, (1, 3, 3), (1, 2, 2), (0, 1, 1))
    v = v.amax((3, 4))  # [1, 128, T]

    a = mfcc.T[None, None]  # [1, 1, 13, 4T]
    for n in (1, 2, 3):
        a = block(a, f"model.audioEncoder.block{n}", ("m_1", "m_2", "t_1", "t_2"), F.conv2d)
        if n < 3:
            a = F.max_pool2d(a, (1, 3), (1, 2), (0, 1))
    a = a.mean(2)  # [1, 128, T]

    x = attend(torch.cat((a, v), 1), "model.fusion").transpose(1, 2)
    halves = []
    for name, backwards in (("gru_forward", False), ("gru_backward", True)):
        gru = torch.nn.GRU(256, 64, batch_first=True)
        prefix = f"model.detector.{name}."
        gru.load_state_dict({k[len(prefix):]: w for k, w in weights.items() if k.startswith(prefix)})
        y, _ = gru(x.flip(1) if backwards else x)
        halves.append(y.flip(1) if backwards else y)
    x = attend(torch.cat(halves, 2).transpose(1, 2), "model.detector.attention").transpose(1, 2)
    logits = F.linear(x, weights["lossAV.FC.weight"], weights["lossAV.FC.bias"])[0]
    return logits


def main():
    weights = torch.load(sys.argv[1], map_location="cpu")
    pcm = sound(FRAMES * 640 + 240)
    mfcc = python_speech_features.mfcc(pcm, 16000, numcep=13, winlen=0.025, winstep=0.010)
    assert mfcc.shape == (4 * FRAMES, 13), mfcc.shape
    silence = python_speech_features.mfcc(np.zeros(700, dtype=np.int16), 16000)
    pixels = crops(FRAMES)
    video = torch.tensor(pixels, dtype=torch.float32).view(1, 1, FRAMES, 112, 112)
    with torch.no_grad():
        logits = network(weights, torch.tensor(mfcc.tolist()), video)
    golden = {
        "sound_head": pcm[:8].tolist(),
        "sound_sum": int(pcm.astype(np.int64).sum()),
        "crops_sum": sum(pixels),
        "mfcc": [[round(v, 6) for v in row] for row in mfcc[:40].tolist()],
        "mfcc_of_silence": [[round(v, 6) for v in row] for row in silence.tolist()],
        "log_odds": [round(v, 6) for v in (logits[:, 1] - logits[:, 0]).tolist()],
    }
    print(json.dumps(golden))


main()
