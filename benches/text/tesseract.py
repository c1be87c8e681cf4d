#!/usr/bin/env python3
"""The simplest baseline beside `engramd bench text`: Debian's Tesseract on the same stills.

    python benches/text/tesseract.py STILLS

It gets every picture twice as large (without that it reads hardly anything) and looks for sparse text. Scored as
`engramd bench text` scores: characters without spaces and capitals, words inside a sign's corners in reading order; words that it
is less sure of than 30 % do not count. Needs `tesseract-ocr`, numpy, opencv.
"""
import csv
import io
import json
import subprocess
import sys
import time
from pathlib import Path

import cv2
import numpy as np


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        new = [i + 1]
        for j, y in enumerate(b):
            new.append(min(row[j] + (x != y), row[j + 1] + 1, new[j] + 1))
        row = new
    return row[-1]


def letters(text):
    return "".join(text.lower().split())


def words(picture):
    double = cv2.resize(picture, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    png = cv2.imencode(".png", double)[1].tobytes()
    out = subprocess.run(["tesseract", "-", "-", "--psm", "11", "tsv"], input=png, capture_output=True, check=True)
    for row in csv.DictReader(io.StringIO(out.stdout.decode()), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["text"].strip() and float(row["conf"]) >= 30:
            left, top, width, height = (int(row[k]) / 2 for k in ("left", "top", "width", "height"))
            yield (left + width / 2, top + height / 2), row["text"]


def main():
    stills = Path(sys.argv[1])
    by_height, invented, taken, count = {}, 0, 0.0, 0
    for still in json.loads((stills / "labels.json").read_text()):
        picture = cv2.imread(str(stills / still["file"]))
        begun = time.perf_counter()
        found = list(words(picture))
        taken, count = taken + time.perf_counter() - begun, count + 1
        used = set()
        for sign in still["signs"]:
            quad = np.float32(sign["quad"])
            inside = [k for k, (at, _) in enumerate(found) if cv2.pointPolygonTest(quad, at, False) >= 0]
            used.update(inside)
            said = letters("".join(found[k][1] for k in sorted(inside, key=lambda k: found[k][0][0])))
            meant = letters(sign["text"])
            errors = min(distance(said, meant), len(meant))
            of = by_height.setdefault(sign["height_px"], [0, 0, 0, 0])
            of[0] += 1
            of[1] += errors == 0
            of[2] += len(meant)
            of[3] += errors
        invented += len(found) - len(used)
    large = [of for height, of in by_height.items() if height >= 20]
    accuracy = 1 - sum(of[3] for of in large) / sum(of[2] for of in large)
    heights = {height: dict(zip(("signs", "exact", "characters", "errors"), of)) for height, of in sorted(by_height.items())}
    print(json.dumps({"accuracy": accuracy, "by_height": heights, "invented": invented, "ms": 1e3 * taken / count}, indent=1))


if __name__ == "__main__":
    main()
