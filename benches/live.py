#!/usr/bin/env python3
"""A daemon that lives: recordings and an empty room in turn before a camera and a microphone, at their own pace, for hours.

    benches/live.py run [ENGRAMD] --folder DIR [--minutes 240] [--secs S] [--trouble] [--recording FILE ...] [--empty-secs 120]
                        [--fps 10] [--ask-secs 2] [--speed N] [--set KEY=VALUE ...] [--json]
    benches/live.py summary --folder DIR [--minutes 240] [--trouble] [--json]

`run` serves the sources over TCP to the launch descriptions of an `engramd run`, asks fast questions throughout, and looks
at the daemon every two seconds, until the looks of DIR together last so many minutes or this call has lasted so many
seconds. A run that was cut off, killed too, goes on: the next one starts another daemon on the same store and adds to the
series. `summary` adds them up; both print the figures (`--json`: as one document), exit code 1 when one of them failed.

What must hold without `--trouble`, after two minutes of warming up in each process:
- RssAnon: a slope of at most 8 MB an hour beyond 1 kB for every memory (as benches/soak.py), by least squares through the
  medians of the rounds, a height of its own for each process; above that by more than two standard errors it is a leak;
- descriptors and threads: no more in the last third than in the first, but for one and two that come and go;
- no frame and no block of sound dropped by the daemon, or not taken from the devices in time;
- an empty room writes no row: none from a clip and 8 s after everybody has left to the moment when somebody comes;
- every question answered, no error in the log, an orderly end, and `engramd check` finds nothing.

With `--speed N` every clock of the daemon, the devices and this program runs N times as fast (tests/support/clock_rate.c): four
hours in one at 4, where the machine has the processor time for it. All times told are those of the fast clock.

With `--trouble` something goes wrong every 40 s, one after the other: kill -9, the camera is unplugged for 15 s, the microphone
is, the camera hangs for 15 s, the clock goes an hour forward, two hours back (tests/support/clock_offset.c), kill -9 with the
camera unplugged. Then it must hold that no clip is lost that was in the store before, that it answers again within 20 s and
runs with all its sources within 60 s, and the last three points above.
"""

import argparse
import ctypes
import json
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
from pathlib import Path

from daemon import Process, free_port, options, percentile
from devices import CAMERA, MICROPHONE, Programme, camera, microphone
from mqtt import Client
from trend import by_round, line, medians

SHARED = Path(os.environ.get("ENGRAM_SHARED", "../shared"), "recordings")
QUESTIONS = [
    "Who was here?",
    "Who is here now?",
    "What did person_1 say?",
    "When was person_2 last seen?",
    "How many persons were here?",
    "Who spoke last?",
    "What happened in the last minute?",
    "How long was person_1 here?",
]
LOOK_EVERY, WARM_UP_SECS = 2.0, 120
# After the border of a clip with somebody in it: words that come late, vectors.
SETTLED_SECS = 8
KB_PER_MEMORY, KB_PER_HOUR = 1, 8000
TROUBLE_EVERY, UNPLUGGED_SECS = 40, 15
ANSWERS_WITHIN, WHOLE_WITHIN = 20, 60
PR_SET_PDEATHSIG = 1
SUPPORT = Path(__file__).resolve().parent.parent / "tests/support"
CLOCK = SUPPORT / "clock_offset.c"
# Rows that questions write: the rig's own doing.
OF_QUESTIONS = {"answer", "access"}
CLIPS = 'SELECT session, clip, start, "end", frames FROM clip WHERE retired_seq IS NULL'


def ends_with_us():
    """In the daemon before it starts: it stops when this program is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Store:
    """What lies in a store that a daemon writes."""

    def __init__(self, folder):
        self.file = folder / "engram.db"

    def rows(self, query):
        if not self.file.exists():
            return []
        database = sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=10)
        try:
            return database.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []
        finally:
            database.close()

    def tables(self):
        names = [name for (name,) in self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        counted = {name: self.rows(f'SELECT count(*) FROM "{name}"') for name in names if name not in OF_QUESTIONS}
        return {name: count[0][0] for name, count in counted.items() if count}

    def memories(self):
        newest = self.rows("SELECT max(version) FROM memory")
        return newest[0][0] or 0 if newest else 0

    def checkpoints(self):
        """Every session's newest: clip and bytes."""
        return dict(self.rows("SELECT session, clip || ':' || length(state) FROM checkpoint"))

    def clips(self):
        return set(self.rows(CLIPS))

    def bytes(self):
        database, everything = 0, 0
        for file in self.file.parent.rglob("*"):
            try:
                size = file.stat().st_size if file.is_file() else 0
            except FileNotFoundError:  # the daemon finished writing it, or let it go
                continue
            everything += size
            database += size if file.name == "engram.db" else 0
        return database, everything


class Rig:
    """One call's daemons, devices and books."""

    def __init__(self, args):
        self.args, self.folder = args, Path(args.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.store = Store(self.folder / "store")
        self.programme = Programme(
            args.media or self.folder / "media", args.recording, SHARED / "living_room_dev.mp4", args.empty_secs, args.fps
        )
        self.number = len(list(self.folder.glob("process_*.json")))
        self.began = time.monotonic()
        self.ports = [free_port() for _ in range(4)]
        self.camera = camera(self.ports[0], self.began, self.programme)
        self.microphone = microphone(self.ports[1], self.began, self.programme)
        self.offset = self.clock() if args.trouble else None
        self.config = self.folder / "engram.toml"
        self.config.write_text(
            f'[[camera]]\nid = "front"\npipeline = "{CAMERA.format(port=self.ports[0], fps=args.fps)}"\n\n'
            f'[[microphone]]\nid = "head"\ndevice = "{MICROPHONE.format(port=self.ports[1])}"\n'
        )
        self.clip_secs = next((float(s.split("=")[1]) for s in args.set if s.startswith("window.clip_secs=")), 30.0)
        self.looks = open(self.folder / "looks.jsonl", "a", buffering=1)
        self.empties = open(self.folder / "empty.jsonl", "a", buffering=1)
        self.events = open(self.folder / "events.jsonl", "a", buffering=1)
        self.question, self.empty = 0, None

    # --- a daemon ---

    def start(self):
        settings = ["robot.id=rob", f"mqtt.listen=127.0.0.1:{self.ports[2]}", f"mqtt.listen_v5=127.0.0.1:{self.ports[3]}"]
        command = [self.args.engramd, "run", "--config", self.config, "--data-dir", self.folder / "store"]
        environment = dict(os.environ)
        if self.offset:
            environment |= {"LD_PRELOAD": str(self.offset.with_name("clock_offset.so")), "CLOCK_OFFSET_FILE": str(self.offset)}
        self.log = open(self.folder / f"process_{self.number}.log", "w")
        self.daemon = Process(
            command + options(settings + self.args.set),
            stdout=self.log,
            stderr=self.log,
            env=environment,
            preexec_fn=ends_with_us,
        )
        self.up, self.asked, self.looked, self.ask_at = time.monotonic(), {}, 0.0, 0.0
        self.book = {"process": self.number, "answered": 0, "refused": [], "cut_off": 0, "took": [], "sources": {}, "degraded": []}
        self.number += 1
        self.status, self.client, self.written = {}, None, time.monotonic()
        self.missed = self.camera.missed, self.microphone.missed
        self.warm = False

    def connect(self):
        try:
            self.client = Client(
                self.ports[2], "live", ["engram/rob/answer/+", "engram/rob/status", "engram/rob/stats"], timeout=0
            )
        except (OSError, TimeoutError):
            time.sleep(0.05)

    def stop(self):
        code = self.daemon.stop()
        self.ended(code)
        return code

    def kill(self):
        """kill -9; what was in the store before."""
        before = self.store.clips()
        self.daemon.child.kill()
        self.daemon.child.wait()
        self.ended("killed")
        return before

    def ended(self, code):
        self.book["cut_off"] += len(self.asked)
        self.book["exit"] = code
        self.write_book()
        self.log.close()

    def write_book(self):
        """What is known of the process so far, whatever becomes of this program."""
        self.written = time.monotonic()
        book = dict(self.book, secs=round(self.written - self.up, 1), processor_secs=self.book.get("processor_secs"))
        book["missed"] = [self.camera.missed - self.missed[0], self.microphone.missed - self.missed[1]]
        file = self.folder / f"process_{book['process']}.json"
        file.with_suffix(".new").write_text(json.dumps(book))
        file.with_suffix(".new").rename(file)

    # --- its time ---

    def attend(self, secs=0.0, until=lambda: False):
        """Looks, asks and listens until it is so, or for so long; whether it became so."""
        end = time.monotonic() + secs
        while not until():
            now = time.monotonic()
            if now >= end:
                return False
            if self.daemon.child.poll() is not None:
                self.ended(self.daemon.child.returncode)
                raise SystemExit(f"the daemon has ended by itself ({self.daemon.child.returncode}): {self.log.name}")
            if now - self.looked >= LOOK_EVERY:
                self.looked = now
                self.look(now)
            if self.client is None:
                self.connect()
                continue
            if self.status.get("state") == "online" and now >= self.ask_at:
                self.ask_at = now + self.args.ask_secs
                self.ask(now)
            try:
                message = self.client.next(max(0.01, min(end, max(self.ask_at, now + 0.1), self.looked + LOOK_EVERY) - now))
            except OSError:
                self.client = None
                continue
            if message is not None:
                self.hear(*message)
        return True

    def ask(self, now):
        name = f"p{self.book['process']}-{self.question}"
        question = {"id": name, "question": QUESTIONS[self.question % len(QUESTIONS)], "deadline_ms": 10_000}
        self.question += 1
        self.asked[name] = now
        try:
            self.client.publish("engram/rob/ask", json.dumps(question))
        except OSError:
            self.client = None

    def hear(self, topic, payload):
        document = json.loads(payload)
        if topic.endswith("/status"):
            self.status = document
            self.book["degraded"] = sorted({*self.book["degraded"], *document.get("degraded", [])})
        elif topic.endswith("/stats"):
            self.book["sources"] = document["sources"]
            self.book["counts"] = document["counts"]
        else:
            asked = self.asked.pop(topic.rsplit("/", 1)[1], None)
            if asked is None:
                return
            if "answer" in document:
                self.book["answered"] += 1
                self.book["took"].append(round(1000 * (time.monotonic() - asked), 1))
                self.book["took"] = self.book["took"][-20_000:]
            else:
                self.book["refused"].append(document)

    def look(self, now):
        round_number, kind, since, lasts = self.programme.now(now - self.began)
        database, files = self.store.bytes()
        look = {
            "process": self.book["process"],
            "secs": round(now - self.up, 2),
            "round": round_number,
            "room": kind,
            "kb": self.daemon.anonymous_kb(),
            "descriptors": self.daemon.descriptors(),
            "threads": self.daemon.threads(),
            "memories": self.store.memories(),
            "database": database,
            "files": files,
            "dropped": sum(source["dropped"] for source in self.book["sources"].values()),
        }
        self.looks.write(json.dumps(look) + "\n")
        self.book["processor_secs"] = self.daemon.processor_secs()
        self.look_at_the_empty_room(kind, since, lasts)
        if now - self.written > 20:
            self.write_book()

    def look_at_the_empty_room(self, kind, since, lasts):
        """What is written from the moment when everybody's last clip is sealed until somebody comes."""
        if kind == "empty" and since >= self.clip_secs + SETTLED_SECS and lasts - since > LOOK_EVERY:
            now = time.monotonic(), self.store.tables(), self.store.checkpoints(), self.store.bytes()
            self.empty = (self.empty or (self.book["process"], now))[:2] + (now,)
        elif self.empty:
            process, first, last = self.empty if len(self.empty) == 3 else (*self.empty, self.empty[1])
            self.empty = None
            secs = last[0] - first[0]
            if process != self.book["process"] or secs < self.clip_secs:
                return
            rows = {name: count - first[1].get(name, 0) for name, count in last[1].items() if count != first[1].get(name, 0)}
            newer = [int(state.split(":")[1]) for session, state in last[2].items() if first[2].get(session) != state]
            self.empties.write(
                json.dumps(
                    {
                        "process": process,
                        "secs": round(secs, 1),
                        "clips": round(secs / self.clip_secs, 2),
                        "rows": rows,
                        "checkpoint_bytes": sum(newer),
                        "database_bytes": last[3][0] - first[3][0],
                        "file_bytes": last[3][1] - first[3][1],
                    }
                )
                + "\n"
            )

    # --- trouble ---

    def clock(self):
        """Builds the clock that can be set, shows the time."""
        file = self.folder / "clock_offset"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.folder / "clock_offset.so", CLOCK], check=True)
        if not file.exists():
            file.write_bytes((0).to_bytes(8, "little"))
        return file

    def jump(self, secs):
        nanos = int.from_bytes(self.offset.read_bytes(), "little", signed=True) + secs * 1_000_000_000
        with open(self.offset, "r+b") as file:
            file.write(nanos.to_bytes(8, "little", signed=True))

    def is_whole(self):
        """It runs with every source."""
        degraded = " ".join(self.status.get("degraded", []))
        return self.status.get("state") == "online" and not re.search(r"\b(front|head):", degraded)

    def answers_again(self, began):
        """Seconds until something asked since then is answered; None: never."""
        answered = self.book["answered"]
        self.asked.clear()
        return self.within(began, ANSWERS_WITHIN, lambda: self.book["answered"] > answered)

    def within(self, began, secs, is_so):
        done = self.attend(secs, is_so)
        return round(time.monotonic() - began, 2) if done else None

    def troubles(self):
        """One after the other, for ever: its name, and what is to be told of it."""
        while True:
            yield "kill", self.killed
            yield "camera unplugged", lambda: self.unplugged(self.camera, "front")
            yield "microphone unplugged", lambda: self.unplugged(self.microphone, "head")
            yield "camera hangs", self.hung
            yield "clock an hour on", lambda: self.clock_set(3600)
            yield "clock two hours back", lambda: self.clock_set(-7200)
            yield "kill without camera", self.killed_without_camera

    def killed(self):
        figures, began = self.killed_and_started()
        figures["whole_secs"] = self.within(
            began, WHOLE_WITHIN, lambda: self.is_whole() and self.captured("front") and self.captured("head")
        )
        return figures

    def killed_and_started(self):
        """What became of that, and since when it runs again. What was asked and not answered is not asked again."""
        before = self.kill()
        began = time.monotonic()
        self.start()
        answered = self.answers_again(began)
        lost = before - self.store.clips()
        return {"clips_before": len(before), "clips_lost": len(lost), "answers_secs": answered}, began

    def unplugged(self, device, name):
        before = self.dropped(name)
        device.plugged = False
        began = time.monotonic()
        told = self.within(began, UNPLUGGED_SECS, lambda: not self.is_whole())
        self.attend(UNPLUGGED_SECS - (time.monotonic() - began))
        return {"told_secs": told, **self.back(device, name, before)}

    def hung(self):
        before = self.dropped("front")
        self.camera.silent = True
        began = time.monotonic()
        told = self.within(began, UNPLUGGED_SECS, lambda: not self.is_whole())
        self.attend(UNPLUGGED_SECS - (time.monotonic() - began))
        return {"told_secs": told, **self.back(self.camera, "front", before)}

    def back(self, device, name, dropped):
        device.plugged, device.silent = True, False
        began, captured = time.monotonic(), self.captured(name)
        whole = self.within(began, WHOLE_WITHIN, lambda: self.is_whole() and self.captured(name) > captured)
        # What was dropped comes with the next stats.
        self.attend(12)
        return {"whole_secs": whole, "dropped": self.dropped(name) - dropped}

    def captured(self, name):
        """Frames or blocks, as the daemon says every ten seconds."""
        return self.book["sources"].get(name, {}).get("captured", 0)

    def dropped(self, name):
        return self.book["sources"].get(name, {}).get("dropped", 0)

    def clock_set(self, secs):
        session, before = self.status.get("session"), self.store.clips()
        self.jump(secs)
        began = time.monotonic()
        anew = self.within(began, WHOLE_WITHIN, lambda: self.status.get("session") not in (None, session))
        whole = self.within(began, WHOLE_WITHIN, self.is_whole)
        lost = before - self.store.clips()
        return {"clips_before": len(before), "clips_lost": len(lost), "new_session_secs": anew, "whole_secs": whole}

    def killed_without_camera(self):
        self.camera.plugged = False
        self.attend(5)
        figures, _ = self.killed_and_started()
        return figures | self.back(self.camera, "front", self.dropped("front"))

    # --- the whole ---

    def run(self):
        ends = time.monotonic() + min(60 * self.args.minutes - seen_secs(self.folder), self.args.secs)
        if ends <= time.monotonic():
            return
        self.start()
        try:
            if not self.attend(60, lambda: self.status.get("state") == "online"):
                raise SystemExit(f"the daemon is not online after 60 s: {self.log.name}")
            if self.args.trouble:
                self.attend(TROUBLE_EVERY)
                for name, trouble in self.troubles():
                    if time.monotonic() + TROUBLE_EVERY + WHOLE_WITHIN > ends:
                        break
                    event = {"process": self.book["process"], "trouble": name, **trouble()}
                    self.events.write(json.dumps(event) + "\n")
                    self.attend(TROUBLE_EVERY)
            self.attend(ends - time.monotonic())
            self.ask_at = float("inf")
            self.attend(20, lambda: not self.asked)
        finally:
            self.stop()
        checked = subprocess.run(
            [self.args.engramd, "check", "--data-dir", self.folder / "store"], capture_output=True, text=True
        )
        self.book["check"] = checked.returncode
        self.write_book()


# --- what came of it ---


def read(folder, name):
    file = Path(folder, name)
    return [json.loads(text) for text in file.read_text().splitlines() if text.endswith("}")] if file.exists() else []


def books(folder):
    found = [json.loads(file.read_text()) for file in Path(folder).glob("process_*.json")]
    return sorted(found, key=lambda book: book["process"])


def by_process(looks):
    processes = {}
    for look in looks:
        processes.setdefault(look["process"], []).append(look)
    return processes


def seen_secs(folder):
    return sum(one[-1]["secs"] for one in by_process(read(folder, "looks.jsonl")).values())


def rounds_of(looks):
    """A process's looks by whole rounds; by minutes where it lasted less than three of them."""
    rounds = by_round(looks, lambda look: look["round"])
    return rounds if len(rounds) < len(looks) else by_round(looks, lambda look: look["secs"] // 60)


def slopes(stretches):
    """kB of anonymous memory an hour, its standard error, and what of it the memories explain."""

    def rise(key):
        points = [
            list(zip(medians(rounds, lambda look: look["secs"] / 3600), medians(rounds, lambda look: look[key])))
            for rounds in stretches
        ]
        return line(points)

    grown, error = rise("kb")
    return grown, error, KB_PER_MEMORY * rise("memories")[0], rise("database")[0], rise("files")[0]


def usual(stretches, key):
    """The usual count in the first and the last third of the rounds, the same process's where there is one that is long."""
    longest = max(stretches, key=len)
    third = max(1, len(longest) // 3)
    counts = medians(longest, lambda look: look[key])
    return statistics.median(counts[:third]), statistics.median(counts[-third:])


def complaints(folder):
    """Lines of the logs that tell of something wrong, and how often."""
    counts = {}
    for file in Path(folder).glob("process_*.log"):
        for text in file.read_text(errors="replace").splitlines():
            if found := re.search(r"\b(ERROR|WARN|panicked)\b.*", re.sub(r"\x1b\[[0-9;]*m", "", text)):
                what = re.sub(r"\d+(\.\d+)?", "N", found[0])[:160]
                counts[what] = counts.get(what, 0) + 1
    return counts


def figures(args):
    done, looks = books(args.folder), read(args.folder, "looks.jsonl")
    settled = [look for look in looks if look["secs"] >= WARM_UP_SECS]
    stretches = [rounds_of(one) for one in by_process(settled).values()]
    took = [ms for book in done for ms in book["took"]]
    sources = [(name, source) for book in done for name, source in book["sources"].items()]
    empty = read(args.folder, "empty.jsonl")
    clips = sum(one["clips"] for one in empty)
    rows = {}
    for one in empty:
        for name, count in one["rows"].items():
            rows[name] = rows.get(name, 0) + count
    result = {
        "minutes": round(seen_secs(args.folder) / 60, 1),
        "processes": len(done),
        "longest_process_minutes": round(max((book["secs"] for book in done), default=0) / 60, 1),
        "processor_share": round(
            sum(book.get("processor_secs") or 0 for book in done) / (sum(book["secs"] for book in done) or 1), 2
        ),
        "empty_room": {
            "clips": round(clips, 1),
            "rows_per_clip": {name: round(count / clips, 2) for name, count in sorted(rows.items())},
            "checkpoint_bytes_per_clip": round(sum(one["checkpoint_bytes"] for one in empty) / clips) if clips else None,
            "file_bytes_per_clip": round(sum(one["file_bytes"] for one in empty) / clips) if clips else None,
        },
        "captured": {name: sum(s["captured"] for n, s in sources if n == name) for name in sorted({n for n, _ in sources})},
        "dropped": sum(source["dropped"] for _, source in sources),
        "not_taken_in_time": [sum(book["missed"][n] for book in done) for n in (0, 1)],
        "questions": sum(book["answered"] for book in done),
        "unanswered": sum(book["cut_off"] for book in done),
        "refused": sum(len(book["refused"]) for book in done),
        "degraded": sorted({what for book in done for what in book["degraded"]}),
        "log": complaints(args.folder),
    }
    if took:
        result["fast_ms"] = {name: percentile(took, share) for name, share in [("p50", 0.5), ("p99", 0.99), ("max", 1)]}
    if not args.trouble and any(len(one) > 2 for one in stretches):
        grown, error, explained, database, files = slopes(stretches)
        longest = max(stretches, key=len)
        result |= {
            "rounds": sum(map(len, stretches)),
            "anon_mb": [round(kb / 1000, 1) for kb in (lambda m: (m[0], m[-1]))(medians(longest, lambda look: look["kb"]))],
            "slope_mb_per_hour": round(grown / 1000, 2),
            "standard_error": round(error / 1000, 2),
            "of_it_memories": round(explained / 1000, 2),
            "database_mb_per_hour": round(database / 1e6, 2),
            "files_mb_per_hour": round(files / 1e6, 2),
            "descriptors": usual(stretches, "descriptors"),
            "threads": usual(stretches, "threads"),
        }
    if args.trouble:
        result["troubles"] = summed(read(args.folder, "events.jsonl"))
    result["failed"] = failures(args, result, done)
    return result


def summed(events):
    """By kind of trouble: how often, and of every figure the worst. None: it never came about."""
    kinds = {}
    for event in events:
        kinds.setdefault(event["trouble"], []).append(event)
    worst = {}
    for kind, ones in kinds.items():
        worst[kind] = {"times": len(ones)}
        for key in [key for key in ones[0] if key not in ("trouble", "process", "clips_before")]:
            values = [one.get(key) for one in ones]
            worst[kind][key] = None if None in values else max(values)
    return worst


def failures(args, result, done):
    failed = []
    if result["minutes"] < args.minutes - 0.1:
        failed.append(f"{result['minutes']} of {args.minutes} minutes are done")
    if any(re.match(r"ERROR|panicked", what) for what in result["log"]):
        failed.append("errors in the log")
    if wrong := [book["exit"] for book in done if book.get("exit") not in (0, "killed", None)]:
        failed.append(f"exit codes {wrong}")
    if any(book.get("check", 0) for book in done):
        failed.append("the store does not pass its check")
    if result["refused"]:
        failed.append(f"{result['refused']} questions refused")
    if args.trouble:
        for kind, worst in result["troubles"].items():
            failed += [f"{kind}: no {key}" for key, value in worst.items() if value is None]
            if worst.get("clips_lost"):
                failed.append(f"{kind}: {worst['clips_lost']} clips lost")
        return failed
    if result["degraded"]:
        failed.append("something was missing or in trouble")
    if result["unanswered"] and all("exit" in book for book in done):
        failed.append(f"{result['unanswered']} questions unanswered")
    if result["dropped"] or any(result["not_taken_in_time"]):
        failed.append("frames or sound dropped")
    if result["empty_room"]["rows_per_clip"] or result["empty_room"]["checkpoint_bytes_per_clip"]:
        failed.append("an empty room writes rows")
    if "slope_mb_per_hour" in result:
        if result["slope_mb_per_hour"] - result["of_it_memories"] - 2 * result["standard_error"] > KB_PER_HOUR / 1000:
            failed.append("memory grows")
        if result["descriptors"][1] > result["descriptors"][0] + 1:
            failed.append("descriptors grow")
        if result["threads"][1] > result["threads"][0] + 2:
            failed.append("threads grow")
    return failed


def show(result, as_json):
    if as_json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:26} {value}")


def run_fast(args):
    """This program again, with a clock that runs fast; what it starts has the same."""
    Path(args.folder).mkdir(parents=True, exist_ok=True)
    clock = Path(args.folder, "clock_rate.so").resolve()
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", clock, SUPPORT / "clock_rate.c", "-ldl"], check=True)
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"LD_PRELOAD": str(clock), "CLOCK_RATE": str(args.speed)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one, added = commands.add_parser("run"), commands.add_parser("summary")
    one.add_argument("engramd", nargs="?", default="target/release/engramd")
    one.add_argument("--secs", type=float, default=float("inf"), help="this call lasts no longer")
    one.add_argument("--recording", action="append", help="default: two_people_dev and living_room_dev")
    one.add_argument("--media", help="where decoded recordings are kept; default: in the folder")
    one.add_argument("--empty-secs", type=float, default=120)
    one.add_argument("--fps", type=int, default=10, help="the camera's")
    one.add_argument("--ask-secs", type=float, default=2)
    one.add_argument("--speed", type=int, default=1, metavar="N", help="every clock runs N times as fast; not with --trouble")
    one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    for command in (one, added):
        command.add_argument("--folder", required=True)
        command.add_argument("--minutes", type=float, default=240)
        command.add_argument("--trouble", action="store_true")
        command.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.command == "run":
        if args.speed > 1 and args.trouble:
            parser.error("--speed has its own clock, and so has --trouble")
        if args.speed > 1 and "CLOCK_RATE" not in os.environ:
            run_fast(args)
        args.recording = args.recording or [SHARED / f"{name}_dev.mp4" for name in ("two_people", "living_room")]
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped; the next run goes on"))
        Rig(args).run()
    result = figures(args)
    show(result, args.json)
    # A part of a longer run has done its share.
    left = [why for why in result["failed"] if not (args.command == "run" and why.endswith("minutes are done"))]
    sys.exit(1 if left else 0)


main()
