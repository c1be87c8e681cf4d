#!/usr/bin/env python3
"""Whether several cameras are looked at as often as was promised, on the processors that there are.

    benches/cameras.py [ENGRAMD] --video FILE [--cameras 3] [--size 1280x720] [--fps 15] [--secs 60] [--set KEY=VALUE ...]

The video, scaled and packed once as H.264, is so many live cameras, each begun a little later than the one before, so that they
show different things; it is played again and again. After --settle seconds it is looked at for --secs. Prints one JSON document:
of each camera the frames a second that were searched for faces, the frames that were dropped, the looks for people and things
that its budget left out (`window.budget`); looks a second of all together, by stage; the share of the processors that the daemon
takes (its cameras' decoding included); how late faces are in the open window. Exit code 1 when a camera has fewer than four
searched frames a second, or drops one. Linux, GStreamer's tools, standard library.
"""

import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
import time

from daemon import Process, free_port, options

LEAST_PER_SEC = 4


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    reply = connection.getresponse()
    return reply.read() if reply.status == 200 else None


def scaled(video, size, fps, folder):
    """The video at that size and rate; a file that decodes fast."""
    width, height = size.split("x")
    made = f"{folder}/camera.mp4"
    launch = (
        f"filesrc location={video} ! decodebin ! videoconvert ! videoscale ! videorate ! "
        f"video/x-raw,format=I420,width={width},height={height},framerate={fps}/1,pixel-aspect-ratio=1/1 ! "
        f"x264enc speed-preset=superfast key-int-max={fps} ! mp4mux ! filesink location={made}"
    )
    subprocess.run(["gst-launch-1.0", "-q", *launch.split()], check=True)
    return made


def looks(port):
    """How often each stage ran."""
    text = (get(port, "/metrics") or b"").decode()
    found = re.findall(r'^engram_stage_seconds_count\{stage="(\w+)"\} ([0-9.e+]+)', text, re.M)
    return {stage: float(count) for stage, count in found}


def sources(port):
    text = get(port, "/api/stats")
    return json.loads(text) if text else {"sources": {}, "latency_ms": {}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engramd", nargs="?", default="target/release/engramd")
    parser.add_argument("--video", required=True)
    parser.add_argument("--cameras", type=int, default=3)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--fps", type=int, default=15)
    parser.add_argument("--secs", type=float, default=60)
    parser.add_argument("--settle", type=float, default=20)
    parser.add_argument("--log", help="file for the daemon's log")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    port = free_port()
    settings = ["robot.id=rob", "mqtt.listen=127.0.0.1:0", "mqtt.listen_v5=127.0.0.1:0", f"http.listen=127.0.0.1:{port}"]
    with tempfile.TemporaryDirectory() as folder:
        video = scaled(args.video, args.size, args.fps, folder)
        for number in range(args.cameras):
            settings += [f"camera.{number}.id=camera{number}", f"camera.{number}.uri={video}"]
        log = open(args.log, "w") if args.log else subprocess.DEVNULL
        command = [args.engramd, "run", "--data-dir", f"{folder}/data", *options(settings + args.set)]
        with Process(command, stdout=subprocess.DEVNULL, stderr=log) as daemon:
            until = time.monotonic() + 120
            while time.monotonic() < until:
                try:
                    running = sources(port)["sources"]
                except OSError:
                    running = {}
                if sum(one["per_sec"] > 0 for name, one in running.items() if name.startswith("camera")) >= args.cameras:
                    break
                time.sleep(1)
            time.sleep(args.settle)
            before, counted, processor, began = sources(port), looks(port), daemon.processor_secs(), time.monotonic()
            time.sleep(args.secs)
            after, recounted, secs = sources(port), looks(port), time.monotonic() - began
            between = after["uptime_secs"] - before["uptime_secs"]
            more = lambda name, key: after["sources"][name].get(key, 0) - before["sources"][name].get(key, 0)
            names = [f"camera{number}" for number in range(args.cameras)]
            figures = {
                "cameras": {
                    name: {
                        "searched_per_sec": round(more(name, "captured") / between, 2),
                        "dropped": more(name, "dropped"),
                        "looks_left_out": more(name, "looks_left_out"),
                        "lag_secs": round(after["sources"][name]["lag_secs"], 2),
                    }
                    for name in names
                },
                "looks_per_sec": {
                    stage: round((count - counted.get(stage, 0)) / secs, 2)
                    for stage, count in recounted.items()
                    if count > counted.get(stage, 0)
                },
                "processor": round((daemon.processor_secs() - processor) / secs, 2),
                "anon_mb": round(daemon.anonymous_kb() / 1000, 1),
                "latency_ms": after["latency_ms"],
            }
    print(json.dumps(figures, indent=2))
    all_of = figures["cameras"].values()
    fine = all(one["searched_per_sec"] >= LEAST_PER_SEC and one["dropped"] == 0 for one in all_of)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
