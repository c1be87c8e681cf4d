#!/usr/bin/env python3
"""Composes the labelled scenes of bodies: people who turn away, cross, leave and return, or never show a face.

Usage: compose.py --recordings DIR --vtest FILE --to DIR

Two scenes are real: parts of `vtest.avi` (Debian's opencv-doc, examples/data), whose labels in `vtest.json` were drawn by a
detector at full resolution in every frame and put right by eye. The other four are people cut out of labelled recordings
(`one_person_dev.mp4`, `two_people_dev.mp4`, `living_room_dev.mp4`) who move over an empty curtain as `SCRIPT` says, so that
the truth is known by construction; who turns away has his face replaced by the colour of his hair.

Writes `<scene>.mp4` (640x480, 10 frames a second) and `<scene>.json`: for every person of the scene
`{"id", "face", "boxes": [[seconds, x, y, w, h, shows the face], …], "hidden"}`, a box each 0.1 s while he is in view;
`hidden` holds those of him while somebody before him covers most of him: he need not be found then, but his face may be.
Needs OpenCV's Python package, NumPy, and gst-launch-1.0 with x264enc.
"""

import argparse
import json
import subprocess
from pathlib import Path

import cv2
import numpy as np

WIDTH, HEIGHT, FPS = 640, 480, 10
HERE = Path(__file__).parent
# Who is covered by so much of his width is not in view.
HIDDEN = 0.6

# person -> recording, from which second on, seconds, factor of the size
PEOPLE = {
    "curtain_man": ("one_person_dev.mp4", 1.0, 6.0, 0.62),
    "garden_woman": ("two_people_dev.mp4", 1.0, 6.0, 0.62),
}
# scene -> seconds, and of each person, in the order from behind to before: when (seconds), where (centre of the picture of
# him, px) and whether the face is seen from then on; between two places he walks. Nobody is in view before the first.
SCRIPT = {
    "turns_away": (40, {
        "curtain_man": [(0, 320, 1), (8, 320, 0), (20, 320, 1), (30, 320, 1), (33, 900, 1)],
    }),
    "cross": (40, {
        "garden_woman": [(0, 470, 1), (8, 470, 0), (10, 470, 0), (14, 170, 0), (24, 170, 1), (34, 170, 1), (38, 470, 1), (40, 470, 1)],
        "curtain_man": [(0, 170, 1), (8, 170, 0), (10, 170, 0), (14, 470, 0), (24, 470, 1), (34, 470, 1), (38, 170, 1), (40, 170, 1)],
    }),
    "returns": (40, {
        "garden_woman": [(0, 320, 1), (8, 320, 0), (12, 320, 0), (15, -260, 0), (20, 900, 0), (23, 330, 0), (28, 330, 1), (36, 330, 1), (38, 900, 1)],
    }),
    "passer_by": (40, {
        "garden_woman": [(5, 900, 0), (8, 500, 0), (10, 500, 0), (13, 900, 0), (28, 900, 0), (31, 500, 0), (32, 500, 0), (35, 900, 0)],
        "curtain_man": [(0, 150, 1), (15, 150, 0), (25, 150, 1), (40, 150, 1)],
    }),
}
# scene -> first and last frame, crop of the 768x576 picture
REAL = {"path": (180, 300, (0, 90, 512, 384)), "road": (535, 655, (256, 140, 512, 384))}
# scene -> x, y, width, height: where people are cut by the edge of the picture, who have no labels
IGNORED = {"road": [[0, 280, 230, 200]]}


def frames_of(path, start, secs):
    """Frames of a video at `FPS`."""
    video = cv2.VideoCapture(str(path))
    rate = video.get(cv2.CAP_PROP_FPS)
    video.set(cv2.CAP_PROP_POS_MSEC, 1000 * start)
    kept = []
    for number in range(int(secs * rate)):
        there, frame = video.read()
        if there and int(number * FPS / rate) != int((number - 1) * FPS / rate):
            kept.append(frame)
    return kept


class Cutout:
    """A person, cut out of a recording: with his face, and turned away."""

    def __init__(self, recordings, name):
        file, start, secs, factor = PEOPLE[name]
        self.facing, self.away, self.masks = [], [], []
        for number, frame in enumerate(frames_of(recordings / file, start, secs)):
            frame = cv2.resize(frame, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
            if number % 5 == 0:
                mask = self.outline(frame)
            self.facing.append(frame)
            self.away.append(self.turned(frame))
            self.masks.append(mask)
        columns = np.flatnonzero(np.max(self.masks, axis=0).max(axis=0) > 0.5)
        rows = np.flatnonzero(np.max(self.masks, axis=0).max(axis=1) > 0.5)
        # Left, top, right and bottom of him in his picture.
        self.box = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)

    @staticmethod
    def outline(frame):
        height, width = frame.shape[:2]
        mask = np.full((height, width), cv2.GC_PR_BGD, np.uint8)
        cv2.ellipse(mask, (int(0.53 * width), int(0.4 * height)), (int(0.17 * width), int(0.28 * height)), 0, 0, 360, cv2.GC_PR_FGD, -1)
        mask[int(0.7 * height):, int(0.25 * width):int(0.8 * width)] = cv2.GC_PR_FGD
        mask[int(0.3 * height):int(0.5 * height), int(0.47 * width):int(0.6 * width)] = cv2.GC_FGD
        mask[int(0.85 * height):, int(0.35 * width):int(0.7 * width)] = cv2.GC_FGD
        mask[:, : int(0.12 * width)] = cv2.GC_BGD
        mask[:, int(0.92 * width):] = cv2.GC_BGD
        mask[: int(0.04 * height)] = cv2.GC_BGD
        cv2.setRNGSeed(1)
        cv2.grabCut(frame, mask, None, np.zeros((1, 65)), np.zeros((1, 65)), 4, cv2.GC_INIT_WITH_MASK)
        person = np.isin(mask, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.uint8)
        count, parts, stats, _ = cv2.connectedComponentsWithStats(person)
        largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA])) if count > 1 else 0
        person = cv2.morphologyEx((parts == largest).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
        return cv2.GaussianBlur(person.astype(np.float32), (5, 5), 0)

    @staticmethod
    def turned(frame):
        """The face covered by hair: the darkest colours above it, with their unrest."""
        height, width = frame.shape[:2]
        head = frame[int(0.1 * height):int(0.25 * height), int(0.45 * width):int(0.62 * width)].reshape(-1, 3)
        dark = head[np.argsort(head.sum(axis=1))[: len(head) // 3]]
        noise = np.random.default_rng(3).integers(0, len(dark), (height, width))
        hair = cv2.GaussianBlur(dark[noise], (3, 9), 0)
        cover = np.zeros((height, width), np.float32)
        cv2.ellipse(cover, (int(0.535 * width), int(0.4 * height)), (int(0.14 * width), int(0.24 * height)), 0, 0, 360, 1.0, -1)
        cover = cv2.GaussianBlur(cover, (9, 9), 0)[..., None]
        return (frame * (1 - cover) + hair * cover).astype(np.uint8)

    def draw(self, canvas, moment, x, facing):
        """Lays him over the canvas; gives back his box in it, `None` where he is out of it."""
        number = int(moment * FPS) % len(self.facing)
        frame, mask = (self.facing if facing else self.away)[number], self.masks[number][..., None]
        height, width = frame.shape[:2]
        left, top = int(x - width / 2), HEIGHT - height
        at, end = max(left, 0), min(left + width, WIDTH)
        if at < end:
            part = slice(at - left, end - left)
            under = canvas[top:, at:end]
            under[:] = (under * (1 - mask[:, part]) + frame[:, part] * mask[:, part]).astype(np.uint8)
        x0, x1 = max(left + self.box[0], 0), min(left + self.box[2], WIDTH)
        # Less than a third of him is nobody's view.
        if x1 - x0 < (self.box[2] - self.box[0]) / 3:
            return None
        return [int(x0), int(top + self.box[1]), int(x1 - x0), int(self.box[3] - self.box[1])]


def place(path, moment):
    """Where somebody is then and whether he shows his face; `None` before he comes."""
    before = [step for step in path if step[0] <= moment]
    after = [step for step in path if step[0] > moment]
    if not before:
        return None
    (t, x, facing), following = before[-1], after[:1]
    for t1, x1, _ in following:
        x += (x1 - x) * (moment - t) / (t1 - t)
    return x, bool(facing)


def covered(box, other):
    """Share of a labelled box's width that another, before it, covers."""
    _, x, _, w, *_ = box
    _, a, _, b, *_ = other
    return max(min(x + w, a + b) - max(x, a), 0) / w


def composed(name, people, background):
    secs, paths = SCRIPT[name]
    labels, hidden = ({person: [] for person in paths} for _ in range(2))
    frames = []
    for number in range(secs * FPS):
        moment = number / FPS
        canvas = background.copy()
        drawn = []
        for person, path in paths.items():
            stands = place(path, moment)
            box = stands and people[person].draw(canvas, moment, *stands)
            if box:
                drawn.append((person, [moment, *box, int(stands[1])]))
        for behind, (person, box) in enumerate(drawn):
            is_hidden = any(covered(box, other) >= HIDDEN for _, other in drawn[behind + 1 :])
            (hidden if is_hidden else labels)[person].append(box)
        frames.append(canvas)
    told = [{"id": person, "face": any(box[5] for box in boxes), "boxes": boxes, "hidden": hidden[person]}
            for person, boxes in labels.items()]
    return frames, told


def real(name, vtest):
    first, last, (x, y, w, h) = REAL[name]
    video = cv2.VideoCapture(str(vtest))
    frames = []
    for number in range(last):
        _, frame = video.read()
        if number >= first:
            frames.append(cv2.resize(frame[y : y + h, x : x + w], (WIDTH, HEIGHT)))
    return frames, json.loads((HERE / "vtest.json").read_text())[name]


def write(path, frames):
    command = ["gst-launch-1.0", "-q", "fdsrc", "!", "rawvideoparse", "format=bgr", f"width={WIDTH}", f"height={HEIGHT}",
               f"framerate={FPS}/1", "!", "videoconvert", "!", "video/x-raw,format=I420", "!", "x264enc", "pass=quant",
               "quantizer=18", "threads=1", "!", "mp4mux", "!", "filesink", f"location={path}"]
    subprocess.run(command, input=b"".join(frame.tobytes() for frame in frames), check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("recordings", "vtest", "to"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    chosen = parser.parse_args()
    chosen.to.mkdir(parents=True, exist_ok=True)
    people = {name: Cutout(chosen.recordings, name) for name in ("curtain_man", "garden_woman")}
    background = frames_of(chosen.recordings / "living_room_dev.mp4", 70.0, 1.0)[0]
    scenes = {name: composed(name, people, background) for name in SCRIPT}
    scenes.update({name: real(name, chosen.vtest) for name in REAL})
    for name, (frames, labels) in scenes.items():
        write(chosen.to / f"{name}.mp4", frames)
        truth = {"secs": len(frames) / FPS, "people": labels, "ignored": IGNORED.get(name, [])}
        (chosen.to / f"{name}.json").write_text(json.dumps(truth))
        print(name, len(frames) / FPS, "s,", len(labels), "people")


if __name__ == "__main__":
    main()
