#!/usr/bin/env python3
"""Composes a recording with things, people and signs in it: things lie, are carried, are brought and go.

Usage: scene.py SCENE.json OUT.mp4 --recordings DIR --stamps DIR [--player FILE --bus FILE]

SCENE.json: {"secs", "background": [recording, second], "people": {name: [[second, x, shows the face], …]}, "things": [{"stamp",
"size", "path": [[second, x, y], …], "to"}], "signs": [as in benches/text]}. People are the cut-outs of
`benches/bodies/compose.py`, on the ways that are told there; things are photographs without background of Debian's
tuxpaint-stamps-default (usr/share/tuxpaint/stamps), `size` px on their longer side, their centre on the path, before people;
between two places of a path they move. "actors": [{"who", "from", "x", "does": [[seconds, what], …]}], where there are any, are those
of `benches/actions/compose.py` (who needs --player and --bus), their feet at x. Needs OpenCV's Python package, NumPy, Pillow, and gst-launch-1.0 with x264enc.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

import cv2
import numpy as np

HERE = Path(__file__).parent


def beside(name):
    spec = importlib.util.spec_from_file_location(name.replace("/", "_"), HERE.parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bodies, text = beside("bodies/compose"), beside("text/scene")


class Actor:
    """Who does one thing after the other in one place."""

    def __init__(self, actions, cutout, told):
        self.actions, self.cutout, self.x, self.steps = actions, cutout, told["x"], []
        start = told["from"]
        for secs, what in told["does"]:
            self.steps.append((start, secs, what))
            start += secs

    def draw(self, canvas, moment):
        for start, secs, what in self.steps:
            if start <= moment < start + secs:
                picture, mask, angle = self.actions.posed(self.cutout, what, moment - start, secs)
                aside = 0 if angle == 0 else -np.sign(angle) * 120 * abs(np.sin(angle))
                self.actions.lay(canvas, picture, mask, self.x + 2 * np.sin(moment * 1.4) + aside, angle)


def actors_of(scene, chosen):
    if not scene.get("actors"):
        return []
    sys.path.insert(0, str(HERE.parent / "bodies"))
    actions = beside("actions/compose")
    pictures = {name: cv2.imread(str(getattr(chosen, name))) for name in ("player", "bus")}
    cutouts = {name: actions.Cutout(pictures[file], box, joints) for name, (file, box, joints) in actions.PEOPLE.items()}
    return [Actor(actions, cutouts[told["who"]], told) for told in scene["actors"]]


class Thing:
    def __init__(self, stamps, told):
        stamp = cv2.imread(str(stamps / f"{told['stamp']}.png"), cv2.IMREAD_UNCHANGED)
        rows, columns = np.where(stamp[..., 3] > 128)
        stamp = stamp[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        factor = told["size"] / max(stamp.shape[:2])
        self.stamp = cv2.resize(stamp, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        self.path, self.to = told["path"], told.get("to", float("inf"))

    def draw(self, canvas, moment):
        if moment < self.path[0][0] or moment >= self.to:
            return
        times, xs, ys = zip(*self.path)
        high, wide = self.stamp.shape[:2]
        left, top = round(np.interp(moment, times, xs) - wide / 2), round(np.interp(moment, times, ys) - high / 2)
        x0, x1, y0, y1 = max(left, 0), min(left + wide, bodies.WIDTH), max(top, 0), min(top + high, bodies.HEIGHT)
        if x0 >= x1 or y0 >= y1:
            return
        stamp = self.stamp[y0 - top : y1 - top, x0 - left : x1 - left]
        alpha = stamp[..., 3:].astype(np.float32) / 255
        part = canvas[y0:y1, x0:x1]
        part[:] = (part * (1 - alpha) + stamp[..., :3] * alpha).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", type=Path)
    parser.add_argument("out", type=Path)
    for name in ("recordings", "stamps"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("player", "bus"):
        parser.add_argument(f"--{name}", type=Path)
    chosen = parser.parse_args()
    scene = json.loads(chosen.scene.read_text())
    recording, second = scene["background"]
    ground = cv2.resize(bodies.frames_of(chosen.recordings / recording, second, 1.0)[0], (bodies.WIDTH, bodies.HEIGHT))
    people = {name: bodies.Cutout(chosen.recordings, name) for name in scene["people"]}
    actors = actors_of(scene, chosen)
    things = [Thing(chosen.stamps, told) for told in scene["things"]]
    signs = [(sign, *text.overlay(sign)) for sign in scene["signs"]]
    noise = np.random.default_rng(7)
    frames = []
    for number in range(scene["secs"] * bodies.FPS):
        moment = number / bodies.FPS
        canvas = ground.copy()
        for sign, lies, mask in signs:
            if sign["from"] <= moment < sign["to"]:
                canvas = (canvas * (1 - mask) + lies * mask).astype(np.uint8)
        for actor in actors:
            actor.draw(canvas, moment)
        for name, path in scene["people"].items():
            stands = bodies.place(path, moment)
            if stands:
                people[name].draw(canvas, moment, *stands)
        for thing in things:
            thing.draw(canvas, moment)
        shaken = canvas + noise.normal(0, 1.5, canvas.shape)
        frames.append(np.clip(shaken, 0, 255).astype(np.uint8))
    bodies.write(chosen.out, frames)


if __name__ == "__main__":
    main()
