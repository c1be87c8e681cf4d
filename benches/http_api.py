#!/usr/bin/env python3
"""How long a question takes over HTTP, and what those who listen and watch cost live perception.

    benches/http_api.py [ENGRAMD] [--questions 500] [--set KEY=VALUE ...]
    benches/http_api.py [ENGRAMD] --crowd --video FILE [--listeners 200] [--viewers 20] [--secs 60] [--set KEY=VALUE ...]

A store of its own with 300 notes; one client on one connection that asks a fast question, waits for its answer, and asks
the next, all different. `above` is the round trip less what the daemon itself says it took to answer.

--crowd: the file is a live camera and, for --secs each, nobody looks on; then so many listen to /api/events and watch
/api/live, and question after question is asked, which everybody hears of. Every listener must hear every event, no frame
be dropped, memory stay flat.

Prints one JSON document; exit code 1 when a bar is missed (8 and 20 ms above for the median and the 99th percentile; with
--crowd: nothing dropped, nothing missed). Linux, standard library.
"""

import argparse
import http.client
import json
import selectors
import socket
import subprocess
import sys
import tempfile
import time

from daemon import Process, free_port, options, percentile
from round_trip import notes, question

BARS_MS = {"p50": 8, "p99": 20}


class Door:
    """One connection to the daemon."""

    def __init__(self, port):
        self.port = port
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(self, path, document):
        """Milliseconds until the reply, and the reply."""
        began = time.monotonic()
        head = {"X-Engram": "1", "Content-Type": "application/json"}
        self.connection.request("POST", path, json.dumps(document), head)
        reply = self.connection.getresponse().read()
        return 1000 * (time.monotonic() - began), json.loads(reply)


def get(port, path):
    """A document, over a connection of its own: one that idles is closed after 15 s."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    return json.loads(connection.getresponse().read())


def door(port, timeout=120):
    until = time.monotonic() + timeout
    while True:
        try:
            return Door(port)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def quantiles(values):
    return {name: round(percentile(values, share), 2) for name, share in [("p50", 0.5), ("p99", 0.99)]}


def round_trips(port, questions):
    client = door(port)
    for note in notes():
        _, reply = client.post("/api/remember", {"text": note})
        assert reply.get("ok"), reply
    for number in range(20):
        client.post("/api/ask", {"question": question(number * 7)})
    took, inside = [], []
    for number in range(questions):
        ms, reply = client.post("/api/ask", {"question": question(number)})
        assert "answer" in reply, reply
        took.append(ms)
        inside.append(reply["latency_ms"]["total"])
    above = quantiles([whole - own for whole, own in zip(took, inside)])
    missed = [name for name, bar in BARS_MS.items() if above[name] > bar]
    figures = {"questions": questions, "round_trip_ms": quantiles(took), "inside_ms": quantiles(inside), "above_ms": above}
    return figures, not missed


class Crowd:
    """Whoever listens and watches, on one thread."""

    def __init__(self, port, listeners, viewers):
        self.selector = selectors.DefaultSelector()
        self.counts = {"events": [0] * listeners, "pictures": [0] * viewers}
        self.tails = {}
        paths = [("events", "/api/events?topics=event", b"event: event/")] * listeners
        paths += [("pictures", "/api/live/camera", b"--picture\r\n")] * viewers
        places = {"events": 0, "pictures": 0}
        for kind, path, mark in paths:
            stream = socket.create_connection(("127.0.0.1", port))
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            stream.setblocking(False)
            self.selector.register(stream, selectors.EVENT_READ, (kind, places[kind], mark))
            self.tails[kind, places[kind]] = b""
            places[kind] += 1

    def read(self, secs):
        until = time.monotonic() + secs
        while (left := until - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                kind, place, mark = key.data
                piece = key.fileobj.recv(1 << 20)
                if not piece:
                    raise ConnectionError(f"{kind} {place}: the daemon closed the connection")
                # A mark may lie across two pieces.
                text = self.tails[kind, place] + piece
                self.counts[kind][place] += text.count(mark)
                self.tails[kind, place] = text[-(len(mark) - 1):]


def crowd(port, daemon, args):
    door(port)
    stats = lambda: get(port, "/api/stats").get("sources", {})
    dropped = lambda: {name: source["dropped"] for name, source in stats().items()}
    # The daemon settles first.
    while stats().get("camera", {}).get("per_sec", 0) < 4:
        time.sleep(1)
    figures = {}

    def watch(name, look):
        before, processor, began = dropped(), daemon.processor_secs(), time.monotonic()
        look()
        secs = time.monotonic() - began
        after = dropped()
        figures[name] = {
            "dropped": sum(after.values()) - sum(before.values()),
            "analysed_per_sec": round(stats()["camera"]["per_sec"], 2),
            "processor": round((daemon.processor_secs() - processor) / secs, 2),
            "anon_mb": round(daemon.anonymous_kb() / 1000, 1),
        }

    watch("alone", lambda: time.sleep(args.secs))
    client = door(port)
    people = Crowd(port, args.listeners, args.viewers)
    told = 0

    def look():
        nonlocal told
        until = time.monotonic() + args.secs
        while time.monotonic() < until:
            _, reply = client.post("/api/remember", {"text": f"Note number {told} is in the kitchen."})
            told += bool(reply.get("ok"))
            people.read(0.5)
        people.read(2)

    watch("crowd", look)
    watch("crowd_later", look)
    events, pictures = people.counts["events"], people.counts["pictures"]
    figures["notes"] = told
    figures["events_heard"] = {"least": min(events), "most": max(events)}
    figures["pictures_seen"] = {"least": min(pictures), "most": max(pictures)}
    grown = figures["crowd_later"]["anon_mb"] - figures["crowd"]["anon_mb"]
    fine = (
        figures["crowd"]["dropped"] == figures["crowd_later"]["dropped"] == 0
        and min(events) == max(events) >= told
        and grown < 16
    )
    return figures, fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engramd", nargs="?", default="target/release/engramd")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--crowd", action="store_true")
    parser.add_argument("--video")
    parser.add_argument("--listeners", type=int, default=200)
    parser.add_argument("--viewers", type=int, default=20)
    parser.add_argument("--secs", type=float, default=60)
    parser.add_argument("--log", help="file for the daemon's log")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    port = free_port()
    settings = ["robot.id=rob", "mqtt.reply_rate=0", "mqtt.request_rate=0", "mqtt.listen=127.0.0.1:0"]
    settings += ["mqtt.listen_v5=127.0.0.1:0", f"http.listen=127.0.0.1:{port}"]
    if args.crowd:
        if not args.video:
            parser.error("--crowd needs --video FILE")
        settings += ["camera.0.id=camera", f"camera.0.uri={args.video}"]
    with tempfile.TemporaryDirectory() as folder:
        log = open(args.log, "w") if args.log else subprocess.DEVNULL
        command = [args.engramd, "run", "--data-dir", f"{folder}/data", *options(settings + args.set)]
        with Process(command, stdout=subprocess.DEVNULL, stderr=log) as daemon:
            figures, fine = crowd(port, daemon, args) if args.crowd else round_trips(port, args.questions)
    print(json.dumps(figures, indent=2))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
