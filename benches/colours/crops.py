#!/usr/bin/env python3
"""Lays out pictures of things and clothes whose colours are known, for `engramd bench colours FOLDER`.

Usage: crops.py FOLDER --stamps DIR --opencv DIR --skimage DIR --ultralytics DIR --recordings DIR

crops.tsv beside this file names them: stamps (photographs without background of Debian's tuxpaint-stamps-default, DIR =
usr/share/tuxpaint) laid over photographs, under four lights and with a box that is off by up to 6 %; and boxes in photographs of
Debian's opencv-doc (usr/share/doc/opencv-doc), pip's scikit-image (skimage) and ultralytics (its wheel, ultralytics), and
../shared/recordings. Every one has the colours that are right for it; a name told is right if all its colours are among them. The file was written
before anything was measured; `tune` was looked at, `held` was asked once. Writes PNG and `labels.json`:
[{"file", "half", "kind", "box": [x, y, w, h], "colours"}]. Needs OpenCV's Python package and NumPy.
"""

import argparse
import hashlib
import json
from pathlib import Path

import cv2
import numpy as np

LIGHTS = {"neutral": (1, 1, 1), "warm": (1.15, 1, 0.72), "cool": (0.82, 1, 1.18), "dim": (0.45, 0.45, 0.42)}
WIDTH, HEIGHT, BORDER = 640, 480, 40


def linear(values):
    values = values / 255.0
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def encoded(values):
    values = np.clip(values, 0, 1)
    return 255 * np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)


def load(roots, name):
    root, rest = name.split("/", 1)
    rest, _, frame = rest.partition("#")
    path = str(roots[root] / rest)
    if frame:
        video = cv2.VideoCapture(path)
        video.set(cv2.CAP_PROP_POS_FRAMES, int(frame))
        return video.read()[1]
    return cv2.imread(path, cv2.IMREAD_UNCHANGED if root == "tuxpaint" else cv2.IMREAD_COLOR)


def compose(roots, name, ground, light):
    """The stamp on that ground, under that light, and a detector's box."""
    dice = hashlib.sha256(name.encode()).digest()
    picture = cv2.resize(load(roots, ground), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    stamp = load(roots, name)
    rows, columns = np.where(stamp[..., 3] > 128)
    stamp = stamp[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    factor = (60 + dice[0] / 255 * 120) / max(stamp.shape[:2])
    stamp = cv2.resize(stamp, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    high, wide = stamp.shape[:2]
    x = BORDER + int(dice[1] / 255 * (WIDTH - 2 * BORDER - wide))
    y = BORDER + int(dice[2] / 255 * (HEIGHT - 2 * BORDER - high))
    alpha = stamp[..., 3:] / 255.0
    part = picture[y : y + high, x : x + wide]
    part[:] = part * (1 - alpha) + stamp[..., :3] * alpha
    lit = encoded(linear(picture.astype(float)) * np.array(LIGHTS[light])[::-1])
    lit = lit + np.random.default_rng(dice[3]).normal(0, 1.5, lit.shape)
    picture = cv2.imdecode(cv2.imencode(".jpg", np.clip(lit, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 85])[1], 1)
    off = [(value / 255 - 0.5) * 0.12 for value in dice[4:8]]
    return picture, [x + off[0] * wide, y + off[1] * high, wide * (1 + off[2]), high * (1 + off[3])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name in ("stamps", "opencv", "skimage", "ultralytics", "recordings"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    chosen = parser.parse_args()
    roots = {"tuxpaint": chosen.stamps, "opencv-doc": chosen.opencv, "skimage": chosen.skimage}
    roots |= {"ultralytics": chosen.ultralytics, "recordings": chosen.recordings}
    chosen.folder.mkdir(parents=True, exist_ok=True)
    labels = []
    for number, line in enumerate((Path(__file__).parent / "crops.tsv").read_text().splitlines()):
        if line.startswith("#"):
            continue
        half, kind, name, box, light, ground, colours = line.split("\t")
        if kind == "stamp":
            picture, box = compose(roots, name, ground, light)
        else:
            picture, box = load(roots, name), [float(value) for value in box.split()]
        file = f"{number:03}.png"
        cv2.imwrite(str(chosen.folder / file), picture)
        labels.append({"file": file, "half": half, "kind": kind, "box": box, "colours": [one for one in colours.split() if one != "-"]})
    (chosen.folder / "labels.json").write_text(json.dumps(labels))


if __name__ == "__main__":
    main()
