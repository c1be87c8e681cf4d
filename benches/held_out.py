#!/usr/bin/env python3
"""Composes labelled recordings of people that the thresholds were never tuned on.

    benches/held_out.py --faces DIR --voices DIR --seed N --out DIR [--people 4] [--unseen 2] [--name NAME]
                        [--beside once|listener|interview]

--faces and --voices are folders of folders, one per person (LFW's and LibriSpeech's own layout). Writes
NAME.mp4 (H.264 640x480 25 fps, AAC 16 kHz mono) and NAME.json (engram-truth/1). Everything follows from
the seed: who is cast, which photo and which sentence is used where. A person comes in a different photo each
time, which is harder than a cut of one clip; photos move, breathe and move their lips with the sound.

Scenes, joined by hard cuts: alone, two side by side (one speaks, then the other), far away in a tile, silent
listener, voice from the next room over an empty room or over somebody's silent face, a known person heard
but not seen, two voices at once, a mouth that moves in silence, nobody at all.

With --beside whoever speaks stands beside the camera (as loud as anybody in view), and somebody in view is silent: `once`
for one turn or two in one clip of 30 s, `listener` all the time, `interview` in turns with who is in view.

Needs Python with NumPy and Pillow, and gst-launch-1.0 with x264enc and avenc_aac.
"""

import argparse
import datetime
import json
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

RATE, FPS, WIDE, HIGH = 16000, 25, 640, 480
STEP = RATE // 50  # levels are measured in steps of 20 ms
LEVEL = 0.07  # root mean square of every sentence, of full scale
START = datetime.datetime(2026, 6, 1, 9, 0, tzinfo=datetime.timezone.utc)
PICTURES = (".jpg", ".jpeg", ".png")
SOUNDS = (".flac", ".wav", ".ogg", ".mp3")


# ---------------------------------------------------------------- sound


def decode(path):
    """The samples of a sound file, 16 kHz mono, silence at both ends cut off, at the common level."""
    with tempfile.NamedTemporaryFile(suffix=".raw") as raw:
        wanted = f"audio/x-raw,format=S16LE,rate={RATE},channels=1"
        line = f"filesrc location={path} ! decodebin ! audioconvert ! audioresample ! {wanted} ! filesink location={raw.name}"
        subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
        samples = np.frombuffer(Path(raw.name).read_bytes(), np.int16) / 32768
    level = levels(samples)
    loud = np.flatnonzero(level > 0.1 * np.percentile(level, 95))
    samples = samples[loud[0] * STEP : (loud[-1] + 1) * STEP]
    return samples * LEVEL / np.sqrt(np.mean(samples**2))


def levels(samples):
    count = len(samples) // STEP
    return np.sqrt(np.mean(samples[: count * STEP].reshape(count, STEP) ** 2, axis=1))


def spans(samples, start):
    """Where a sentence sounds: within 20 dB of its loud part, gaps under 0.25 s closed."""
    level = levels(samples)
    found = []
    for index in np.flatnonzero(level > np.percentile(level, 95) * 0.1):
        begin, end = start + index * STEP / RATE, start + (index + 1) * STEP / RATE
        if found and begin - found[-1][1] < 0.25:
            found[-1][1] = end
        else:
            found.append([begin, end])
    return [[round(a, 3), round(b, 3)] for a, b in found]


def next_room(samples, random):
    """Duller, quieter and with a tail: heard through a door."""
    tail = random.normal(0, 1, RATE // 4) * np.exp(-np.arange(RATE // 4) / (0.06 * RATE))
    tail[0] = 8
    spread = np.convolve(samples, tail / np.sqrt(np.sum(tail**2)))
    dull = np.convolve(spread, np.hanning(9) / np.hanning(9).sum())
    return 0.6 * dull


class Voice:
    """One person's sentences, each used once; a take is a stretch of the next of them."""

    def __init__(self, folder, random):
        self.files = sorted(path for path in folder.iterdir() if path.suffix in SOUNDS)
        random.shuffle(self.files)
        self.rest = np.zeros(0)

    def take(self, secs):
        """About that much speech, never cut inside a word if there is a pause nearby; None when all is used up."""
        want = int(secs * RATE)
        while len(self.rest) < want // 2:
            if not self.files:
                return None
            self.rest = decode(self.files.pop())
        if len(self.rest) <= want * 1.4:
            taken, self.rest = self.rest, np.zeros(0)
            return taken
        level = levels(self.rest)
        around = np.arange(int(0.7 * want) // STEP, min(int(1.3 * want) // STEP, len(level) - 3))
        cut = around[np.argmin([level[i - 2 : i + 3].mean() for i in around])] * STEP
        taken, self.rest = self.rest[:cut], self.rest[cut:]
        return taken


# ---------------------------------------------------------------- pictures


def room(random):
    """An empty room in colours of its own."""
    low, high = random.uniform(60, 120, 3), random.uniform(130, 220, 3)
    shade = np.linspace(0, 1, HIGH)[:, None, None] * (high - low) + low
    picture = np.repeat(shade, WIDE, axis=1)
    for _ in range(6):
        x, y = random.integers(0, WIDE - 80), random.integers(0, HIGH - 80)
        w, h = random.integers(30, 180), random.integers(20, 160)
        picture[y : y + h, x : x + w] = random.uniform(40, 230, 3)
    return Image.fromarray(picture.astype(np.uint8)).filter(ImageFilter.GaussianBlur(2))


class Portrait:
    """A photo whose middle is a face (as LFW's are): eyes 0.46 and mouth 0.65 of the way down."""

    def __init__(self, path):
        image = Image.open(path).convert("RGB")
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        self.image = image.crop((left, top, left + side, top + side)).resize((500, 500), Image.LANCZOS)
        self.pixels = np.asarray(self.image)

    def with_mouth(self, opening):
        if opening < 0.05:
            return self.image
        mx, my, w = 250, 328, 78
        x, y = np.meshgrid(np.arange(mx - w, mx + w), np.arange(my - 16, my + 110))
        under = y - my
        drop = opening * 24 * np.clip(1 - ((x - mx) / (0.5 * w)) ** 2, 0, 1) * np.clip(1 - under / 105, 0, 1)
        moved = np.where(under > 0, np.minimum(drop, under), 0)
        patch = self.pixels[np.rint(y - moved).astype(int), x].astype(float)
        inside = np.where(under > 0, np.clip(drop - under - 1, 0, 2), 0)[..., None] / 2
        image = self.image.copy()
        image.paste(Image.fromarray((patch * (1 - inside) + np.array([70, 25, 30]) * inside).astype(np.uint8)), (mx - w, my - 16))
        return image

    def show(self, picture, tile, opening, share, drift):
        """Pastes the photo into `tile` (x, y, w, h); gives the area of the face in the picture."""
        x, y, w, h = tile
        part_w = (330 + 40 * drift[0] * np.sin(2 * share + drift[1])) * max(1.0, w / h)
        part_h = part_w * h / w
        cx = 250 + 14 * drift[2] * np.sin(5 * share + drift[0])
        cy = 265 + 8 * drift[1] * np.sin(7 * share)
        x0, y0 = cx - part_w / 2, cy - part_h / 2
        turned = self.with_mouth(opening).rotate(2.5 * drift[3] * np.sin(4 * share), Image.BICUBIC, center=(250, 265))
        part = turned.transform((w, h), Image.EXTENT, (x0, y0, x0 + part_w, y0 + part_h), Image.BICUBIC)
        picture.paste(part, (x, y))
        scale = w / part_w
        left, top = x + (160 - x0) * scale, y + (140 - y0) * scale
        return left, top, left + 180 * scale, top + 240 * scale


TILES = {
    "full": (80, 0, 480, 480),
    "left": (0, 60, 320, 360),
    "right": (320, 60, 320, 360),
    "far": (250, 130, 130, 150),
    "far_left": (40, 110, 150, 170),
    "center": (170, 60, 300, 340),
}


# ---------------------------------------------------------------- scenes


class Cast:
    """Who plays: faces with photos and a voice each, and voices without a face."""

    def __init__(self, chosen, random):
        faces = sorted(path for path in chosen.faces.iterdir() if path.is_dir())
        voices = sorted(path for path in chosen.voices.iterdir() if path.is_dir())
        faces = [faces[i] for i in random.permutation(len(faces))[: chosen.people]]
        voices = [voices[i] for i in random.permutation(len(voices))[: chosen.people + chosen.unseen]]
        self.photos, self.voices = {}, {}
        for face in faces:
            photos = sorted(path for path in face.iterdir() if path.suffix in PICTURES)
            self.photos[face.name] = [photos[i] for i in random.permutation(len(photos))]
        names = [face.name for face in faces] + [f"unseen_{path.name}" for path in voices[len(faces) :]]
        for name, folder in zip(names, voices):
            self.voices[name] = Voice(folder, random)

    def photo(self, who):
        self.photos[who].append(self.photos[who].pop(0))
        return Portrait(self.photos[who][-1])


def plan(cast, random, minutes):
    """Scenes as lists of (who, tile or None, [(pause, seconds of speech or -seconds of miming)...]) acts."""
    seen = list(cast.photos)
    unseen = [name for name in cast.voices if name not in cast.photos]
    some = lambda: float(random.uniform(2.0, 4.5))  # noqa: E731
    kinds = {
        "alone": lambda a, b: [(a, "full", [(0.8, some()), (0.8, some())])],
        "center": lambda a, b: [(a, "center", [(1.0, some())])],
        "far": lambda a, b: [(a, random.choice(["far", "far_left"]), [(0.7, some())])],
        "pair": lambda a, b: [(a, "left", [(0.6, some())]), (b, "right", [(5.5, some())])],
        "listen": lambda a, b: [(a, "left", []), (b, "right", [(0.7, some()), (0.6, some())])],
        "silent": lambda a, b: [(a, "full", [])],
        "off": lambda a, b: [(random.choice(unseen) if unseen else a, None, [(0.8, some()), (0.9, some())])],
        "over": lambda a, b: [(a, "full", []), (random.choice(unseen) if unseen else b, None, [(0.5, some())])],
        "heard": lambda a, b: [(a, None, [(0.7, some())])],
        "overlap": lambda a, b: [(a, "left", [(0.6, some())]), (b, "right", [(1.8, some())])],
        "mimes": lambda a, b: [(a, "left", [(0.5, -2.5)])],
        "nobody": lambda a, b: [],
    }
    order = ["alone"] * len(seen) + ["nobody", "off"]
    rest = ["pair", "pair", "listen", "over", "off", "heard", "overlap", "mimes", "far", "far", "center", "center", "silent", "alone"]
    scenes, turn = [], 0
    for number, name in enumerate(seen):
        other = seen[(number + 1) % len(seen)]
        scenes.append((f"s{len(scenes):02}_alone", kinds["alone"](name, other)))
    count = int(minutes * 60 / 7)
    while len(scenes) < count:
        for kind in random.permutation(rest):
            a, b = seen[turn % len(seen)], seen[(turn + 1 + turn // len(seen)) % len(seen)]
            if a == b:
                b = seen[(turn + 1) % len(seen)]
            if kind in ("pair", "listen", "overlap") and len(seen) < 2:
                kind = "center"
            turn += 1
            scenes.append((f"s{len(scenes):02}_{kind}", kinds[kind](a, b)))
    del order
    return scenes[:count]


def beside(kind, cast):
    """Scenes in which somebody speaks whom the camera does not see, while it sees somebody else."""
    seen = list(cast.photos)
    unseen = [name for name in cast.voices if name not in cast.photos]
    a, b, u, v = seen[0], seen[1 % len(seen)], unseen[0], unseen[1 % len(unseen)]
    asks, replies = (v, "beside", [(0.7, 3.0), (4.6, 3.0)]), (b, "center", [(4.8, 3.0), (4.6, 3.0)])
    told = (u, "beside", [(1.0, 3.5), (0.9, 3.5), (0.9, 3.5)])
    alone = [(b, "full", [(0.8, 3.5), (0.9, 3.5)])]
    scenes = {
        "once": [[(a, "full", []), told], [(a, "full", [])], alone, [(b, "full", []), (v, "beside", [(1.0, 4.0)])],
                 [], alone, [(a, "full", [])], [(u, "beside", [(0.8, 3.0)])], alone, [(v, "beside", [(0.8, 3.0)])]],
        "listener": [[(a, "full", []), told], [], [(a, "center", []), told], alone, [(a, "full", []), told], alone],
        "interview": [[replies, asks], [], [replies, asks], [], [replies, asks]],
    }
    return [(f"s{number:02}_{kind}", acts) for number, acts in enumerate(scenes[kind])]


def lay_out(scenes, cast, random):
    """Times and sounds of all scenes, in whole frames."""
    at, laid, plan_of = 0.0, [], []
    for name, acts in scenes:
        roles, end = [], at + (3.0 if acts else 5.0)
        for who, tile, lines in acts:
            t, said, mimed = at, [], []
            for pause, secs in lines:
                t += pause
                if secs < 0:
                    mimed.append((t, t - secs))
                    t -= secs
                    continue
                samples = cast.voices[who].take(secs)
                if samples is None:
                    continue
                loud = next_room(samples, random) if tile is None else samples
                said.append((t, samples))
                laid.append((t, loud))
                t += len(samples) / RATE
            roles.append({"who": who, "tile": tile, "said": said, "mimed": mimed})
            end = max(end, t + 0.7)
        end = np.ceil(end * FPS) / FPS
        plan_of.append({"name": name, "start": at, "end": end, "roles": roles})
        at = end
    mix = random.normal(0, 0.0007, round(at * RATE) + RATE)
    for start, samples in laid:
        first = round(start * RATE)
        mix[first : first + len(samples)] += samples[: len(mix) - first]
    return plan_of, mix[: round(at * RATE)], at


def opening(role, t):
    for start, samples in role["said"]:
        index = int((t - start) * 50)
        level = levels(samples)
        if 0 <= index < len(level):
            return float(min(1.0, level[max(index - 1, 0) : index + 2].mean() / (1.6 * LEVEL)))
    if any(start <= t < end for start, end in role["mimed"]):
        return float(abs(np.sin(9 * t)))
    return 0.0


def frames(scenes, cast, random):
    for scene in scenes:
        empty = room(random)
        shown = [role for role in scene["roles"] if role["tile"] in TILES]
        for role in shown:
            role["portrait"], role["drift"], role["area"] = cast.photo(role["who"]), random.uniform(0.4, 1, 4), []
        for number in range(round((scene["end"] - scene["start"]) * FPS)):
            t = scene["start"] + number / FPS
            picture = empty.copy()
            for role in shown:
                share = t - scene["start"]
                area = role["portrait"].show(picture, TILES[role["tile"]], opening(role, t), share, role["drift"])
                role["area"].append(area)
            noise = random.integers(-3, 4, (HIGH, WIDE, 1), dtype=np.int16)
            yield np.clip(np.asarray(picture, dtype=np.int16) + noise, 0, 255).astype(np.uint8)


def truth(scenes, cast, length, name):
    identities = {who: {"id": who, "visible": [], "speaking": []} for who in cast.voices}
    for scene in scenes:
        for role in scene["roles"]:
            person = identities[role["who"]]
            if role["tile"] in TILES:
                area = np.array(role["area"])
                low, high = area[:, :2].min(axis=0), area[:, 2:].max(axis=0)
                person["visible"].append({
                    "start": round(scene["start"], 3), "end": round(scene["end"], 3), "scene": scene["name"],
                    "tile_px": list(TILES[role["tile"]]), "face_area_px": [round(float(v)) for v in (*low, *(high - low))],
                })
            mode = "on_screen" if role["tile"] in TILES else "off_screen"
            for start, samples in role["said"]:
                person["speaking"] += [{"start": a, "end": b, "mode": mode} for a, b in spans(samples, start)]
    people = [person for person in identities.values() if person["visible"] or person["speaking"]]
    return {
        "format": "engram-truth/1", "recording": f"{name}.mp4", "start": START.isoformat().replace("+00:00", "Z"),
        "start_unix_ns": int(START.timestamp()) * 10**9, "duration_secs": round(length, 3), "identities": people,
        "scenes": [{"name": s["name"], "start": round(s["start"], 3), "end": round(s["end"], 3)} for s in scenes],
        "cuts": [round(s["start"], 3) for s in scenes[1:]],
    }


# ---------------------------------------------------------------- file


def encode(pictures, sound, path):
    pipeline = (
        f"fdsrc fd=0 ! rawvideoparse format=rgb width={WIDE} height={HIGH} framerate={FPS}/1 "
        "! videoconvert ! video/x-raw,format=I420 "
        f"! x264enc bitrate=900 speed-preset=veryfast threads=2 key-int-max={2 * FPS} ! h264parse ! mp4mux name=file "
        f"! filesink location={path} "
        f"filesrc location={sound} ! rawaudioparse format=pcm pcm-format=s16le sample-rate={RATE} num-channels=1 "
        "! audioconvert ! avenc_aac bitrate=64000 ! aacparse ! file."
    )
    encoder = subprocess.Popen(["gst-launch-1.0", "-q", *pipeline.split()], stdin=subprocess.PIPE)
    for picture in pictures:
        encoder.stdin.write(picture.tobytes())
    encoder.stdin.close()
    if encoder.wait() != 0:
        raise SystemExit("GStreamer could not encode the recording; its message is above")
    data = bytearray(path.read_bytes())
    for box in (b"mvhd", b"tkhd", b"mdhd"):  # creation times, seconds since 1904
        at = data.find(box)
        while at >= 0:
            since = int(START.timestamp()) + 2082844800
            struct.pack_into(">QQ" if data[at + 4] == 1 else ">II", data, at + 8, since, since)
            at = data.find(box, at + 4)
    path.write_bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faces", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", type=int, default=4, help="people who are seen and heard")
    parser.add_argument("--unseen", type=int, default=2, help="voices without a face")
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--name", default="held_out")
    parser.add_argument("--beside", choices=["once", "listener", "interview"], help="whoever speaks is beside the camera")
    chosen = parser.parse_args()
    random = np.random.default_rng(chosen.seed)
    cast = Cast(chosen, random)
    scenes = beside(chosen.beside, cast) if chosen.beside else plan(cast, random, chosen.minutes)
    scenes, mix, length = lay_out(scenes, cast, random)
    chosen.out.mkdir(parents=True, exist_ok=True)
    film = chosen.out / f"{chosen.name}.mp4"
    with tempfile.NamedTemporaryFile(suffix=".s16") as sound:
        sound.write((np.clip(mix, -1, 1) * 32767).astype("<i2").tobytes())
        sound.flush()
        encode(frames(scenes, cast, random), sound.name, film)
    labels = truth(scenes, cast, length, chosen.name)
    (chosen.out / f"{chosen.name}.json").write_text(json.dumps(labels, indent=1) + "\n")
    print(f"{film}: {length:.0f} s, {len(labels['identities'])} people")


if __name__ == "__main__":
    main()
