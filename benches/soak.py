#!/usr/bin/env python3
"""Hours of recording time through one store, as fast as the machine sustains, with questions throughout.

    benches/soak.py part [ENGRAMD] --recording FILE --folder DIR [--secs 480] [--hours 2] [--set KEY=VALUE ...]
    benches/soak.py summary --folder DIR [--hours 2]
    benches/soak.py questions [ENGRAMD] --recording FILE --folder DIR [--count 24000] [--set KEY=VALUE ...]

`part` replays the recording again and again (`replay --loop --serve`) for so many seconds into the store of the
folder, asks a fast question every quarter of a second, and looks at the daemon's anonymous memory, descriptors and
threads every second; a JSON line is added to DIR/parts.jsonl. In the first quarter it asks ten times as often, and
these questions are not timed: the embedded broker keeps the last megabyte of every topic, and with some 12,000 questions
that is full (`questions` shows it). The next part goes on with the same store. When the parts together have the hours, a
part does nothing. `summary` adds them up; exit code 1 when one of them failed or hours are missing.

`questions` asks one question after the other when the recording is over, and prints anonymous memory ten times.

What a part must hold, after a first quarter that makes buffers and pools:
- descriptors and threads: no more in the last third than in the first, but for one connection and two of the runtime's
  own threads that come and go. Within a round of the recording both go up and down, between two rounds most of them are
  gone: the medians of the rounds' medians are compared;
- RssAnon: a slope of at most 8 MB an hour beyond 1 kB for every memory that was added. `bench memory --hours 24` measures
  half of that for a memory with its share of percepts (texts and vectors are mapped); what is beyond is a leak. The slope
  is a line (least squares) through the medians of the rounds; a part fails when it is above that by more than two of its own standard errors, and `summary` weighs the parts
  together, where nothing is taken off;
- every question answered.
"""

import argparse
import json
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from daemon import Process, free_port, options, percentile
from mqtt import Client
from trend import by_round, line, medians

QUESTIONS = [
    "Who was here?",
    "Who is here now?",
    "What did person_1 say?",
    "When was person_2 last seen?",
    "How many persons were here?",
    "Who spoke last?",
    "What happened in the last minute?",
    "How long was person_1 here?",
    "Where is the red mug?",
    "Who was with person_1?",
]
ASK_EVERY, LOOK_EVERY = 0.25, 1.0
WARM_UP_SHARE, ASK_EVERY_AT_FIRST = 0.25, 0.025
KB_PER_MEMORY, KB_PER_HOUR = 1, 8000


class Replayed:
    """The clips that the daemon says it has committed."""

    def __init__(self, lines):
        self.secs, self.clips, self.memories, self.rounds = 0.0, 0, 0, 0
        threading.Thread(target=self.read, args=(lines,), daemon=True).start()

    def read(self, lines):
        for line in lines:
            clip = json.loads(line)
            if "clip" in clip:
                self.secs += (seconds(clip["end"]) - seconds(clip["start"])) % 3600
                self.clips += 1
                self.memories += clip["memories"]
            elif clip.get("done"):
                self.rounds += 1


def is_online(topic, payload):
    return topic.endswith("/status") and json.loads(payload)["state"] == "online"


def seconds(stamp):
    """Of the hour: enough for the length of a clip."""
    minutes, rest = stamp.split("T")[1].rstrip("Z").split(":")[1:]
    return 60 * int(minutes) + float(rest)


@dataclass
class Look:
    """What was seen of the daemon, once."""

    secs: float
    kb: float
    memories: float
    descriptors: int
    threads: int
    round: int


def slope(rounds):
    """Least squares through the rounds' medians: kB an hour, its standard error, kB an hour that the memories explain."""
    hours = medians(rounds, lambda look: look.secs / 3600)

    def rise(value):
        return line([list(zip(hours, medians(rounds, value)))])

    grown, error = rise(lambda look: look.kb)
    return grown, error, KB_PER_MEMORY * rise(lambda look: look.memories)[0]


def replay(args, *more):
    """The broker's port, and the command of a replay that answers there."""
    port = free_port()
    settings = ["robot.id=rob", f"mqtt.listen=127.0.0.1:{port}", f"mqtt.listen_v5=127.0.0.1:{free_port()}"]
    command = [args.engramd, "replay", args.recording, *more, "--serve", "--no-keys", "--json"]
    return port, command + ["--data-dir", Path(args.folder) / "store", *options(settings + args.set)]


def connect(port):
    """A client of a daemon that listens: what is asked before is heard by nobody."""
    client = Client(port, "soak", ["engram/rob/answer/+", "engram/rob/status"], timeout=60)
    while (message := client.next(60)) is None or not is_online(*message):
        pass
    return client


def questions(args):
    Path(args.folder).mkdir(parents=True, exist_ok=True)
    port, command = replay(args)
    with Process(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as daemon:
        client = connect(port)
        for line in daemon.child.stdout:
            if json.loads(line).get("done"):
                break
        for number in range(1, args.count + 1):
            question = {"id": f"q{number}", "question": QUESTIONS[number % len(QUESTIONS)], "deadline_ms": 10_000}
            client.publish("engram/rob/ask", json.dumps(question))
            while (message := client.next(10)) is not None and message[0].endswith("/status"):
                pass
            if message is None or "answer" not in json.loads(message[1]):
                print(f"question {number} was not answered: {message}", file=sys.stderr)
                return False
            if number % max(1, args.count // 10) == 0:
                print(json.dumps({"questions": number, "anon_mb": daemon.anonymous_kb() / 1000}), flush=True)
    return True


def part(args):
    folder = Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    before = parts(folder)
    done = sum(one["recorded_secs"] for one in before)
    if done >= 3600 * args.hours:
        print(json.dumps({"recorded_hours": round(done / 3600, 2), "nothing_to_do": True}))
        return True
    port, command = replay(args, "--loop", "--again")
    looks, took, refused, answered = [], [], [], 0
    with open(folder / f"part_{len(before)}.log", "w") as log:
        with Process(command, stdout=subprocess.PIPE, stderr=log, text=True) as daemon:
            replayed = Replayed(daemon.child.stdout)
            client = connect(port)
            began = time.monotonic()
            warm = began + WARM_UP_SHARE * args.secs
            number, asked, looked, ask_at = 0, {}, began, began
            # The last questions are waited for.
            while (now := time.monotonic()) < began + args.secs or asked:
                if now >= ask_at and now < began + args.secs:
                    ask_at = max(ask_at, now - 1) + (ASK_EVERY if now >= warm else ASK_EVERY_AT_FIRST)
                    name = f"p{len(before)}-{number}"
                    asked[name] = now
                    question = {"id": name, "question": QUESTIONS[number % len(QUESTIONS)], "deadline_ms": 10_000}
                    client.publish("engram/rob/ask", json.dumps(question))
                    number += 1
                if now >= looked + LOOK_EVERY:
                    looked = now
                    seen = daemon.anonymous_kb(), replayed.memories, daemon.descriptors(), daemon.threads()
                    looks.append(Look(replayed.secs, *seen, replayed.rounds))
                message = client.next(max(0.0, min(looked + LOOK_EVERY, ask_at) - now))
                if message is not None and not message[0].endswith("/status"):
                    name, reply = message[0].rsplit("/", 1)[1], json.loads(message[1])
                    sent = asked.pop(name)
                    if sent >= warm:
                        took.append(1000 * (time.monotonic() - sent))
                    answered += 1
                    if "answer" not in reply:
                        refused.append(reply)
                if now > began + args.secs + 60:
                    break
            unanswered = len(asked)
            code = daemon.stop()
    figures = judge(looks, took, refused, unanswered, code)
    figures = {"part": len(before), "wall_secs": round(args.secs), "recorded_secs": round(replayed.secs, 1), **figures}
    figures["clips"], figures["memories"], figures["questions"] = replayed.clips, replayed.memories, answered
    with open(folder / f"part_{len(before)}.looks.jsonl", "w") as file:
        file.writelines(json.dumps(asdict(look)) + "\n" for look in looks)
    with open(folder / "parts.jsonl", "a") as file:
        file.write(json.dumps(figures) + "\n")
    print(json.dumps(figures))
    return not figures["failed"]


def judge(looks, took, refused, unanswered, code):
    settled = looks[len(looks) // 4 :]
    rounds = by_round(settled, lambda look: look.round)
    third = max(1, len(rounds) // 3)
    grown, error, explained = slope(rounds)

    def usual(count):
        counts = medians(rounds, count)
        return statistics.median(counts[:third]), statistics.median(counts[-third:])

    descriptors, threads = usual(lambda look: look.descriptors), usual(lambda look: look.threads)
    failed = []
    if descriptors[1] > descriptors[0] + 1:
        failed.append("descriptors grow")
    if threads[1] > threads[0] + 2:
        failed.append("threads grow")
    if grown - explained - 2 * error > KB_PER_HOUR:
        failed.append("memory grows")
    if refused or unanswered:
        failed.append(f"{len(refused)} questions refused, {unanswered} unanswered: {refused[:1]}")
    if code != 0:
        failed.append(f"exit code {code}")
    return {
        "rounds": len(rounds) if len(rounds) < len(settled) else 0,
        "anon_mb": [round(statistics.median(look.kb for look in one) / 1000, 1) for one in (rounds[0], rounds[-1])],
        "slope_mb_per_hour": round(grown / 1000, 2),
        "standard_error": round(error / 1000, 2),
        "of_it_memories": round(explained / 1000, 2),
        "descriptors": descriptors,
        "threads": threads,
        "fast_ms": {name: round(percentile(took, share), 1) for name, share in [("p50", 0.5), ("p99", 0.99), ("max", 1)]},
        "failed": failed,
    }


def parts(folder):
    file = Path(folder, "parts.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def summary(args):
    done = parts(args.folder)
    hours = sum(one["recorded_secs"] for one in done) / 3600
    failed = [f"part {one['part']}: {why}" for one in done for why in one["failed"]]
    if hours < args.hours:
        failed.append(f"{hours:.2f} h of {args.hours} are done")
    weights = [1 / max(one["standard_error"], 0.1) ** 2 for one in done]
    beyond = [one["slope_mb_per_hour"] - one["of_it_memories"] for one in done]
    together = sum(weight * mb for weight, mb in zip(weights, beyond)) / (sum(weights) or 1)
    if together > KB_PER_HOUR / 1000:
        failed.append("memory grows")
    figures = {
        "parts": len(done),
        "recorded_hours": round(hours, 2),
        "beyond_memories_mb_per_hour": round(together, 2),
        "standard_error": round(sum(weights) ** -0.5, 2) if done else None,
        "slope_mb_per_hour": [one["slope_mb_per_hour"] for one in done],
        "of_it_memories": [one["of_it_memories"] for one in done],
        "fast_p99_ms": [one["fast_ms"]["p99"] for one in done],
        "questions": sum(one["questions"] for one in done),
        "failed": failed,
    }
    print(json.dumps(figures))
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("part")
    one.add_argument("--secs", type=float, default=480)
    only = commands.add_parser("questions")
    only.add_argument("--count", type=int, default=24_000)
    for command in (one, only):
        command.add_argument("engramd", nargs="?", default="target/release/engramd")
        command.add_argument("--recording", required=True)
        command.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    added = commands.add_parser("summary")
    for command in (one, only, added):
        command.add_argument("--folder", required=True)
    for command in (one, added):
        command.add_argument("--hours", type=float, default=2)
    args = parser.parse_args()
    sys.exit(0 if {"part": part, "summary": summary, "questions": questions}[args.command](args) else 1)


main()
