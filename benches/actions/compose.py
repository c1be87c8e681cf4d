#!/usr/bin/env python3
"""Composes the labelled scenes of what people do: three who stand, sit, lie, lie down, fall, wave and raise a hand; and real ones.

Usage: compose.py --recordings DIR --vtest FILE --player FILE --bus FILE --to DIR

Who walks and who stands is real: the two parts of `vtest.avi` (Debian's opencv-doc) whose people `benches/bodies/vtest.json`
labels; somebody walks where his label goes .25 of its height a second, stands where it goes less than .1, and in between nobody
says. All else is composed, since no package has pictures of it: three real people who stand, cut out of `basketball1.png`
(opencv-doc) and of ultralytics' `bus.jpg`, over the empty curtain of `living_room_dev.mp4`, with a camera's noise. Who lies is
turned on his side; who sits has his thighs shortened, as they are seen from ahead; arms that wave are drawn. So the figures of
these are upper bounds: real people bend, and hide behind tables.

Writes `<scene>.mp4` (640x480, 10 frames a second) and `<scene>.json`: `{"secs", "does": [[kind, start, end], …]}`, or of the real ones
`{"secs", "people"}` as `benches/bodies/compose.py` has them. Needs OpenCV's Python package, NumPy, and gst-launch-1.0 with x264enc.
"""

import argparse
import json
import sys
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "bodies"))
from compose import FPS, HEIGHT, REAL, WIDTH, frames_of, real, write  # noqa: E402

# Whose picture it is; left, top, right, bottom; and where the joints are: the left one, the right one, px.
PEOPLE = {
    "player": ("player", (33, 82, 164, 477), {
        "nose": [(91, 120)], "shoulder": [(117, 156), (47, 150)], "hip": [(113, 279), (69, 281)], "knee": [(117, 373), (65, 372)],
        "ankle": [(118, 442), (65, 449)], "elbow": [(141, 205), (89, 200)], "wrist": [(147, 156), (131, 156)]}),
    "coat": ("bus", (53, 395, 236, 907), {
        "nose": [(135, 443)], "shoulder": [(162, 496), (88, 495)], "hip": [(153, 651), (92, 653)], "knee": [(164, 751), (82, 761)],
        "ankle": [(185, 854), (68, 862)], "elbow": [(178, 558), (116, 565)], "wrist": [(162, 556), (155, 557)]}),
    "scarf": ("bus", (213, 397, 360, 844), {
        "nose": [(292, 450)], "shoulder": [(321, 489), (262, 502)], "hip": [(310, 627), (267, 631)], "knee": [(308, 715), (269, 735)],
        "ankle": [(268, 816), (267, 818)], "elbow": [(334, 555), (254, 572)], "wrist": [(296, 527), (265, 530)]}),
}
BONES = [("shoulder", "elbow"), ("elbow", "wrist"), ("shoulder", "hip"), ("hip", "knee"), ("knee", "ankle")]
# Height of who stands, px; where the floor is.
TALL, FLOOR = 300, 450
# Of the height: how short the thighs of who sits are; how long a drawn upper arm, a forearm.
SEATED, UPPER, FORE = 0.3, 0.17, 0.16


class Cutout:
    """A person who stands, `TALL` px, with a mask and the joints."""

    def __init__(self, picture, box, joints):
        left, top, right, bottom = box
        wide, high = (right - left) // 16, (bottom - top) // 16
        left, top = max(left - wide, 0), max(top - high, 0)
        right, bottom = min(right + wide, picture.shape[1]), min(bottom + high, picture.shape[0])
        part = picture[top:bottom, left:right]
        joints = {name: [(x - left, y - top) for x, y in places] for name, places in joints.items()}
        mask = self.outline(part, joints)
        scale = TALL / (box[3] - box[1])
        resize = lambda image: cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        self.picture, self.mask = resize(part), resize(mask)
        self.joints = {name: np.array(places) * scale for name, places in joints.items()}

    @staticmethod
    def outline(part, joints):
        mask = np.full(part.shape[:2], cv2.GC_PR_BGD, np.uint8)
        thick = part.shape[0] // 16
        for value, share in ((cv2.GC_PR_FGD, 1.6), (cv2.GC_FGD, 0.5)):
            for a, b in BONES:
                for one, other in zip(joints[a], joints[b]):
                    cv2.line(mask, one, other, value, int(thick * share))
            cv2.circle(mask, joints["nose"][0], int(thick * share * 0.9), value, -1)
        trunk = [joints["shoulder"][0], joints["shoulder"][1], joints["hip"][1], joints["hip"][0]]
        cv2.fillConvexPoly(mask, np.array(trunk, np.int32), cv2.GC_FGD)
        mask[:, :3] = mask[:, -3:] = mask[:3] = cv2.GC_BGD
        cv2.setRNGSeed(1)
        cv2.grabCut(part, mask, None, np.zeros((1, 65)), np.zeros((1, 65)), 5, cv2.GC_INIT_WITH_MASK)
        person = np.isin(mask, (cv2.GC_FGD, cv2.GC_PR_FGD)).astype(np.uint8)
        _, parts, stats, _ = cv2.connectedComponentsWithStats(person)
        person = (parts == 1 + np.argmax(stats[1:, cv2.CC_STAT_AREA])).astype(np.uint8)
        person = cv2.morphologyEx(person, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
        return cv2.GaussianBlur(person.astype(np.float32), (5, 5), 0)

    def seated(self):
        """The same with the thighs shortened; picture and mask."""
        hip, knee = (int(self.joints[name][:, 1].mean()) for name in ("hip", "knee"))
        short = max(int((knee - hip) * SEATED), 1)

        def squeeze(image):
            thighs = cv2.resize(image[hip:knee], (image.shape[1], short), interpolation=cv2.INTER_AREA)
            return np.concatenate([image[:hip], thighs, image[knee:]])

        return squeeze(self.picture), squeeze(self.mask)

    def with_arm(self, elbow, wrist):
        """The same with a drawn arm, from the right shoulder by angles of the upper arm and the forearm (0: down, outwards)."""
        room = TALL // 3
        pad = ((room, 0), (room, room))
        picture, mask = np.pad(self.picture, (*pad, (0, 0))), np.pad(self.mask, pad)
        shoulder = self.joints["shoulder"][1] + room
        # (The person's right is the left of the picture.)
        way = lambda angle, length: np.array([-np.sin(angle), np.cos(angle)]) * length * TALL
        bend = shoulder + way(elbow, UPPER)
        hand = bend + way(wrist, FORE)
        x, y = self.joints["shoulder"].mean(axis=0).astype(int)
        sleeve = tuple(int(v) for v in self.picture[y + 20:y + 40, x - 10:x + 10].mean(axis=(0, 1)))
        x, y = self.joints["nose"][0].astype(int)
        skin = tuple(int(v) for v in self.picture[y - 3:y + 6, x - 4:x + 5].mean(axis=(0, 1)))
        at = lambda place: tuple(int(v) for v in place)
        for start, end, colour, thick in ((shoulder, bend, sleeve, 0.07), (bend, hand, skin, 0.05)):
            cv2.line(picture, at(start), at(end), colour, int(thick * TALL))
            cv2.line(mask, at(start), at(end), 1.0, int(thick * TALL))
        cv2.circle(picture, at(hand), int(0.035 * TALL), skin, -1)
        cv2.circle(mask, at(hand), int(0.035 * TALL), 1.0, -1)
        return picture, mask


def lay(canvas, picture, mask, x, turned):
    """Lays somebody over the canvas, turned by that angle (radians, to the right) about the feet, which are at `x` on the floor."""
    high, wide = mask.shape
    turn = cv2.getRotationMatrix2D((wide / 2, high), -np.degrees(turned), 1.0)
    # On his side he lies on it, not through it.
    lift = np.sin(abs(turned)) * 0.12 * TALL
    turn[:, 2] += (x - wide / 2, FLOOR - high - lift)
    picture = cv2.warpAffine(picture, turn, (WIDTH, HEIGHT))
    mask = cv2.warpAffine(mask, turn, (WIDTH, HEIGHT))[..., None]
    canvas[:] = (canvas * (1 - mask) + picture * mask).astype(np.uint8)


# person -> seconds -> picture and mask, place of the feet, angle. A script is a list of (seconds, what, …).
def posed(cutout, what, moment, secs):
    """Somebody who does `what` for `secs`, at `moment` of it: picture, mask, angle of the body."""
    body, share = (cutout.picture, cutout.mask), moment / secs
    if what == "sits":
        return (*cutout.seated(), 0.0)
    if what in ("lies", "lies_left"):
        return (*body, np.pi / 2 * (-1 if what == "lies_left" else 1))
    if what in ("falls", "falls_left"):
        # As a pole falls: slowly at first.
        return (*body, np.pi / 2 * share ** 2 * (-1 if what == "falls_left" else 1))
    if what == "waves":
        return (*cutout.with_arm(np.radians(110), np.radians(170) + 0.5 * np.sin(2 * np.pi * 1.1 * moment)), 0.0)
    if what == "raises_hand":
        return (*cutout.with_arm(np.radians(150), np.radians(178)), 0.0)
    return (*body, 0.0)


# scene -> what everybody of three does, one after the other: seconds, what, and as what it is labelled.
SCRIPT = {
    "stand": [(15, "stands", "stands")],
    "sit": [(15, "sits", "sits")],
    "lie": [(8, "lies", "lies"), (8, "lies_left", "lies")],
    "wave": [(3, "stands", "stands"), (14, "waves", "waves"), (3, "stands", "stands")],
    "raise": [(3, "stands", "stands"), (14, "raises_hand", "raises_hand"), (3, "stands", "stands")],
    "fall": [(4, "stands", "stands"), (0.8, "falls", "falls"), (6, "lies", "lies")],
    "fall_left": [(4, "stands", "stands"), (0.6, "falls_left", "falls"), (6, "lies_left", "lies")],
    "lie_down": [(4, "stands", "stands"), (3, "sits", "sits"), (6, "lies", "lies")],
    "sit_down": [(4, "stands", "stands"), (5, "sits", "sits"), (4, "stands", "stands")],
}
# Between two people nobody is there.
GAP = 3


def composed(steps, people, background):
    frames, does, random = [], [], np.random.default_rng(5)
    for place, cutout in zip((230, 330, 410), people):
        for secs, what, kind in steps:
            start = len(frames) / FPS
            for number in range(round(secs * FPS)):
                canvas = background.copy()
                sway = 2 * np.sin(len(frames) / 7)
                picture, mask, angle = posed(cutout, what, number / FPS, secs)
                aside = 0 if angle == 0 else -np.sign(angle) * 120 * abs(np.sin(angle))
                lay(canvas, picture, mask, place + sway + aside, angle)
                frames.append(canvas)
            does.append([kind, start, len(frames) / FPS])
        frames += [background.copy() for _ in range(GAP * FPS)]
    noise = random.normal(0, 3, (16, *background.shape)).astype(np.float32)
    noisy = lambda number, frame: np.clip(frame + noise[number % len(noise)], 0, 255).astype(np.uint8)
    return [noisy(number, frame) for number, frame in enumerate(frames)], does


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("recordings", "vtest", "player", "bus", "to"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    chosen = parser.parse_args()
    chosen.to.mkdir(parents=True, exist_ok=True)
    pictures = {name: cv2.imread(str(getattr(chosen, name))) for name in ("player", "bus")}
    people = [Cutout(pictures[file], box, joints) for file, box, joints in PEOPLE.values()]
    background = frames_of(chosen.recordings / "living_room_dev.mp4", 70.0, 1.0)[0]
    for name, steps in SCRIPT.items():
        frames, does = composed(steps, people, background)
        write(chosen.to / f"{name}.mp4", frames)
        (chosen.to / f"{name}.json").write_text(json.dumps({"secs": len(frames) / FPS, "does": does}))
        print(name, len(frames) / FPS, "s")
    for name in REAL:
        frames, people = real(name, chosen.vtest)
        write(chosen.to / f"{name}.mp4", frames)
        (chosen.to / f"{name}.json").write_text(json.dumps({"secs": len(frames) / FPS, "people": people}))
        print(name, len(frames) / FPS, "s,", len(people), "people")


if __name__ == "__main__":
    main()
