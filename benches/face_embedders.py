#!/usr/bin/env python3
"""Face embedders side by side: the same faces, whole and made small, by each.

Usage: face_embedders.py --recordings DIR --detector YUNET.onnx --mobilefacenet FILE.onnx --mobilefacenet192 FILE.onnx

Faces are those of `faces/lfw` (folders of photographs, one per person), of the people of the labelled recordings (a frame each
2 s of every appearance) and of `faces/multiface_6.jpg` (who count as others alone), found by YuNet and aligned by five points.
Every pair is compared once. Small faces are the first twelve of each, the picture scaled so that the face has that height and
kept as JPEG, against all whole ones but the one they were made of. Needs OpenCV's Python package, NumPy, ONNX Runtime.
"""

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
import onnxruntime

# Where eyes, nose and corners of the mouth lie in an aligned chip of 112 px (ArcFace).
TEMPLATE = np.array([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]])
RECORDINGS = ("living_room_dev", "two_people_dev", "one_person_dev")
SMALL = ((60, 60), (40, 50), (28, 40), (24, 40), (20, 40))
MOST, EACH_SECS, MARGIN = 12, 2.0, 40
# ImageNet's mean and deviation, red first.
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
# From which cosine on two are one (calibration/thresholds).
ACCEPT = {"mobilefacenet": 0.42, "mobilefacenet192": 0.56}
SCALING = {
    "mobilefacenet": lambda chip: (chip / 255 - MEAN) / DEVIATION,
    "mobilefacenet192": lambda chip: (chip - 127.5) / 128,
}


class Faces:
    def __init__(self, detector, networks):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.detector = str(detector)
        self.networks = {name: onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
                         for name, path in networks.items()}

    def found(self, picture):
        """Rows of YuNet: box, five points, score."""
        height, width = picture.shape[:2]
        _, faces = cv2.FaceDetectorYN.create(self.detector, "", (width, height), 0.6).detect(picture)
        return np.zeros((0, 15)) if faces is None else faces.astype(float)

    def chip(self, picture, face):
        points = face[4:14].reshape(5, 2)
        here, there = points - points.mean(axis=0), TEMPLATE - TEMPLATE.mean(axis=0)
        u, sizes, v = np.linalg.svd(there.T @ here / 5)
        mirror = np.diag([1, np.sign(np.linalg.det(u @ v))])
        turn = u @ mirror @ v * (np.trace(np.diag(sizes) @ mirror) / (here**2).sum() * 5)
        shift = TEMPLATE.mean(axis=0) - turn @ points.mean(axis=0)
        return cv2.warpAffine(picture, np.hstack([turn, shift[:, None]]), (112, 112))

    def embeddings(self, chip):
        """By network: the unit vector."""
        rgb = chip[:, :, ::-1].astype(float)
        out = {}
        for name, session in self.networks.items():
            image = SCALING[name](rgb).transpose(2, 0, 1)[None].astype(np.float32)
            value = session.run(None, {session.get_inputs()[0].name: image})[0][0]
            out[name] = value / np.linalg.norm(value)
        return out

    def small(self, picture, face, height, quality):
        """The face's chip out of a picture in which it is that high; `None` where it is not found any more."""
        scale = height / face[3]
        if scale >= 1:
            return None
        picture = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        picture = cv2.imdecode(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], 1)
        # The smallest are looked for in a picture twice as large.
        twice = 2 if height < 32 else 1
        faces = self.found(cv2.resize(picture, None, fx=twice, fy=twice))
        faces[:, :14] /= twice
        middle = (face[:2] + face[2:4] / 2) * scale
        apart = [np.hypot(*(one[:2] + one[2:4] / 2 - middle)) for one in faces]
        return self.chip(picture, faces[int(np.argmin(apart))]) if len(faces) else None


def pictures(recordings):
    """Person -> pictures with him in the middle."""
    people = {}
    for path in sorted((recordings / "faces/lfw").glob("*/*.jpg")):
        people.setdefault(path.parent.name, []).append(cv2.imread(str(path)))
    for name in RECORDINGS:
        video = cv2.VideoCapture(str(recordings / f"{name}.mp4"))
        for identity in json.loads((recordings / f"{name}.json").read_text())["identities"]:
            for appearance in identity["visible"]:
                x, y, width, height = appearance["face_area_px"]
                for moment in np.arange(appearance["start"] + 0.3, appearance["end"] - 0.2, EACH_SECS):
                    video.set(cv2.CAP_PROP_POS_MSEC, 1000 * moment)
                    there, frame = video.read()
                    if there:
                        part = frame[max(y - MARGIN, 0) : y + height + MARGIN, max(x - MARGIN, 0) : x + width + MARGIN]
                        people.setdefault(identity["id"], []).append(part)
    return people


def figures(same, other, accept):
    """Equal error rate, at which cosine; how many of the same are accepted when one in a thousand others is, and how many of
    both at the calibrated threshold."""
    same, other = np.array(same), np.array(other)
    errors = [(max((same < at).mean(), (other >= at).mean()), at) for at in np.concatenate([same, other])]
    error, at = min(errors)
    strict = np.sort(other)[-max(1, len(other) // 1000)]
    spread = [np.round(np.percentile(values, shares), 2).tolist() for values, shares in
              ((same, (0, 1, 5, 50)), (other, (50, 95, 99, 100)))]
    return (f"{len(same)} and {len(other)} pairs, EER {100 * error:.2f} % at {at:.2f}, TAR@1e-3 {(same > strict).mean():.3f}, "
            f"from {accept} on {(same >= accept).mean():.3f} and {(other >= accept).sum()}, "
            f"same 0/1/5/50 % {spread[0]}, others 50/95/99/100 % {spread[1]}")


def compared(what, probes, gallery, networks):
    for name in networks:
        same, other = [], []
        for a, of_a in probes.items():
            for b, of_b in gallery.items():
                if probes is gallery and a > b:
                    continue
                for i, x in enumerate(of_a):
                    for k, y in enumerate(of_b):
                        if x is None or a == b and (k <= i if probes is gallery else k == i):
                            continue
                        (same if a == b else other).append(float(x[name] @ y[name]))
        print(f"{what}, {name}: {figures(same, other, ACCEPT[name])}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("recordings", "detector", *SCALING):
        parser.add_argument(f"--{name}", type=Path, required=True)
    chosen = parser.parse_args()
    faces = Faces(chosen.detector, {name: getattr(chosen, name) for name in SCALING})
    people = {}
    for person, of_person in pictures(chosen.recordings).items():
        for picture in of_person:
            middle = np.array(picture.shape[1::-1]) / 2
            found = sorted(faces.found(picture), key=lambda face: np.hypot(*(face[:2] + face[2:4] / 2 - middle)))
            people.setdefault(person, []).extend((picture, face) for face in found[:1])
    group = cv2.imread(str(chosen.recordings / "faces/multiface_6.jpg"))
    for number, face in enumerate(faces.found(group)):
        people[f"group_{number}"] = [(group, face)]
    whole = {person: [faces.embeddings(faces.chip(*one)) for one in of_person] for person, of_person in people.items()}
    lfw = {path.name for path in (chosen.recordings / "faces/lfw").iterdir()}
    of_lfw = {person: of_person for person, of_person in whole.items() if person in lfw}
    compared("LFW", of_lfw, of_lfw, SCALING)
    compared(f"all {len(whole)} people", whole, whole, SCALING)
    for height, quality in SMALL:
        probes = {}
        for person, of_person in people.items():
            chips = [faces.small(*one, height, quality) for one in of_person[:MOST]]
            probes[person] = [None if chip is None else faces.embeddings(chip) for chip in chips]
        compared(f"{height} px", probes, whole, SCALING)


if __name__ == "__main__":
    main()
