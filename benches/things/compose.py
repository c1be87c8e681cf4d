#!/usr/bin/env python3
"""Composes labelled stills of things, and says at which score each class of COCO may be believed.

Usage: compose.py --stamps DIR --backgrounds DIR --model FILE [--to DIR]

Stamps are photographs without background of Debian's tuxpaint-stamps-default (usr/share/tuxpaint/stamps); backgrounds are
pictures in which nothing of COCO is to be seen (`BACKGROUNDS`: pip scikit-image's skimage/data). Where each thing lies is known by construction.
Stamps are parted into two halves, and so are backgrounds: on one half a class that was
found right there gets `USUAL`, or a little more than the surest false one where that is more, and any other `UNMEASURED` in
its place; on the other half it is said what precision and recall come of it. A detection is right where its box overlaps one of its class by half
(intersection over union); what lies over a stamp of which another class is told is false.

With --to the stills are kept there (PNG, and `stills.json` with the boxes). Needs OpenCV's Python package, NumPy, ONNX Runtime.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np
import onnxruntime

BACKGROUNDS = ["grass.png", "gravel.png", "brick.png", "rocket.jpg"]
# stamp -> class; two stamps of a class fall into different halves where there are two.
STAMPS = {
    "food/fruit/apple_granny_smith": "apple", "food/fruit/apple_red": "apple", "food/fruit/apple_green": "apple",
    "food/fruit/apple_fuji": "apple", "food/fruit/orange": "orange", "food/fruit/orange_seville": "orange",
    "food/fruit/banana": "banana", "food/vegetables/broccoli": "broccoli", "food/vegetables/carrot": "carrot",
    "food/pizza": "pizza", "household/dishes/mug": "cup", "household/toilet": "toilet",
    "household/arttools/scissors_small_open": "scissors", "household/arttools/scissors_small_closed": "scissors",
    "animals/mammals/bears/bear": "bear", "animals/mammals/bears/european-bear": "bear",
    "animals/mammals/bears/toys/edward_bear": "teddy bear", "animals/mammals/equines/horse": "horse",
    "animals/mammals/equines/zebra": "zebra", "animals/mammals/giraffe": "giraffe", "animals/mammals/elephant": "elephant",
    "animals/mammals/bovines/sheep": "sheep", "animals/mammals/bovines/sheep_lamb": "sheep",
    "animals/mammals/bovines/cow": "cow", "animals/mammals/bovines/cow_white": "cow", "animals/mammals/dogs/dog": "dog",
    "animals/mammals/dogs/dingo": "dog", "animals/birds/hen": "bird", "animals/birds/pigeon": "bird",
    "animals/birds/duck": "bird", "animals/birds/crow": "bird", "animals/birds/seagull": "bird", "animals/birds/ostrich": "bird",
    "sports/basketball": "sports ball", "sports/football": "sports ball", "sports/tennis_ball": "sports ball",
    "vehicles/emergency/firetruck": "truck", "vehicles/garbagetruck": "truck", "vehicles/auto/truck": "truck",
    "vehicles/auto/sportscar2": "car", "vehicles/race/indycar": "car", "vehicles/flight/planes/747": "airplane",
    "vehicles/masstransit/green_korean_bus": "bus",
}
STILLS, THINGS, WIDTH, HEIGHT = 60, 4, 640, 480
MARGIN = 0.02
# Boxes that overlap so much show one thing.
ONE_BOX = 0.8
# Least score of a class that was found right in the first half, and of any other.
USUAL, UNMEASURED = 0.4, 0.6
CLASSES = (Path(__file__).parents[2] / "src/perceive/object/coco.txt").read_text().splitlines()
CLASSES = [line.split("\t")[0] for line in CLASSES]


def stills(stamps, backgrounds, seed):
    random = np.random.default_rng(seed)
    for number in range(STILLS):
        ground = cv2.imread(str(backgrounds[number % len(backgrounds)]))
        canvas = cv2.resize(ground, (WIDTH, HEIGHT))
        boxes = []
        for cell in random.permutation(6)[:THINGS]:
            path, label = stamps[random.integers(len(stamps))]
            stamp = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
            rows, columns = np.where(stamp[..., 3] > 128)
            stamp = stamp[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
            size = random.uniform(70, 190)
            factor = size / max(stamp.shape[:2])
            stamp = cv2.resize(stamp, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
            high, wide = stamp.shape[:2]
            x = int(cell % 3 * WIDTH / 3 + random.uniform(0, WIDTH / 3 - wide))
            y = int(cell // 3 * HEIGHT / 2 + random.uniform(0, HEIGHT / 2 - high))
            alpha = stamp[..., 3:].astype(np.float32) / 255
            part = canvas[y : y + high, x : x + wide]
            part[:] = (part * (1 - alpha) + stamp[..., :3] * alpha).astype(np.uint8)
            boxes.append((label, x, y, wide, high))
        yield canvas, boxes


class Detector:
    """As `perceive::object::NanoDet`."""

    def __init__(self, path):
        self.session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])

    def detect(self, picture, least):
        height, width = picture.shape[:2]
        scale = 416 / max(height, width)
        inner = round(width * scale), round(height * scale)
        wide, high = (-(-side // 32) * 32 for side in inner)
        image = np.zeros((high, wide, 3), np.float32)
        image[: inner[1], : inner[0]] = cv2.resize(picture, inner)
        image = (image - (103.53, 116.28, 123.675)) / (57.375, 57.12, 58.395)
        score, bins = self.session.run(None, {"image": image.transpose(2, 0, 1)[None].astype(np.float32)})
        weights = np.exp(bins[0].reshape(-1, 4, 11) - bins[0].reshape(-1, 4, 11).max(axis=2, keepdims=True))
        sides = (weights * np.arange(11)).sum(axis=2) / weights.sum(axis=2)
        cells = [(x, y, s) for s in (8, 16, 32) for y in range(high // s) for x in range(wide // s)]
        found = []
        for cell, label in zip(*np.where(score[0] >= least)):
            x, y, stride = cells[cell]
            left, top, right, bottom = sides[cell] * stride / scale
            x, y = (x + 0.5) * stride / scale, (y + 0.5) * stride / scale
            found.append((float(score[0, cell, label]), CLASSES[label], x - left, y - top, left + right, top + bottom))
        kept = []
        for one in sorted(found, reverse=True):
            if all(one[1] != other[1] or overlap(one[2:], other[2:]) <= 0.5 for other in kept):
                kept.append(one)
        # One box shows one thing (`perceive::object::perceptor`): the surest stays, and people beside it.
        return [one for k, one in enumerate(kept) if "person" == one[1] or
                all("person" == other[1] or overlap(one[2:], other[2:]) < ONE_BOX for other in kept[:k])]


def overlap(a, b):
    wide = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    high = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return wide * high / (a[2] * a[3] + b[2] * b[3] - wide * high) if wide > 0 and high > 0 else 0.0


def judged(detector, half):
    """Of every detection from 0.2 on: class, score, whether it is right; and how many of each class there are."""
    told, there = [], defaultdict(int)
    for picture, boxes in half:
        taken = set()
        for label, *_ in boxes:
            there[label] += 1
        for score, label, *box in detector.detect(picture, 0.2):
            if label == "person":
                continue
            right = [k for k, (of, *at) in enumerate(boxes) if of == label and k not in taken and overlap(box, at) >= 0.5]
            taken.update(right[:1])
            told.append((label, score, bool(right)))
    return told, there


def summary(told, there, threshold):
    kept = [(label, right) for label, score, right in told if score >= threshold(label)]
    right = sum(right for _, right in kept)
    return len(kept), right, right / max(len(kept), 1), right / sum(there.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("stamps", "backgrounds", "model"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--to", type=Path)
    chosen = parser.parse_args()
    grounds = [chosen.backgrounds / name for name in BACKGROUNDS]
    by_class = defaultdict(list)
    for stamp, label in STAMPS.items():
        by_class[label].append((chosen.stamps / f"{stamp}.png", label))
    parts = ([], [])
    for number, stamps in enumerate(by_class.values()):
        for k, stamp in enumerate(stamps):
            parts[(k + (number if len(stamps) == 1 else 0)) % 2].append(stamp)
    detector = Detector(chosen.model)
    halves = [list(stills(part, grounds[k::2], 1 + k)) for k, part in enumerate(parts)]
    if chosen.to:
        chosen.to.mkdir(parents=True, exist_ok=True)
        labels = {}
        for k, half in enumerate(halves):
            for number, (picture, boxes) in enumerate(half):
                cv2.imwrite(str(chosen.to / f"{k}_{number}.png"), picture)
                labels[f"{k}_{number}.png"] = boxes
        (chosen.to / "stills.json").write_text(json.dumps(labels))
    (first, there), (second, others) = (judged(detector, half) for half in halves)
    own = {}
    for label in CLASSES:
        of = [(score, right) for told, score, right in first if told == label]
        wrong = max((score for score, right in of if not right), default=0)
        # What was never right is not known from having been false seldom.
        least = USUAL if any(right for _, right in of) else UNMEASURED
        own[label] = round(max(least, wrong + MARGIN if wrong >= least else 0), 2)
    threshold = own.get
    print("thresholds:", {label: own[label] for label in own if own[label] != UNMEASURED})
    for name, told, count in (("chosen on", first, there), ("checked on", second, others)):
        for what, limit in (("0.4 for all", lambda _: USUAL), ("0.6 for all", lambda _: UNMEASURED), ("per class", threshold)):
            number, right, precision, recall = summary(told, count, limit)
            print(f"{name} {sum(count.values())} boxes, {what}: {number} told, {right} right, precision {precision:.3f}, recall {recall:.3f}")
    false = defaultdict(int)
    for label, score, right in second:
        if score >= threshold(label) and not right:
            false[label] += 1
    print("false on the second half:", dict(false))


if __name__ == "__main__":
    main()
