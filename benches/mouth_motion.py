#!/usr/bin/env python3
"""Does the movement of a mouth, from what the face detector gives anyway, tell who speaks from who listens?

Usage: mouth_motion.py YUNET.onnx REC.mp4 REC.json [REC.mp4 REC.json ...] [--fps 5]
       (needs numpy, onnxruntime and gst-launch-1.0)

Frames of a labelled recording (`engram-truth/1`) at the analysed rate; YuNet's five points in each face; per stretch of
speech of 1 s and longer and per face in view all the while:

  width         how the distance of the mouth's corners changes, in distances of the eyes
  place         how the mouth's middle moves against eyes and nose, likewise
  mouth alone   mean absolute difference of consecutive mouth regions (41 x 32 of the 112 x 112 aligned face), grey levels
  look          the same over that of the rest of the face
  look, steps   how `look` itself changes
  with sound    `look` correlated with the loudness of each step

Per feature: the area under the curve (who speaks against who does not; 0.5 tells nothing), how many of each, and the
10th, 50th and 90th percentile of each.
"""

import argparse
import json
import subprocess
import tempfile

import numpy as np
import onnxruntime

EYES_NOSE_MOUTH = np.array([[38.29, 51.70], [73.53, 51.50], [56.03, 71.74], [41.55, 92.37], [70.73, 92.20]], np.float32)


def gst(line):
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(["gst-launch-1.0", "-q", *f"{line} ! filesink location={raw.name}".split()], check=True)
        return np.fromfile(raw.name, np.uint8)


def frames(path, fps, width, height):
    raw = gst(f"filesrc location={path} ! decodebin ! videoconvert ! videorate ! "
              f"video/x-raw,format=BGR,framerate={fps}/1,width={width},height={height}")
    return raw.reshape(-1, height, width, 3)


def loudness(path, fps):
    raw = gst(f"filesrc location={path} ! decodebin ! audioconvert ! audioresample ! "
              "audio/x-raw,format=S16LE,rate=16000,channels=1").view(np.int16).astype(np.float32)
    step = 16000 // fps
    return np.log(np.sqrt((raw[:len(raw) // step * step].reshape(-1, step) ** 2).mean(axis=1)) + 1)


def faces(session, frame):
    """Boxes [N,4] (x, y, w, h) and points [N,5,2] of a frame."""
    h, w = frame.shape[:2]
    side_h, side_w = -(-h // 32) * 32, -(-w // 32) * 32
    picture = np.zeros((side_h, side_w, 3), np.float32)
    picture[:h, :w] = frame
    names = [o.name for o in session.get_outputs()]
    out = dict(zip(names, session.run(None, {session.get_inputs()[0].name: picture.transpose(2, 0, 1)[None]})))
    found = []
    for stride in (8, 16, 32):
        cols = side_w // stride
        cls, obj = out[f"cls_{stride}"].reshape(-1), out[f"obj_{stride}"].reshape(-1)
        box, kps = out[f"bbox_{stride}"].reshape(-1, 4), out[f"kps_{stride}"].reshape(-1, 10)
        score = np.sqrt(np.clip(cls, 0, 1) * np.clip(obj, 0, 1))
        for at in np.flatnonzero(score > 0.7):
            c, r = at % cols, at // cols
            size = np.exp(box[at, 2:]) * stride
            middle = (np.array([c, r]) + box[at, :2]) * stride
            points = (kps[at].reshape(5, 2) + [c, r]) * stride
            found.append((score[at], [*(middle - size / 2), *size], points))
    found.sort(key=lambda one: -one[0])
    kept = []
    for one in found:
        if all(overlap(one[1], other[1]) < 0.3 for other in kept):
            kept.append(one)
    return kept


def overlap(a, b):
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return 0.0 if w <= 0 or h <= 0 else w * h / (a[2] * a[3] + b[2] * b[3] - w * h)


def similarity(points, template):
    """2 x 3 from template to picture, least squares."""
    (x, y), (u, v) = template.T, points.T
    rows = np.concatenate([np.stack([x, -y, np.ones(5), np.zeros(5)], 1), np.stack([y, x, np.zeros(5), np.ones(5)], 1)])
    a, b, tx, ty = np.linalg.lstsq(rows, np.concatenate([u, v]), rcond=None)[0]
    return np.array([[a, -b, tx], [b, a, ty]])


def chip(frame, points):
    """Aligned grey face, 112 x 112. By eyes and nose alone: a mouth that opens must not move the face."""
    three = np.concatenate([points[:3], points[:3].mean(axis=0, keepdims=True).repeat(2, 0)])
    flat = np.concatenate([EYES_NOSE_MOUTH[:3], EYES_NOSE_MOUTH[:3].mean(axis=0, keepdims=True).repeat(2, 0)])
    m = similarity(three, flat)
    y, x = np.mgrid[0:112, 0:112].astype(np.float32)
    u, v = m[0, 0] * x + m[0, 1] * y + m[0, 2], m[1, 0] * x + m[1, 1] * y + m[1, 2]
    h, w = frame.shape[:2]
    u, v = np.clip(u, 0, w - 2), np.clip(v, 0, h - 2)
    left, top = u.astype(int), v.astype(int)
    fx, fy = u - left, v - top
    grey = frame.mean(axis=2)
    upper = grey[top, left] * (1 - fx) + grey[top, left + 1] * fx
    lower = grey[top + 1, left] * (1 - fx) + grey[top + 1, left + 1] * fx
    return upper * (1 - fy) + lower * fy, m


MOUTH, REST = (slice(78, 110), slice(36, 77)), (slice(30, 70), slice(24, 88))


def measure(session, recording, labels, fps):
    """(speaks, {feature: value}) per stretch of speech and face in view."""
    truth = json.load(open(labels))
    size = truth.get("video", {"width": 640, "height": 480})
    pictures, sound = frames(recording, fps, size["width"], size["height"]), loudness(recording, fps)
    seen = []  # per frame and identity: chip, points in the template's frame
    for number, frame in enumerate(pictures):
        at, here = number / fps, {}
        found = faces(session, frame)
        for who in truth["identities"]:
            spans = [s for s in who["visible"] if s["start"] <= at < s["end"]]
            for _, box, points in found if spans else []:
                x, y, w, h = spans[0]["face_area_px"]
                cx, cy = box[0] + box[2] / 2, box[1] + box[3] / 2
                if x <= cx <= x + w and y <= cy <= y + h:
                    picture, m = chip(frame, points)
                    back = np.linalg.inv(np.vstack([m, [0, 0, 1]]))[:2]
                    here[who["id"]] = (picture, points @ back[:, :2].T + back[:, 2])
        seen.append(here)
    rows = []
    for speaker in truth["identities"]:
        for span in speaker["speaking"]:
            first, last = int(np.ceil(span["start"] * fps)), int(span["end"] * fps)
            if last - first < fps:
                continue
            for who in truth["identities"]:
                inside = [seen[n].get(who["id"]) for n in range(first, min(last, len(seen)))]
                others = [s for s in who["speaking"] if s["start"] < span["end"] and s["end"] > span["start"]]
                if any(one is None for one in inside) or who is not speaker and others:
                    continue
                eyes = 35.24
                wide = np.array([np.linalg.norm(p[4] - p[3]) for _, p in inside]) / eyes
                place = np.array([(p[3] + p[4]) / 2 for _, p in inside]) / eyes
                pairs = list(zip(inside, inside[1:]))
                change = lambda part: np.array([np.abs(b[0][part] - a[0][part]).mean() for a, b in pairs])
                look = change(MOUTH) / (change(REST) + 0.5)
                loud = sound[first + 1:first + 1 + len(look)]
                n = min(len(loud), len(look))
                with_sound = 0.0
                if n > 3 and loud[:n].std() > 0 and look[:n].std() > 0:
                    with_sound = np.corrcoef(loud[:n], look[:n])[0, 1]
                on_screen = who is speaker and span["mode"] == "on_screen"
                rows.append((on_screen, {
                    "width": np.abs(np.diff(wide)).mean(),
                    "place": np.linalg.norm(np.diff(place, axis=0), axis=1).mean(),
                    "look": look.mean(),
                    "look, steps": np.abs(np.diff(look)).mean() if len(look) > 1 else 0.0,
                    "mouth alone": change(MOUTH).mean(),
                    "with sound": with_sound,
                }))
    return rows


def auc(yes, no):
    wins = sum((a > b) + 0.5 * (a == b) for a in yes for b in no)
    return wins / (len(yes) * len(no)) if yes and no else float("nan")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--fps", type=int, default=5)
    args = parser.parse_args()
    session = onnxruntime.InferenceSession(args.model, providers=["CPUExecutionProvider"])
    rows = []
    for recording, labels in zip(args.files[::2], args.files[1::2]):
        rows += measure(session, recording, labels, args.fps)
    for name in rows[0][1]:
        yes = [float(row[name]) for speaks, row in rows if speaks]
        no = [float(row[name]) for speaks, row in rows if not speaks]
        print(json.dumps({"feature": name, "fps": args.fps, "auc": round(auc(yes, no), 3), "speak": len(yes),
                          "listen": len(no), "speakers": [round(float(v), 3) for v in np.quantile(yes, [.1, .5, .9])],
                          "listeners": [round(float(v), 3) for v in np.quantile(no, [.1, .5, .9])]}))


if __name__ == "__main__":
    main()
