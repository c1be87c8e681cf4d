#!/usr/bin/env python3
"""Composes scenes of a camera that turns 60° a second to and fro before walking people, and scores what is followed.

Usage: turn.py compose --scenes DIR --to DIR     (DIR: what compose.py wrote, with `path` and `road`)
       turn.py score --scenes DIR [--engramd FILE] [--set key=value …]

A window of 320x240 slides over the 640x480 picture of a real scene, one width of its own a second (60° where a camera sees so
much), to and fro; it is shown at 640x480, and the labels are moved with it. Scored beside what score.py scores:
  broken     times that somebody who stays in view is followed by another track than a fifth of a second before; without any
             motion of the camera (`--set window.camera_motion=false` is the baseline) people who cross are parted, too
Needs what compose.py and score.py need.
"""

import argparse
import json
from pathlib import Path

import cv2

from compose import FPS, HEIGHT, WIDTH, write
from score import START, STEP, lines_of, overlap, score

# scene -> upper edge of the window
TOPS = {"path": 60, "road": 150}
FACTOR = 2
WINDOW = (WIDTH // FACTOR, HEIGHT // FACTOR)


def left_at(moment):
    """Left edge of the window then: to and fro, one of its widths a second."""
    free = WIDTH - WINDOW[0]
    way = (moment * WINDOW[0] + free / 2) % (2 * free)
    return round(way if way <= free else 2 * free - way)


def compose(scenes, to):
    to.mkdir(parents=True, exist_ok=True)
    for name, top in TOPS.items():
        video = cv2.VideoCapture(str(scenes / f"{name}.mp4"))
        truth = json.loads((scenes / f"{name}.json").read_text())
        frames = []
        for number in range(round(truth["secs"] * FPS)):
            there, frame = video.read()
            if not there:
                break
            left = left_at(number / FPS)
            frames.append(cv2.resize(frame[top:top + WINDOW[1], left:left + WINDOW[0]], (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC))
        for person in truth["people"]:
            for kind in ("boxes", "hidden"):
                person[kind] = [box for box in (moved(box, top) for box in person.get(kind, [])) if box]
        truth["ignored"] = []
        write(to / f"{name}.mp4", frames)
        (to / f"{name}.json").write_text(json.dumps(truth))
        print(name, len(frames) / FPS, "s")


def moved(label, top):
    """A label as the window shows it; `None` where it shows less than a third."""
    moment, x, y, w, h, faces = label
    x, y = x - left_at(moment), y - top
    x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + w, WINDOW[0]), min(y + h, WINDOW[1])
    if x1 <= x0 or y1 <= y0 or (x1 - x0) * (y1 - y0) < w * h / 3:
        return None
    return [moment, *(FACTOR * side for side in (x0, y0, x1 - x0, y1 - y0)), faces]


def broken(labels, lines):
    """Times that somebody who stays in view goes on under another track."""
    seen = {}
    for line in lines:
        if line["kind"] == "body":
            at = (parsed(line["t"]) - START).total_seconds()
            seen.setdefault(round(at / STEP), []).append(line)
    breaks = 0
    for person in labels["people"]:
        before = None
        boxes = {round(box[0] / STEP): box[1:5] for box in person["boxes"] if abs(box[0] / STEP - round(box[0] / STEP)) < 0.1}
        for step in sorted(boxes):
            if step - 1 not in boxes:
                before = None
            here = [(overlap(line["box"], boxes[step]), line["track"]) for line in seen.get(step, [])]
            best = max(here, default=(0, None))
            if best[0] < 0.4:
                continue
            if before is not None and best[1] != before:
                breaks += 1
            before = best[1]
    return breaks


def parsed(time):
    return START.fromisoformat(time[:26].rstrip("Z") + "+00:00")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("compose", "score"))
    parser.add_argument("--scenes", type=Path, required=True)
    parser.add_argument("--to", type=Path)
    parser.add_argument("--engramd", default="engramd")
    parser.add_argument("--set", action="append", default=[])
    chosen = parser.parse_args()
    if chosen.what == "compose":
        compose(chosen.scenes, chosen.to)
        return
    for name in TOPS:
        labels = json.loads((chosen.scenes / f"{name}.json").read_text())
        lines = lines_of(chosen.engramd, chosen.scenes / f"{name}.mp4", chosen.set)
        row = score(labels, lines) | {"broken": broken(labels, lines)}
        print(f"{name:12}", " ".join(f"{key} {value:.3f}" if key == "covered" else f"{key} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
