#!/usr/bin/env python3
"""Lays packaged sounds over speech and scores which of them are remembered.

Usage: scene.py unpack --sounds DIR              (GCompris' resource files below DIR into DIR/gcompris)
       scene.py compose --list sounds.tsv --sounds DIR --recordings DIR --set tune|test --to SCENE.wav [--over DB]
       scene.py score SCENE.wav [--engramd FILE] [--set-key key=value …]

`sounds.tsv` holds a sound a line: set, kind (`-`: none that has a name), file below DIR (what Debian's packages hold,
unpacked with `dpkg -x`). A sound lies DB (10) above the level of the speech around it, both in the mean over the sound's
length; between two there are 4 s. Speech is LibriSpeech's, other speakers in `tune` than in `test`. `SCENE.json` beside the
scene says what lies when. A sound is *found* where an event of its kind overlaps it, *wrong* is an event that overlaps no sound
of its kind. Needs NumPy and GStreamer's gst-launch-1.0.
"""

import argparse
import collections
import datetime
import json
import struct
import subprocess
import tempfile
import wave
import zlib
from pathlib import Path

import numpy as np

RATE, GAP_SECS = 16_000, 4.0
SPEAKERS = {"tune": ("1688", "1998", "2033"), "test": ("2414", "2609", "3005")}
START = datetime.datetime(2026, 5, 1, 9, tzinfo=datetime.timezone.utc)
# A sound that rings on below this share of its loudest 20 ms is over.
OVER = 0.03


def decoded(path):
    """Samples of any file, 16 kHz mono."""
    command = ["gst-launch-1.0", "-q", "filesrc", f"location={path}", "!", "decodebin", "!", "audioconvert", "!", "audioresample", "!",
               f"audio/x-raw,format=F32LE,channels=1,rate={RATE}", "!", "fdsink"]
    return np.frombuffer(subprocess.run(command, check=True, capture_output=True).stdout, np.float32)


def trimmed(sound):
    """Without what is silent at both ends."""
    steps = sound[: len(sound) // 320 * 320].reshape(-1, 320)
    level = np.sqrt((steps ** 2).mean(axis=1))
    loud = np.flatnonzero(level > OVER * level.max())
    return sound[320 * loud[0]:320 * (loud[-1] + 1)] if len(loud) else sound[:0]


def unpack(chosen):
    """Sounds out of Qt's resource files (format `qres`, versions 1 to 3)."""
    for path in sorted((chosen.sounds / "usr/share/gcompris-qt/rcc").glob("*.rcc")):
        data = path.read_bytes()
        version, tree, content, names = struct.unpack(">4I", data[4:20])
        size = 14 if version < 2 else 22

        def name(at):
            (length,) = struct.unpack(">H", data[names + at:names + at + 2])
            return data[names + at + 6:names + at + 6 + 2 * length].decode("utf-16-be")

        def walk(node):
            place = tree + node * size
            at, flags = struct.unpack(">IH", data[place:place + 6])
            if flags & 2:
                count, first = struct.unpack(">II", data[place + 6:place + 14])
                for child in range(first, first + count):
                    walk(child)
            elif name(at).endswith((".ogg", ".wav")):
                start = content + struct.unpack(">I", data[place + 10:place + 14])[0]
                packed = data[start + 4:start + 4 + struct.unpack(">I", data[start:start + 4])[0]]
                file = chosen.sounds / "gcompris" / path.stem / name(at)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(zlib.decompress(packed[4:]) if flags & 1 else packed)

        walk(0)


def compose(chosen):
    rows = [line.split("\t") for line in chosen.list.read_text().splitlines() if line and not line.startswith("#")]
    sounds = [(kind, file) for which, kind, file in rows if which == chosen.set]
    speech = np.concatenate([decoded(path) for speaker in SPEAKERS[chosen.set]
                             for path in sorted((chosen.recordings / "audio/librispeech" / speaker).rglob("*.flac"))])
    laid, at, scene = [], GAP_SECS, []
    for kind, file in sounds:
        sound = trimmed(decoded(chosen.sounds / file))[: 12 * RATE]
        start = int(at * RATE)
        scene.append((start, sound))
        laid.append({"kind": kind, "file": file, "start": at, "end": at + len(sound) / RATE})
        at += len(sound) / RATE + GAP_SECS
    whole = np.resize(speech, int(at * RATE)).copy()
    for start, sound in scene:
        around = whole[max(start - RATE, 0):start + len(sound) + RATE]
        gain = np.sqrt((around ** 2).mean() / max((sound ** 2).mean(), 1e-12)) * 10 ** (chosen.over / 20)
        whole[start:start + len(sound)] += gain * sound
    whole *= 0.9 / np.abs(whole).max()
    with wave.open(str(chosen.to), "wb") as file:
        file.setparams((1, 2, RATE, len(whole), "NONE", ""))
        file.writeframes((32767 * whole).astype("<i2").tobytes())
    chosen.to.with_suffix(".json").write_text(json.dumps({"secs": at, "sounds": laid}))
    print(len(laid), "sounds in", round(at), "s")


def events(chosen):
    with tempfile.TemporaryDirectory() as store:
        sets = [word for setting in ["sounds.on=true", "transcriber.kind=none", *chosen.set_key] for word in ("--set", setting)]
        common = [chosen.engramd, "--data-dir", store, *sets]
        subprocess.run([*common, "replay", str(chosen.scene), "--start-time", "2026-05-01T09:00:00Z", "--json"], check=True, capture_output=True)
        told = subprocess.run([*common, "export", "--percepts"], check=True, capture_output=True, text=True).stdout
    found = []
    for line in map(json.loads, told.splitlines()):
        if line["kind"] == "sound_event":
            span = [(datetime.datetime.fromisoformat(line[end][:26].rstrip("Z") + "+00:00") - START).total_seconds() for end in ("start", "end")]
            found.append((line["what"], *span, line["confidence"]))
    return found


def score(chosen):
    laid = json.loads(chosen.scene.with_suffix(".json").read_text())["sounds"]
    found = events(chosen)
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    for one in laid:
        if one["kind"] != "-":
            hit = any(what == one["kind"] and start < one["end"] and one["start"] < end for what, start, end, _ in found)
            rows[one["kind"]][0] += 1
            rows[one["kind"]][1] += hit
            if chosen.verbose:
                print("found " if hit else "missed", one["kind"], one["file"])
    for what, start, end, confidence in found:
        there = [one for one in laid if start < one["end"] and one["start"] < end]
        right = any(one["kind"] == what for one in there)
        rows[what][2 if right else 3] += 1
        if chosen.verbose and not right:
            print(f"wrong  {what} {confidence:.2f} at {start:.1f} s:", ", ".join(one["file"] for one in there) or "speech alone")
    for kind, (there, hit, right, wrong) in sorted(rows.items()):
        print(f"{kind:16} found {hit} of {there}, events right {right}, wrong {wrong}")
    there, hit, right, wrong = (sum(row[at] for row in rows.values()) for at in range(4))
    print(f"in all: recall {hit / max(there, 1):.3f}, precision {right / max(right + wrong, 1):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("unpack").add_argument("--sounds", type=Path, required=True)
    one = what.add_parser("compose")
    for name in ("list", "sounds", "recordings", "to"):
        one.add_argument(f"--{name}", type=Path, required=True)
    one.add_argument("--set", choices=SPEAKERS, required=True)
    one.add_argument("--over", type=float, default=10.0)
    one = what.add_parser("score")
    one.add_argument("scene", type=Path)
    one.add_argument("--engramd", default="engramd")
    one.add_argument("--set-key", action="append", default=[])
    one.add_argument("--verbose", action="store_true")
    chosen = parser.parse_args()
    {"unpack": unpack, "compose": compose, "score": score}[chosen.what](chosen)


if __name__ == "__main__":
    main()
