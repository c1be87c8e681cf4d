#!/usr/bin/env python3
"""How long after the end of a live turn it is found by a question, with its words.

    benches/just_said.py [ENGRAMD] REC [--seconds 60] [--clip-secs 30] [--json] [--set KEY=VALUE ...]

A daemon of its own hears REC's sound (any file that GStreamer decodes) at the pace of a microphone, on a clock that is the
wall clock's. Every 0.1 s a `recall` asks for the newest utterances. The figure of a turn is the time from its end, as its row
tells it, to the reply that first holds the row; it contains how long the turn's end takes to be noticed. A row without a clip
was found before its clip was sealed (`open`).

Prints turns, how many were `open`, p50 and p95 in seconds, and those in which the same id came back with another start
(`moved`, must be 0). Exit code 1 over --bars P50 P95 (2 and 4 seconds).
"""

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from asker import Asker
from daemon import Process, free_port, options, percentile

EVERY_SECS = 0.1


def stamp(text):
    return datetime.datetime.fromisoformat(text[:26] + "+00:00").timestamp()


def configuration(folder, recording, clip_secs):
    path = Path(folder, "engram.toml")
    path.write_text(
        f'[window]\nclip_secs = {clip_secs}\n\n[[camera]]\nid = "front"\npipeline = """\n'
        f"filesrc location={recording} ! decodebin name=file  file. ! queue ! audioconvert ! audioresample !\n"
        "audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved ! identity sync=true ! appsink name=audio\n"
        '"""\n'
    )
    return path


def measure(asker, seconds):
    """By memory: seconds until it was found, whether its clip was open, its start."""
    found, moved, number = {}, 0, 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        number += 1
        since = datetime.datetime.fromtimestamp(time.time() - 90, datetime.timezone.utc)
        query = {"query": "", "start": since.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "kinds": ["utterance"], "limit": 100}
        _, reply = asker.request("query", f"q{number}", {"verb": "recall", "args": query})
        now = time.time()
        for hit in reply["hits"]:
            name, start = hit["memory"], hit["start"]
            if name not in found:
                found[name] = (now - stamp(hit["end"]), hit["clip"] is None, start)
            moved += found[name][2] != start
        time.sleep(EVERY_SECS)
    return found, moved


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engramd", nargs="?", default="target/release/engramd")
    parser.add_argument("recording", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clip-secs", type=float, default=30)
    parser.add_argument("--bars", type=float, nargs=2, default=[2.0, 4.0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    args = parser.parse_args()
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        settings = [
            "robot.id=rob",
            "mqtt.reply_rate=0",
            "mqtt.request_rate=0",
            f"mqtt.listen=127.0.0.1:{port}",
            f"mqtt.listen_v5=127.0.0.1:{free_port()}",
            *args.set,
        ]
        config = configuration(folder, args.recording.resolve(), args.clip_secs)
        command = [args.engramd, "run", "--config", config, "--data-dir", f"{folder}/data", *options(settings)]
        with Process(command, stdout=subprocess.DEVNULL):
            asker = Asker(port)
            asker.wait_online()
            found, moved = measure(asker, args.seconds)
    secs = [one[0] for one in found.values()]
    document = {
        "turns": len(secs),
        "open": sum(one[1] for one in found.values()),
        "moved": moved,
        "p50_secs": round(percentile(secs, 0.5), 2) if secs else None,
        "p95_secs": round(percentile(secs, 0.95), 2) if secs else None,
    }
    print(json.dumps(document) if args.json else "\n".join(f"{key}: {value}" for key, value in document.items()))
    over = not secs or document["p50_secs"] > args.bars[0] or document["p95_secs"] > args.bars[1]
    return 1 if over or moved else 0


if __name__ == "__main__":
    sys.exit(main())
