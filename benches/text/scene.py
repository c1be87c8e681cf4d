#!/usr/bin/env python3
"""A recording with signs in it: boards are put into the frames of another recording, each at its place for its time.

    python benches/text/scene.py RECORDING OUT.avi --scene benches/text/signs.json [--secs 140]

The recording is played again and again until the seconds are over; pictures only. `signs.json`: [{"text": [lines], "at": [x,
y], "height_px", "turn": degrees, "colours": [letters, board], "font", "from", "to"}], seconds and px of a picture of 640x480.
Needs numpy, opencv, pillow.
"""
import argparse
import json
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

FPS = 10
FONTS = Path("/usr/share/fonts/truetype")


def board(sign):
    """The sign's board, with capitals three times as high as they are to be."""
    face = ImageFont.truetype(str(FONTS / sign["font"]), 100)
    top, bottom = face.getbbox("H")[1::2]
    size = round(100 * 3 * sign["height_px"] / (bottom - top))
    face = ImageFont.truetype(str(FONTS / sign["font"]), size)
    margin, step = round(size * 0.35), round(size * 1.25)
    width = max(face.getbbox(line)[2] for line in sign["text"])
    picture = Image.new("RGB", (width + 2 * margin, step * len(sign["text"]) + margin), tuple(sign["colours"][1]))
    draw = ImageDraw.Draw(picture)
    for row, line in enumerate(sign["text"]):
        draw.text((margin, margin // 2 + row * step), line, font=face, fill=tuple(sign["colours"][0]))
    return cv2.GaussianBlur(np.array(picture)[:, :, ::-1], (0, 0), 1.2)


def overlay(sign):
    """The board as it lies in a picture of 640x480, and where it covers it, 0-1."""
    picture = board(sign)
    h, w = picture.shape[0] / 3, picture.shape[1] / 3
    corners = np.array([[0, 0], [w, 0], [w, h], [0, h]], float)
    turn = np.deg2rad(sign["turn"])
    spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    quad = corners @ spin.T + np.array(sign["at"], float)
    src = np.float32([[0, 0], [picture.shape[1], 0], [picture.shape[1], picture.shape[0]], [0, picture.shape[0]]])
    way = cv2.getPerspectiveTransform(src, np.float32(quad))
    lies = cv2.warpPerspective(picture, way, (640, 480), flags=cv2.INTER_AREA)
    mask = cv2.warpPerspective(np.full(picture.shape[:2], 255, np.uint8), way, (640, 480))
    return lies, mask[:, :, None] / 255


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("recording")
    parse.add_argument("out")
    parse.add_argument("--scene", type=Path, required=True)
    parse.add_argument("--secs", type=float, default=140)
    args = parse.parse_args()
    signs = [(sign, *overlay(sign)) for sign in json.loads(args.scene.read_text())]
    frames, video = [], cv2.VideoCapture(args.recording)
    step = video.get(cv2.CAP_PROP_FPS) / FPS
    number = 0
    while True:
        more, frame = video.read()
        if not more:
            break
        if number >= len(frames) * step:
            frames.append(cv2.imencode(".jpg", cv2.resize(frame, (640, 480)), [cv2.IMWRITE_JPEG_QUALITY, 92])[1])
        number += 1
    out = cv2.VideoWriter(args.out, cv2.VideoWriter_fourcc(*"MJPG"), FPS, (640, 480))
    noise = np.random.default_rng(5)
    for at in range(round(args.secs * FPS)):
        frame = cv2.imdecode(frames[at % len(frames)], 1).astype(float)
        for sign, lies, mask in signs:
            if sign["from"] <= at / FPS < sign["to"]:
                frame = frame * (1 - mask) + lies * mask
        frame += noise.normal(0, 2, frame.shape)
        out.write(np.clip(frame, 0, 255).astype(np.uint8))
    out.release()


if __name__ == "__main__":
    main()
