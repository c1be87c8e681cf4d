#!/usr/bin/env python3
"""Writes movenet.json: where MoveNet Lightning has the joints of a man of rectangles, by the published graph in float64 NumPy.

Usage: movenet.py DIR; DIR holds package/models/movenet-lightning.json and its .bin. Needs NumPy; the picture is that of
`src/perceive/action/golden.rs`.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "models/export"))
from published import Published  # noqa: E402


def picture():
    y, x = np.mgrid[0:192, 0:192]
    image = np.stack([150 + x // 8, 160 + y // 8, np.full_like(x, 170)], axis=2).astype(float)
    parts = [((224, 172, 140), [(86, 20, 20, 24)]),
             ((40, 60, 150), [(74, 46, 44, 56), (60, 48, 12, 54), (120, 48, 12, 54)]),
             ((50, 50, 56), [(78, 102, 16, 74), (98, 102, 16, 74)])]
    for colour, boxes in reversed(parts):
        for left, top, wide, high in boxes:
            image[top:top + high, left:left + wide] = colour
    return image


def main():
    published = Published(Path(sys.argv[1]) / "package/models/movenet-lightning.json")
    (points,) = published.run(input=picture()[None])
    told = [[round(float(value), 6) for value in point] for point in points[0, 0]]
    Path(__file__).with_suffix(".json").write_text(json.dumps({"points": told}, indent=1) + "\n")


if __name__ == "__main__":
    main()
