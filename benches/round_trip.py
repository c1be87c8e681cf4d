#!/usr/bin/env python3
"""How long a question takes from a client's socket to its answer, through a broker on loopback.

    benches/round_trip.py [ENGRAMD] [--broker embedded|mosquitto|nagle] [--questions 500] [--set KEY=VALUE ...]
    benches/round_trip.py [ENGRAMD] --stalled [--broker ...]

A store of its own with 300 notes; one client that asks a fast question, waits for its answer, and asks the next, all
different. `nagle` is a Mosquitto without the `set_tcp_nodelay true` of config/mosquitto/engram.conf. `inside` is what
the daemon itself says it took.

--stalled: a language model that takes every request and never answers. 200 deep questions come at once, ten times;
beside them fast ones, one after the other. Every deep one must be answered or refused, memory must stay flat.

Prints one JSON document; exit code 1 when a bar is missed (--bar MS for the median; 100 ms for the 99th percentile of
fast questions beside a stalled model).
"""

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time

from asker import Asker
from daemon import MOSQUITTO, Process, free_port, mosquitto, options, percentile

THINGS = ["mug", "key", "lamp", "parcel", "book", "cup", "charger", "ladder", "broom", "map"]
COLOURS = ["red", "green", "blue", "white", "yellow", "black"]
PLACES = ["kitchen", "hall", "study", "cellar", "garage"]
BARS = {"mosquitto": 10, "nagle": None, "embedded": 60}
ROUNDS, DEEP = 10, 200


def notes():
    return [
        f"The {colour} {thing} number {number} is in the {place}."
        for number, (colour, thing, place) in enumerate((c, t, p) for c in COLOURS for t in THINGS for p in PLACES)
    ]


def question(number):
    return f"Where is the {COLOURS[number % 6]} {THINGS[number % 10]} number {number % 300}?"


def begin(asker):
    asker.wait_online()
    took = []
    for number, note in enumerate(notes()):
        ms, reply = asker.request("remember", f"n{number}", {"text": note})
        took.append(ms)
        assert reply.get("ok"), reply
    for number in range(20):
        asker.ask(f"w{number}", question=question(number * 7))
    return took


def round_trips(asker, questions):
    writes = begin(asker)
    took, inside = [], []
    for number in range(questions):
        ms, reply = asker.ask(f"q{number}", question=question(number))
        assert "answer" in reply, reply
        took.append(ms)
        inside.append(reply["latency_ms"]["total"])
    figures = {"questions": questions}
    for name, values in [("round_trip", took), ("inside", inside), ("remember", writes)]:
        figures[f"{name}_ms"] = {"p50": round(percentile(values, 0.5), 2), "p99": round(percentile(values, 0.99), 2)}
    return figures


def stalled(asker, daemon):
    begin(asker)
    fast, tally, memory = [], {}, []
    for turn in range(ROUNDS):
        for number in range(DEEP):
            ask = {"question": question(number), "effort": "deep", "deadline_ms": 4000}
            asker.send("ask", f"d{turn}-{number}", ask)
        until = time.monotonic() + 4.5
        number = 0
        while time.monotonic() < until:
            ms, reply = asker.ask(f"f{turn}-{number}", question=question(number))
            assert "answer" in reply, reply
            fast.append(ms)
            number += 1
        for number in range(DEEP):
            _, reply = asker.reply(f"d{turn}-{number}")
            word = reply.get("engine") or reply["error"]["code"]
            tally[word] = tally.get(word, 0) + 1
        memory.append(daemon.anonymous_kb())
    return {
        "deep": tally,
        "fast": len(fast),
        "fast_ms": {name: round(percentile(fast, share), 2) for name, share in [("p50", 0.5), ("p99", 0.99), ("max", 1)]},
        "anon_mb": [round(kb / 1000, 1) for kb in memory],
    }


def silent_model():
    """Takes connections and says nothing; gives its address."""
    server = socket.create_server(("127.0.0.1", 0), backlog=256)
    held = []

    def hold():
        while True:
            held.append(server.accept()[0])

    threading.Thread(target=hold, daemon=True).start()
    return f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engramd", nargs="?", default="target/release/engramd")
    parser.add_argument("--broker", choices=BARS, default="embedded")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--stalled", action="store_true")
    parser.add_argument("--bar", type=float)
    parser.add_argument("--log", help="file for the daemon's log")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    port = free_port()
    settings = ["robot.id=rob", "mqtt.reply_rate=0", "mqtt.request_rate=0"]
    if args.broker == "embedded":
        settings += [f"mqtt.listen=127.0.0.1:{port}", f"mqtt.listen_v5=127.0.0.1:{free_port()}"]
    else:
        if MOSQUITTO is None:
            sys.exit("mosquitto is not installed (apt-get install mosquitto)")
        settings += [f"mqtt.broker=mqtt://127.0.0.1:{port}"]
    if args.stalled:
        settings += ["answerer.kind=model", f"llm.base_url={silent_model()}", "llm.model=none"]
    with tempfile.TemporaryDirectory() as folder:
        broker = mosquitto(folder, port, args.broker == "mosquitto") if args.broker != "embedded" else None
        log = open(args.log, "w") if args.log else subprocess.DEVNULL
        command = [args.engramd, "run", "--data-dir", f"{folder}/data", *options(settings + args.set)]
        with Process(command, stdout=subprocess.DEVNULL, stderr=log) as daemon:
            try:
                asker = Asker(port)
                figures = stalled(asker, daemon) if args.stalled else round_trips(asker, args.questions)
            finally:
                if broker:
                    broker.stop()
    figures = {"broker": args.broker, **figures}
    print(json.dumps(figures))
    bar = args.bar or BARS[args.broker]
    if args.stalled:
        answered = sum(figures["deep"].values()) == ROUNDS * DEEP
        # The first round makes the buffers; what later rounds add would be a leak.
        flat = max(figures["anon_mb"][2:]) - figures["anon_mb"][1] <= 8
        held = answered and flat and figures["fast_ms"]["p99"] <= 100
    else:
        held = bar is None or figures["round_trip_ms"]["p50"] <= bar
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
