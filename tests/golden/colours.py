#!/usr/bin/env python3
"""Names the colours of things in small pictures, apart from the Rust of `src/perceive/colour`, whose test compares itself.

Usage: colours.py [--crops FOLDER] > colours.json

Without --crops: pictures that are reckoned from their number, as the test does it. With --crops: the folder that
benches/colours/crops.py wrote; prints what is right of each half instead. Needs NumPy, and with --crops Pillow.
"""

import json
import sys
from pathlib import Path

import numpy as np

TERMS = ["black", "white", "red", "green", "yellow", "blue", "brown", "purple", "pink", "orange", "grey"]
FOLDER = Path(__file__).parents[2] / "src/perceive/colour"
NEAR = {frozenset(line.split()) for line in (FOLDER / "near.tsv").read_text().splitlines() if line[:1] not in ("#", "")}
GRID, RING, GAP, LEAST_PX = 24, 0.2, 0.05, 10
MINKOWSKI, TRUST, MOST_GAIN, MOST_LIFT, LIGHT = 6, 0.5, 1.5, 3.0, 0.5
DENSITY, WEIGHTS, CORNER, LEFT = 0.11, np.array([0.7, 1.4, 1.4]), 0.3, 0.1
MODE, RADIUS, DARK, NEUTRAL, SPREAD, BRIGHT = 0.2, 0.14, 0.35, 0.075, 0.45, 0.8
SIGMA, LIGHTNESS, HALF, FAR = 0.025, 0.5, 0.2, 0.02
ONE, AHEAD, BOTH, SECOND = 0.45, 0.15, 0.75, 0.3


def linear(values):
    values = values / 255.0
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


LINEAR = linear(np.arange(256.0))


def oklab(rgb):
    """Björn Ottosson's OKLab (2020)."""
    lms = np.cbrt(rgb @ np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                                  [0.0883024619, 0.2817188376, 0.6299787005]]).T)
    return lms @ np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                           [0.0259040371, 0.7827717662, -0.8086757660]]).T


def table():
    places, parts = [], []
    for line in (FOLDER / "names.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        value, names = line.split("\t")
        part = np.zeros(12)
        for name in names.split():
            part[TERMS.index(name) if name != "-" else 11] = 1.0 if len(names.split()) == 1 else 0.5 + HALF
        places.append(oklab(LINEAR[[int(value[at : at + 2], 16) for at in (0, 2, 4)]]))
        parts.append(part)
    return np.array(places), np.array(parts)


PLACES, PARTS = table()


def light(picture):
    """Gains that take half of the light's colour out (shades of grey: Finlayson and Trezzi 2004), and make a dark picture lighter."""
    height, width = picture.shape[:2]
    rows = ((np.arange(48) + 0.5) * height / 48).astype(int)
    columns = ((np.arange(64) + 0.5) * width / 64).astype(int)
    pixels = picture[np.ix_(rows, columns)].reshape(-1, 3)
    pixels = LINEAR[pixels[pixels.max(axis=1) < 250]]
    if len(pixels) < 300:
        return np.ones(3)
    mean = (pixels**MINKOWSKI).mean(axis=0) ** (1 / MINKOWSKI)
    gains = np.clip(mean.mean() / np.maximum(mean, 1e-4), 1 / MOST_GAIN, MOST_GAIN) ** TRUST
    top = np.sort((pixels * gains).mean(axis=1))[int(0.95 * len(pixels)) - 1]
    return gains * np.clip(LIGHT / max(top, 1e-3), 1, MOST_LIFT)


def density(of, among):
    apart = ((of[:, None] - among[None]) * WEIGHTS) ** 2
    return np.maximum(0, 1 - apart.sum(axis=2) / DENSITY**2).mean(axis=1)


def looked_at(picture, box, whole):
    """OKLab and weight of points of the box."""
    height, width = picture.shape[:2]
    x, y, w, h = box
    at = (np.arange(GRID) + 0.5) / GRID * (1 + 2 * RING) - RING
    rows, columns = np.floor(y + at * h).astype(int), np.floor(x + at * w).astype(int)
    there = np.outer((rows >= 0) & (rows < height), (columns >= 0) & (columns < width))
    u, v = np.meshgrid(at, at)
    pixels = picture[np.ix_(np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1))]
    inside = (u >= 0) & (u < 1) & (v >= 0) & (v < 1) & there
    ring = there & ~((u >= -GAP) & (u < 1 + GAP) & (v >= -GAP) & (v < 1 + GAP))
    lab = oklab(LINEAR[pixels] * light(picture))
    thing, around, u, v = lab[inside], lab[ring], u[inside], v[inside]
    weights = np.ones(len(thing))
    if not whole and len(around) >= 30:
        within = density(thing, thing)
        weights = np.clip((within - density(thing, around)) / within, 0, 1)
        weights *= np.where((u - 0.5) ** 2 + (v - 0.5) ** 2 < 0.25, 1, CORNER)
        if weights.sum() < LEFT * len(thing):
            weights = ((abs(u - 0.5) < 0.25) & (abs(v - 0.5) < 0.25)).astype(float)
    return thing, weights


def percentile(values, weights, share):
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    return values[order][np.searchsorted(sums, share * sums[-1])]


def patches(thing, weights):
    """Share, chromaticity (a/L, b/L: the same in light and shade) and lightness of what is of one colour."""
    lightness = np.maximum(thing[:, 0], 0.02)
    chroma = thing[:, 1:] / lightness[:, None] * np.clip(lightness / DARK, 0, 1)[:, None]
    left, all_of_it = weights.copy(), weights.sum()
    kernel = np.maximum(0, 1 - ((chroma[:, None] - chroma[None]) ** 2).sum(axis=2) / MODE**2)
    for _ in range(3):
        centre = chroma[int(np.argmax(kernel @ left))]
        for _ in range(2):
            near = ((chroma - centre) ** 2).sum(axis=1) < RADIUS**2
            part = np.where(near, left, 0)
            if part.sum() < 0.1 * all_of_it:
                return
            centre = (chroma * part[:, None]).sum(axis=0) / part.sum()
        left = np.where(near, 0, left)
        share = part.sum() / all_of_it
        low, high = percentile(lightness, part, 0.15), percentile(lightness, part, 0.85)
        if np.hypot(*centre) < NEUTRAL and high - low > SPREAD:
            for side in (lightness < (low + high) / 2, lightness >= (low + high) / 2):
                of_side = np.where(side, part, 0)
                if of_side.sum() > 0:
                    yield of_side.sum() / all_of_it, centre, percentile(lightness, of_side, 0.5)
        else:
            yield share, centre, percentile(lightness, part, BRIGHT)


def named(place):
    apart = ((place - PLACES) * np.array([LIGHTNESS, 1, 1])) ** 2
    near = np.exp(-apart.sum(axis=1) / (2 * SIGMA**2))
    of = (near[:, None] * PARTS).max(axis=0)
    return of / (of.sum() + FAR)


def shares(picture, box, whole=False):
    if min(box[2:]) < LEAST_PX:
        return None
    found = np.zeros(12)
    for share, chroma, lightness in patches(*looked_at(picture, box, whole)):
        found += share * named(lightness * np.array([1, *chroma]))
    return found


def decided(found):
    first, second = np.argsort(-found[:11], kind="stable")[:2]
    a, b, none = found[first], found[second], found[11]
    if a >= ONE and a - b >= AHEAD and a - none >= AHEAD:
        return [TERMS[first]]
    if a + b >= BOTH and b >= SECOND and frozenset((TERMS[first], TERMS[second])) not in NEAR:
        return [TERMS[first], TERMS[second]]
    return []


def upper(box):
    """The clothes of somebody who stands."""
    x, y, w, h = box
    return (x + 0.25 * w, y + 0.2 * h, 0.5 * w, 0.25 * h) if h >= 1.8 * w else None


# What the reckoned pictures show: the thing's two colours (upper and lower half), what is behind it, and the light on all of it.
SCENES = [
    ((200, 30, 35), (200, 30, 35), (150, 150, 145), (256, 256, 256)),
    ((30, 70, 190), (30, 70, 190), (120, 130, 90), (256, 256, 256)),
    ((30, 70, 190), (30, 70, 190), (120, 130, 90), (290, 256, 180)),
    ((200, 30, 35), (235, 235, 235), (90, 110, 130), (256, 256, 256)),
    ((225, 225, 225), (225, 225, 225), (120, 90, 60), (256, 256, 256)),
    ((22, 22, 24), (22, 22, 24), (160, 150, 140), (256, 256, 256)),
    ((240, 200, 20), (240, 200, 20), (60, 90, 50), (256, 256, 256)),
    ((240, 130, 20), (240, 130, 20), (140, 140, 150), (256, 256, 256)),
    ((40, 140, 50), (40, 140, 50), (170, 160, 150), (110, 110, 105)),
    ((100, 60, 30), (100, 60, 30), (180, 180, 185), (256, 256, 256)),
    ((230, 110, 170), (230, 110, 170), (130, 140, 150), (256, 256, 256)),
    ((120, 50, 150), (120, 50, 150), (160, 160, 150), (256, 256, 256)),
    ((200, 30, 35), (30, 140, 50), (30, 70, 190), (256, 256, 256)),
    ((128, 128, 126), (128, 128, 126), (200, 190, 170), (256, 256, 256)),
]
WIDTH, HEIGHT, BOX = 96, 72, (28.0, 18.0, 40.0, 36.0)


def reckoned(scene):
    upper_half, lower_half, behind, lamp = scene
    picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    noise = 12345
    for y in range(HEIGHT):
        for x in range(WIDTH):
            noise = (noise * 1103515245 + 12345) % 2**31
            dx, dy = 2 * x - 96, 2 * y - 72
            inside = dx * dx * 81 + dy * dy * 100 < 81 * 100 * 16
            of = behind if not inside else upper_half if y < 36 else lower_half
            # Shade: darker to the right.
            shade = 256 - x if inside else 256
            for channel in range(3):
                value = of[channel] * lamp[channel] // 256 * shade // 256 + (noise >> 16) % 7 - 3
                picture[y, x, channel] = min(max(value, 0), 255)
    return picture


def score(folder):
    from PIL import Image

    for half in ("tune", "held"):
        told = right = count = 0
        for one in json.loads((folder / "labels.json").read_text()):
            if one["half"] != half:
                continue
            count += 1
            body = one["kind"] == "body"
            box = upper(one["box"]) if body else one["box"]
            found = shares(np.array(Image.open(folder / one["file"]).convert("RGB")), box, body) if box else None
            names = [] if found is None else decided(found)
            told += bool(names)
            right += bool(names) and all(name in one["colours"] for name in names)
        print(f"{half}: {told} of {count} named, {right} right: precision {right / max(told, 1):.3f}, recall {right / count:.3f}")
        if "--held" not in sys.argv:
            break


if __name__ == "__main__":
    if "--crops" in sys.argv:
        score(Path(sys.argv[sys.argv.index("--crops") + 1]))
    else:
        cases = []
        for scene in SCENES:
            found = shares(reckoned(scene), BOX)
            cases.append({"scene": scene, "shares": [round(float(share), 4) for share in found], "names": decided(found)})
        print(json.dumps({"box": BOX, "cases": cases}))
