#!/usr/bin/env python3
"""Composes the demo recording: portraits that pan, zoom and move their lips, with the sound of the made evening's beginning.

Reads demo_scenes.json and evening/evening.toml beside it, and the phrases that evening.sh had spoken; writes demo.mp4
(H.264 640x480 25 fps, AAC 16 kHz mono) and demo.truth.json (format engram-truth/1: who is visible and who speaks, when
and where, and every word).

A scene shows somebody while the next `turns` turns of the evening are spoken, whoever speaks them; between scenes the room
is empty where nobody speaks for long. `from` and `to` are [centre x, centre y, width] of the part of the portrait that is
shown, in the portrait's pixels; `panel` [x, width] is where it is shown, the whole picture by default.
"""

import argparse
import datetime
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

sys.path.insert(0, str(Path(__file__).with_name("evening")))
import compose  # noqa: E402
import speech  # noqa: E402
from compose import LEVEL, RATE  # noqa: E402

STEP = RATE // 50  # loudness is measured in steps of 20 ms
BEFORE, AFTER = 1.0, 0.8  # somebody is in view so long before and after speaking, seconds


# ---------------------------------------------------------------- time


def levels(samples):
    """Root mean square of each 20 ms step."""
    count = len(samples) // STEP
    return np.sqrt(np.mean(samples[: count * STEP].reshape(count, STEP) ** 2, axis=1))


def lay_out(plan, turns, length):
    """Gives every scene its start, end and turns, in whole frames, and puts the empty room where nobody is shown."""
    fps, at, left, scenes = plan["fps"], 0.0, list(turns), []

    def frame(t):
        return round(t * fps) / fps

    for scene in plan["scenes"]:
        scene["said"], left = left[: scene["turns"]], left[scene["turns"] :]
        begin = scene["said"][0]["start"]
        scene["start"] = frame(max(begin - BEFORE, (at + begin) / 2))
        at = scene["said"][-1]["end"]
        scene["end"] = frame(min(at + AFTER, (at + left[0]["start"]) / 2 if left else length))
    if left:
        raise SystemExit(f"demo_scenes.json shows nobody for {len(left)} turns of the demo; add scenes for them")
    at = 0.0
    for scene in [*plan["scenes"], {"start": frame(length), "end": None}]:
        if scene["start"] - at > 0.5 / fps:
            scenes.append({"name": "empty", "start": at, "end": scene["start"], "said": []})
        at = scene["end"]
    plan["scenes"] = sorted([*plan["scenes"], *scenes], key=lambda scene: scene["start"])
    for number, scene in enumerate(plan["scenes"], 1):
        scene["name"] = f"s{number:02}_{scene['name']}"


# ---------------------------------------------------------------- pictures


def room(size):
    """The empty room: a wall, a window, a table with a mug."""
    wide, high = size
    shade = np.linspace(205, 165, high)[:, None] + np.linspace(8, -8, wide)[None, :]
    picture = Image.fromarray(np.stack([shade, shade * 0.96, shade * 0.86], axis=2).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    draw.rectangle([60, 60, 230, 230], fill=(170, 205, 235), outline=(245, 245, 240), width=8)
    draw.line([145, 60, 145, 230], fill=(245, 245, 240), width=6)
    draw.rectangle([420, 70, 560, 100], fill=(120, 85, 55))
    for i, colour in enumerate([(60, 90, 160), (150, 60, 60), (70, 120, 80), (190, 160, 90)]):
        draw.rectangle([430 + 26 * i, 24, 450 + 26 * i, 70], fill=colour)
    draw.polygon([(0, 480), (60, 350), (580, 350), (640, 480)], fill=(140, 100, 65))
    draw.rectangle([300, 305, 340, 360], fill=(190, 40, 40))
    return picture.filter(ImageFilter.GaussianBlur(1.2))


class Portrait:
    """A portrait and where its face is, scaled so that the closest view is about one pixel per pixel."""

    def __init__(self, facts, folder, closest, panel_width):
        image = Image.open(folder / facts["file"]).convert("RGB")
        self.scale = min(1.0, panel_width / closest)
        size = [round(side * self.scale) for side in image.size]
        self.image = image.resize(size, Image.LANCZOS)
        self.pixels = np.asarray(self.image)
        left, right = (np.array(corner) * self.scale for corner in facts["mouth"])
        self.mouth, self.mouth_width = (left + right) / 2, right[0] - left[0]
        self.mouth_slope = (right[1] - left[1]) / self.mouth_width
        self.face = [value * self.scale for value in facts["face"]]

    def with_mouth(self, opening):
        """The portrait with its jaw lowered by `opening` (0 shut, 1 wide)."""
        if opening < 0.04:
            return self.image
        (mx, my), w = self.mouth, self.mouth_width
        x0, x1, y0, y1 = int(mx - w), int(mx + w), int(my - 0.2 * w), int(my + 1.5 * w)
        x, y = np.meshgrid(np.arange(x0, x1), np.arange(y0, y1))
        under = y - my - self.mouth_slope * (x - mx)  # rows under the line of the lips
        sideways = np.clip(1 - ((x - mx) / (0.5 * w)) ** 2, 0, 1)
        drop = opening * 0.3 * w * sideways * np.clip(1 - under / (1.4 * w), 0, 1)
        moved = np.where(under > 0, np.minimum(drop, under), 0)
        from_row = np.clip(np.rint(y - moved), 0, self.pixels.shape[0] - 1).astype(int)
        patch = self.pixels[from_row, x].astype(float)
        inside = np.where(under > 0, np.clip(drop - under - 1, 0, 2), 0)[..., None] / 2
        patch = patch * (1 - inside) + np.array([70, 25, 30]) * inside
        image = self.image.copy()
        image.paste(Image.fromarray(patch.astype(np.uint8)), (x0, y0))
        return image


def view(scene, share, panel, size, scale):
    """The part of the portrait that is shown when `share` of the scene is over: x0, y0, x1, y1."""
    eased = share * share * (3 - 2 * share)
    cx, cy, w = (a + (b - a) * eased for a, b in zip(scene["from"], scene["to"]))
    cx += 0.006 * w * np.sin(share * 9)  # nobody holds quite still
    h = w * size[1] / panel[1]
    return [scale * v for v in (cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2)]


def frames(plan, folder, loudness):
    """Yields every picture of the recording; fills in each scene's `face_area` on the way."""
    size, fps = plan["size"], plan["fps"]
    empty = room(size)
    for scene in plan["scenes"]:
        count = round((scene["end"] - scene["start"]) * fps)
        if "who" not in scene:
            yield from (empty for _ in range(count))
            continue
        panel = scene.get("panel", [0, size[0]])
        closest = min(scene["from"][2], scene["to"][2])
        portrait = Portrait(plan["portraits"][scene["portrait"]], folder, closest, panel[1])
        x, y, w, h = portrait.face
        area = []
        for number in range(count):
            x0, y0, x1, y1 = view(scene, number / count, panel, size, portrait.scale)
            image = portrait.with_mouth(opening(loudness[scene["who"]], scene["start"] + number / fps))
            part = image.transform((panel[1], size[1]), Image.EXTENT, (x0, y0, x1, y1), Image.BICUBIC)
            picture = empty.copy()
            picture.paste(part, (panel[0], 0))
            zoom = panel[1] / (x1 - x0)
            left, top = panel[0] + (x - x0) * zoom, (y - y0) * zoom
            area.append([left, top, left + w * zoom, top + h * zoom])
            yield picture
        area = np.array(area)
        low, high = area[:, :2].min(axis=0), area[:, 2:].max(axis=0)
        scene["face_area"] = [round(v) for v in (*low, *(high - low))]


def opening(level, t):
    """How far a mouth is open at `t`: the loudness of what that person says."""
    at = int(t * 50)
    return float(min(1.0, level[max(at - 1, 0) : at + 2].mean() / (2 * LEVEL)))


# ---------------------------------------------------------------- ground truth


def gaps(spans, length, least=0.0):
    """The stretches that no span covers."""
    free, at = [], 0.0
    for begin, end in sorted(spans):
        if begin - at >= max(least, 1e-6):
            free.append([round(at, 3), round(begin, 3)])
        at = max(at, end)
    if length - at >= max(least, 1e-6):
        free.append([round(at, 3), round(length, 3)])
    return free


def truth(plan, known, length):
    """engram-truth/1 of the sound, with what is to be seen."""
    for person in known["identities"]:
        scenes = [scene for scene in plan["scenes"] if scene.get("who") == person["id"]]
        person["label"] = plan["people"].get(person["id"], person["label"])
        person["visible"] = [{
            "start": round(s["start"], 3), "end": round(s["end"], 3), "scene": s["name"],
            "tile": "panel" if "panel" in s else "full",
            "tile_px": [s["panel"][0], 0, s["panel"][1], plan["size"][1]] if "panel" in s else [0, 0, *plan["size"]],
            "face_area_px": s["face_area"], "source": plan["portraits"][s["portrait"]]["file"],
        } for s in scenes]
        person["on_screen"], person["appearances"] = bool(scenes), len(scenes)
        person["visible_secs"] = round(sum(v["end"] - v["start"] for v in person["visible"]), 3)
        for span in person["speaking"]:
            if any(v["start"] <= span["start"] and span["end"] <= v["end"] for v in person["visible"]):
                span["mode"] = "on_screen"
    spoken = [(s["start"], s["end"]) for i in known["identities"] for s in i["speaking"]]
    seen = [(v["start"], v["end"]) for i in known["identities"] for v in i["visible"]]
    return {
        **known, "recording": "demo.mp4",
        "video": {"width": plan["size"][0], "height": plan["size"][1], "fps": plan["fps"],
                  "frames": round(length * plan["fps"])},
        "units": "seconds from the recording's start; boxes are x, y, width, height in pixels",
        "scenes": [{"name": s["name"], "start": round(s["start"], 3), "end": round(s["end"], 3),
                    "visible": [s["who"]] if "who" in s else [],
                    "heard": sorted({turn["speaker"] for turn in s["said"]})} for s in plan["scenes"]],
        "cuts": [round(s["start"], 3) for s in plan["scenes"][1:]],
        "nobody_visible": gaps(seen, length),
        "nobody_speaking": gaps(spoken, length, 0.5),
        "overlapping_speech": [],
    }


# ---------------------------------------------------------------- file


def encode(plan, pictures, sound, path):
    wide, high = plan["size"]
    pipeline = (
        f"fdsrc fd=0 ! rawvideoparse format=rgb width={wide} height={high} framerate={plan['fps']}/1 "
        "! videoconvert ! video/x-raw,format=I420 "
        f"! x264enc bitrate=700 speed-preset=faster threads=1 key-int-max={2 * plan['fps']} ! h264parse ! mp4mux name=file "
        f"! filesink location={path} "
        f"filesrc location={sound} ! wavparse ! audioconvert ! avenc_aac bitrate=64000 ! aacparse ! file."
    )
    encoder = subprocess.Popen(["gst-launch-1.0", "-q", *pipeline.split()], stdin=subprocess.PIPE)
    try:
        for picture in pictures:
            encoder.stdin.write(picture.tobytes())
        encoder.stdin.close()
    except BrokenPipeError:
        pass
    if encoder.wait() != 0:
        raise SystemExit("GStreamer could not encode the recording; its message is above")


def stamp(path, start):
    """Writes the start into every header of the MP4 file that has a creation time (seconds since 1904)."""
    data = bytearray(path.read_bytes())
    since_1904 = int(start.timestamp()) + 2082844800
    for box in (b"mvhd", b"tkhd", b"mdhd"):
        at = data.find(box)
        while at >= 0:
            width = ">QQ" if data[at + 4] == 1 else ">II"
            struct.pack_into(width, data, at + 8, since_1904, since_1904)
            at = data.find(box, at + 4)
    path.write_bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--portraits", type=Path, required=True, help="folder of the pictures that the scenes name")
    parser.add_argument("--out", type=Path, required=True, help="where demo.mp4 and demo.truth.json go")
    speech.arguments(parser)
    chosen = parser.parse_args()
    plan = json.loads(Path(__file__).with_name("demo_scenes.json").read_text())
    evening, stems = speech.opened(chosen)
    speech.speak(evening, stems, only_demo=True)
    start = datetime.datetime.fromisoformat(evening["start"].replace("Z", "+00:00"))

    turns, tracks, length = compose.lay_out(evening, [turn for turn in evening["turns"] if turn.demo], evening["demo_tail"])
    length = np.ceil(length * plan["fps"]) / plan["fps"]
    mix = np.random.default_rng(1).normal(0, compose.FLOOR, round(length * RATE))
    for track in tracks.values():
        mix[: len(track)] += track[: len(mix)]
    lay_out(plan, turns, length)
    loudness = {person: np.pad(levels(track), (0, 100)) for person, track in tracks.items()}
    sound, film = chosen.out / "sound.wav", chosen.out / "demo.part.mp4"
    compose.write_wave(sound, mix)
    encode(plan, frames(plan, chosen.portraits, loudness), sound, film)
    stamp(film, start)
    known = truth(plan, compose.truth(evening, "demo", turns, float(length)), length)
    (chosen.out / "demo.truth.json").write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    film.replace(chosen.out / "demo.mp4")
    sound.unlink()
    print(f"{chosen.out / 'demo.mp4'}: {length:.1f} s, {(chosen.out / 'demo.mp4').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
