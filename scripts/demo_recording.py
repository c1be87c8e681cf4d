#!/usr/bin/env python3
"""Composes the demo recording: portraits that pan, zoom and move their lips, and synthetic voices.

Reads demo_scenes.json beside it; writes demo.mp4 (H.264 640x480 25 fps, AAC 16 kHz mono) and
demo.truth.json (format engram-truth/1: who is visible and who speaks, when and where).

In a scene, `from` and `to` are [centre x, centre y, width] of the part of the portrait that is shown, in
the portrait's pixels; `panel` [x, width] is where it is shown, the whole picture by default.
"""

import argparse
import datetime
import json
import struct
import subprocess
import wave
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

RATE = 16000
STEP = RATE // 50  # speech is measured in steps of 20 ms
BEFORE, BETWEEN, AFTER = 1.0, 0.8, 0.8  # silence around the sentences of a scene, seconds
LEVEL = 0.07  # root mean square of every sentence, of full scale


# ---------------------------------------------------------------- sound


def speak(text, voice, path):
    """Synthesises a sentence with flite; float samples at 16 kHz, silence at both ends cut off."""
    subprocess.run(["flite", "-voice", voice, "-t", text, "-o", str(path)], check=True)
    with wave.open(str(path)) as sound:
        if sound.getframerate() != RATE or sound.getnchannels() != 1:
            raise SystemExit(f"flite's voice {voice} is not 16 kHz mono")
        samples = np.frombuffer(sound.readframes(sound.getnframes()), np.int16) / 32768
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    samples = samples[loud[0] : loud[-1] + 1]
    return samples * LEVEL / np.sqrt(np.mean(samples**2))


def levels(samples):
    """Root mean square of each 20 ms step."""
    count = len(samples) // STEP
    return np.sqrt(np.mean(samples[: count * STEP].reshape(count, STEP) ** 2, axis=1))


def speech_spans(samples, start):
    """Spans in which a sentence sounds: within 20 dB of its loud part, gaps under 0.25 s closed."""
    level = levels(samples)
    sounding = level > np.percentile(level, 95) * 0.1
    spans = []
    for index in np.flatnonzero(sounding):
        begin, end = start + index * STEP / RATE, start + (index + 1) * STEP / RATE
        if spans and begin - spans[-1][1] < 0.25:
            spans[-1][1] = end
        else:
            spans.append([begin, end])
    return [[round(a, 3), round(b, 3)] for a, b in spans]


def lay_out(plan, work):
    """Gives every scene its start, end and sentences, in whole frames; returns the length and the sound."""
    fps, at, laid = plan["fps"], 0.0, []
    for scene in plan["scenes"]:
        scene["start"], scene["sentences"] = at, []
        if "who" in scene:
            voice, t = plan["people"][scene["who"]]["voice"], at + BEFORE
            for number, text in enumerate(scene["says"]):
                samples = speak(text, voice, work / f"{scene['name']}_{number}.wav")
                scene["sentences"].append({"text": text, "start": t, "samples": samples})
                laid.append((t, samples))
                t += len(samples) / RATE + BETWEEN
            at = t - BETWEEN + AFTER
        else:
            at += scene["rest"]
        at = np.ceil(at * fps) / fps
        scene["end"] = at
    # A room is never quite silent.
    mix = np.random.default_rng(1).normal(0, 0.0004, round(at * RATE))
    for start, samples in laid:
        first = round(start * RATE)
        mix[first : first + len(samples)] += samples
    return at, mix


def write_wave(path, samples):
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


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


def frames(plan, folder):
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
            image = portrait.with_mouth(opening(scene, scene["start"] + number / fps))
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


def opening(scene, t):
    """How far the mouth is open at `t`: the loudness of what is being said."""
    for sentence in scene["sentences"]:
        at = int((t - sentence["start"]) * 50)
        level = levels(sentence["samples"]) if "level" not in sentence else sentence["level"]
        sentence["level"] = level
        if 0 <= at < len(level):
            around = level[max(at - 1, 0) : at + 2].mean()
            return float(min(1.0, around / (2 * LEVEL)))
    return 0.0


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


def truth(plan, length, start):
    identities = []
    for person, facts in plan["people"].items():
        scenes = [scene for scene in plan["scenes"] if scene.get("who") == person]
        visible = [{
            "start": round(s["start"], 3), "end": round(s["end"], 3), "scene": s["name"],
            "tile": "panel" if "panel" in s else "full",
            "tile_px": [s["panel"][0], 0, s["panel"][1], plan["size"][1]] if "panel" in s else [0, 0, *plan["size"]],
            "face_area_px": s["face_area"], "source": plan["portraits"][s["portrait"]]["file"],
        } for s in scenes]
        turns = [{
            "start": round(t["start"], 3), "end": round(t["start"] + len(t["samples"]) / RATE, 3),
            "mode": "on_screen", "source": f"flite:{facts['voice']}", "words": t["text"],
        } for s in scenes for t in s["sentences"]]
        speaking = [{"start": a, "end": b, "mode": "on_screen"}
                    for s in scenes for t in s["sentences"] for a, b in speech_spans(t["samples"], t["start"])]
        identities.append({
            "id": person, "label": facts["label"], "on_screen": True, "appearances": len(visible),
            "visible_secs": round(sum(v["end"] - v["start"] for v in visible), 3),
            "speaking_secs": round(sum(s["end"] - s["start"] for s in speaking), 3),
            "visible": visible, "speaking": speaking, "turns": turns,
        })
    spoken = [(s["start"], s["end"]) for i in identities for s in i["speaking"]]
    seen = [(v["start"], v["end"]) for i in identities for v in i["visible"]]
    return {
        "format": "engram-truth/1", "recording": "demo.mp4",
        "start": start.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "start_unix_ns": int(start.timestamp()) * 10**9,
        "duration_secs": round(length, 3),
        "video": {"width": plan["size"][0], "height": plan["size"][1], "fps": plan["fps"],
                  "frames": round(length * plan["fps"])},
        "audio": {"rate": RATE, "channels": 1},
        "units": "seconds from the recording's start; boxes are x, y, width, height in pixels",
        "identities": identities,
        "scenes": [{"name": s["name"], "start": round(s["start"], 3), "end": round(s["end"], 3),
                    "visible": [s["who"]] if "who" in s else [],
                    "heard": [s["who"]] if s["sentences"] else []} for s in plan["scenes"]],
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
    parser.add_argument("--work", type=Path, required=True, help="folder for what lies in between")
    parser.add_argument("--out", type=Path, required=True, help="where demo.mp4 and demo.truth.json go")
    chosen = parser.parse_args()
    plan = json.loads(Path(__file__).with_name("demo_scenes.json").read_text())
    start = datetime.datetime.fromisoformat(plan["start"].replace("Z", "+00:00"))

    length, mix = lay_out(plan, chosen.work)
    sound, film = chosen.work / "sound.wav", chosen.work / "demo.mp4"
    write_wave(sound, mix)
    encode(plan, frames(plan, chosen.portraits), sound, film)
    stamp(film, start)
    (chosen.out / "demo.truth.json").write_text(json.dumps(truth(plan, length, start), indent=1) + "\n")
    film.replace(chosen.out / "demo.mp4")
    print(f"{chosen.out / 'demo.mp4'}: {length:.1f} s, {(chosen.out / 'demo.mp4').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
