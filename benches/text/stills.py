#!/usr/bin/env python3
"""Stills with known text: signs in several fonts, sizes and colours, put in perspective into photographs.

    python benches/text/stills.py OUT --set tune|test [--each 8]

writes OUT/<name>.png and OUT/labels.json: [{"file", "signs": [{"text", "quad", "height_px"}]}]. `height_px` is that of
a capital letter as it lies in the picture. The set `tune` chooses thresholds, `test` is what figures are stated of: they
share no words, no fonts, no photographs. Needs numpy, opencv, pillow, scikit-image; fonts of Debian's fonts-dejavu and
fonts-liberation.
"""
import argparse
import json
from pathlib import Path

import cv2
import numpy as np
import skimage.data
from PIL import Image, ImageDraw, ImageFont

FONTS = Path("/usr/share/fonts/truetype")
SETS = {
    "tune": dict(
        seed=11,
        fonts=["dejavu/DejaVuSans.ttf", "dejavu/DejaVuSans-Bold.ttf", "dejavu/DejaVuSerif.ttf",
               "dejavu/DejaVuSansCondensed-Bold.ttf"],
        photos=["astronaut", "coffee", "brick"],
        words=["Exit", "Push to open", "Meeting Room 4", "Mind the step", "Wet floor", "Kitchen", "Lift 2",
               "No smoking", "Platform 7", "Ring the bell", "OPEN", "Library", "Fire door keep shut",
               "Recycling only", "Bus 42 Harbour", "Pharmacy", "Tea and coffee", "WARNING", "Car park B",
               "Dr Helen Marsh", "Waiting area", "Cash only", "Back in 5 minutes", "Ticket 118", "Call 555 0134", "Phone 0800 4411",
               "room12b", "Wing4", "Gate A7", "Ext. 2290", "Order no 5518", "Flat 3c"],
    ),
    "test": dict(
        seed=29,
        fonts=["liberation/LiberationSans-Regular.ttf", "liberation/LiberationSans-Bold.ttf",
               "liberation/LiberationSerif-Bold.ttf", "liberation/LiberationSansNarrow-Bold.ttf",
               "liberation/LiberationMono-Bold.ttf"],
        photos=["chelsea", "rocket", "motorcycle_left", "gravel"],
        words=["Way out", "Pull", "Laboratory 12", "Watch your head", "Private", "Bathroom", "Stairs to roof",
               "Do not enter", "Gate C19", "Knock first", "CLOSED", "Bakery", "Emergency phone", "Glass and paper",
               "Tram 9 Castle Hill", "Post office", "Soup of the day", "DANGER", "Level 3", "Nurse Ivy Tolman",
               "Reception", "Please queue here", "Lunch until 14:30", "Locker 207", "Staff only", "Museum",
               "Quiet please", "Out of order", "Visitors sign in", "Free wifi"],
    ),
}
HEIGHTS = [12, 16, 20, 24, 28, 36]
COLOURS = [((20, 20, 20), (240, 240, 235)), ((250, 250, 250), (0, 100, 40)), ((255, 255, 255), (170, 20, 20)),
           ((255, 225, 0), (25, 25, 30)), ((245, 245, 245), (20, 60, 140)), ((30, 30, 30), (250, 210, 60))]


def photo(name):
    picture = getattr(skimage.data, name)() if hasattr(skimage.data, name) else None
    if picture is None:
        picture = cv2.imread(str(Path(skimage.data.__file__).parent / f"{name}.png"))[:, :, ::-1]
    if picture.ndim == 2:
        picture = np.stack([picture] * 3, 2)
    picture = picture[:, :, :3]
    scale = max(640 / picture.shape[1], 480 / picture.shape[0])
    picture = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    return np.ascontiguousarray(picture[:480, :640])


def sign(text, font, colours):
    """A sign with capitals 64 px high; its picture, and the height of a capital."""
    face = ImageFont.truetype(str(FONTS / font), 90)
    left, top, right, bottom = face.getbbox("H")
    capital = bottom - top
    left, top, right, bottom = face.getbbox(text)
    margin = 36
    picture = Image.new("RGB", (right - left + 2 * margin, bottom - top + 2 * margin), colours[1])
    ImageDraw.Draw(picture).text((margin - left, margin - top), text, font=face, fill=colours[0])
    return np.array(picture), capital


def put(picture, board, capital, height, rng, taken):
    """Puts a board into the picture, turned and tilted a little; its corners, or None where there is no room."""
    scale = height / capital
    h, w = board.shape[0] * scale, board.shape[1] * scale
    for _ in range(60):
        x, y = rng.uniform(4, 636 - w) if w < 630 else 4, rng.uniform(4, 476 - h) if h < 470 else 4
        box = np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]])
        centre, turn = box.mean(0), np.deg2rad(rng.uniform(-8, 8))
        spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        quad = (box - centre) @ spin.T
        tilt = rng.uniform(-0.12, 0.12)
        quad[:, 1] *= 1 + tilt * np.sign(quad[:, 0])
        quad = quad + centre
        low, high = quad.min(0), quad.max(0)
        clear = all(high[0] + 6 < a[0] or low[0] - 6 > b[0] or high[1] + 6 < a[1] or low[1] - 6 > b[1] for a, b in taken)
        if (low > 2).all() and high[0] < 638 and high[1] < 478 and clear:
            break
    else:
        return None
    taken.append((low, high))
    src = np.float32([[0, 0], [board.shape[1], 0], [board.shape[1], board.shape[0]], [0, board.shape[0]]])
    board = cv2.GaussianBlur(board, (0, 0), max(0.35 / scale, 0.01))
    way = cv2.getPerspectiveTransform(src, np.float32(quad))
    warped = cv2.warpPerspective(board, way, (640, 480), flags=cv2.INTER_AREA)
    mask = cv2.warpPerspective(np.full(board.shape[:2], 255, np.uint8), way, (640, 480))[:, :, None] / 255
    picture[:] = (picture * (1 - mask) + warped * mask).astype(np.uint8)
    return quad.tolist()


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("out", type=Path)
    parse.add_argument("--set", choices=SETS, default="test")
    parse.add_argument("--each", type=int, default=8, help="pictures per height of letters")
    args = parse.parse_args()
    of = SETS[args.set]
    rng = np.random.default_rng(of["seed"])
    args.out.mkdir(parents=True, exist_ok=True)
    labels = []
    for height in HEIGHTS:
        for number in range(args.each):
            picture = photo(of["photos"][rng.integers(len(of["photos"]))])
            taken, signs = [], []
            for text in rng.choice(of["words"], 4, replace=False):
                board, capital = sign(str(text), of["fonts"][rng.integers(len(of["fonts"]))],
                                      COLOURS[rng.integers(len(COLOURS))])
                quad = put(picture, board, capital, height, rng, taken)
                if quad:
                    signs.append({"text": str(text), "quad": quad, "height_px": height})
            noisy = np.clip(picture + rng.normal(0, 4, picture.shape), 0, 255).astype(np.uint8)
            _, jpeg = cv2.imencode(".jpg", noisy[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 75])
            name = f"{args.set}_{height}_{number}.png"
            cv2.imwrite(str(args.out / name), cv2.imdecode(jpeg, 1))
            labels.append({"file": name, "signs": signs})
    for name in of["photos"]:
        cv2.imwrite(str(args.out / f"{args.set}_none_{name}.png"), photo(name)[:, :, ::-1])
        labels.append({"file": f"{args.set}_none_{name}.png", "signs": []})
    (args.out / "labels.json").write_text(json.dumps(labels, indent=1))


if __name__ == "__main__":
    main()
