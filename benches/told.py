#!/usr/bin/env python3
"""How many questions about what it was told and saw a daemon answers rightly.

    benches/told.py [ENGRAMD] [--scenario household|workshop|carehome|museum|FILE] [--json] [--verbose] [--set KEY=VALUE ...]

A scenario (benches/told/*.json) is a story of some weeks: a recording with the names of the people in it, in the order
in which they first come into view, notes and facts with their local times, and questions at one moment, `now`. The
recording is looked for in ENGRAM_SHARED or ../shared and replayed without words. Everything is told and asked over
MQTT, in order, one after the other: a question may rest on the one before it.

A question has `want`: groups of alternatives, of each of which one must stand in the answer (whole words, any case; a
date like 2026-11-09 stands for its spellings), and `not`: words that make it wrong. An answer that says it doesn't know
is `unknown`, or, where the story tells nothing of it (`answerable` false), right; there an answer is right only if it
has what `want` asks for. The wants come from the story, not from what any program said.

A right answer is one that holds the right words: a quoted note that tells it counts. It can't see whether the rest of an
answer misleads. Prints a table by kind of question, or with --json one document; --verbose shows what was not right.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from zoneinfo import ZoneInfo

from asker import Asker
from daemon import Process, free_port, options, percentile

HERE = Path(__file__).resolve().parent
VERDICTS = ("right", "wrong", "unknown")
SEEING = ["models.set=edge", "transcriber.kind=none"]


# ---------------------------------------------------------------- judging


def spellings(alternative):
    """A date in the ways that people and answers write it; anything else as it is."""
    try:
        day = datetime.date.fromisoformat(alternative)
    except ValueError:
        return [alternative]
    number = day.day
    ending = "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    ways = [alternative]
    for month in (f"{day:%B}", f"{day:%b}"):
        for word in (str(number), f"{number}{ending}"):
            ways += [f"{word} {month}", f"{word} of {month}", f"{month} {word}", f"the {word} of {month}"]
    return ways


def plain(words):
    return " ".join(words.casefold().replace("’", "'").split())


def holds(text, alternative):
    return any(re.search(rf"(?<!\w){re.escape(plain(way))}(?!\w)", text) for way in spellings(alternative))


def verdict(question, reply):
    answerable = question.get("answerable", True)
    if reply["abstained"]:
        return "unknown" if answerable else "right"
    text, want = plain(reply["answer"]), question.get("want", [])
    told = all(any(holds(text, way) for way in group) for group in want)
    fine = told and not any(holds(text, word) for word in question.get("not", []))
    return "right" if fine and (answerable or want) else "wrong"


# ---------------------------------------------------------------- telling and asking


def replay(engramd, recording, settings):
    path = Path(os.environ.get("ENGRAM_SHARED") or HERE.parent.parent / "shared", "recordings", recording["file"])
    if not path.exists():
        sys.exit(f"{path} is not there (set ENGRAM_SHARED)")
    command = [engramd, "replay", path, "--start-time", recording["start"], "--no-keys", *settings]
    if code := subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
        sys.exit(f"the replay of {path} ended with {code}")


def tell(asker, topic, name, document):
    _, reply = asker.request(topic, name, document)
    if isinstance(reply, dict) and "error" in reply:
        sys.exit(f"{topic} {document}: {reply['error']['message']}")
    return reply


def name_the_seen(asker, names):
    seen = [person for person in tell(asker, "query", "seen", {"verb": "people"}) if person["faces"]]
    seen.sort(key=lambda person: person["first_seen"])
    if len(seen) != len(names):
        sys.exit(f"{len(seen)} people were seen, not {len(names)}")
    for person, name in zip(seen, names):
        tell(asker, "name", f"name-{name}", {"entity": person["id"], "name": name})


def note(entry, zone):
    """A note's MQTT document: the local time `at` becomes an absolute one, a fact's three words get their keys."""
    at = datetime.datetime.fromisoformat(entry["at"]).replace(tzinfo=zone)
    document = {key: entry[key] for key in ("text", "pinned") if key in entry}
    if "fact" in entry:
        document["fact"] = dict(zip(("subject", "attribute", "value"), entry["fact"]))
    return {**document, "start": at.isoformat()}


def examine(asker, scenario):
    """Tells the story and asks; the questions with the answers, verdicts and milliseconds."""
    asker.wait_online()
    if "recording" in scenario:
        name_the_seen(asker, scenario["recording"]["names"])
    zone = ZoneInfo(scenario["timezone"])
    for number, entry in enumerate(scenario["notes"]):
        tell(asker, "remember", f"n{number}", note(entry, zone))
    asked = []
    for number, question in enumerate(scenario["questions"]):
        ms, reply = asker.ask(f"q{number}", question=question["question"], now=scenario["now"])
        if "error" in reply:
            reply = {"answer": reply["error"]["message"], "abstained": False}
        said = {key: reply[key] for key in ("answer", "abstained")}
        asked.append({**question, **said, "verdict": verdict(question, reply), "ms": round(ms, 2)})
    return asked


# ---------------------------------------------------------------- figures


def tally(asked):
    count = Counter(question["verdict"] for question in asked)
    return {"asked": len(asked), **{word: count[word] for word in VERDICTS}}


def figures(asked):
    kinds = {question["kind"]: None for question in asked}
    took = [question["ms"] for question in asked]
    return {
        "kinds": {kind: tally([question for question in asked if question["kind"] == kind]) for kind in kinds},
        "total": tally(asked),
        "ask_ms": {"p50": percentile(took, 0.5), "p99": percentile(took, 0.99)},
    }


def table(found):
    rows = [(kind, counts) for kind, counts in found["kinds"].items()] + [("all", found["total"])]
    yield f"{'kind':<14}{'asked':>7}" + "".join(f"{word:>9}" for word in VERDICTS) + f"{'right %':>9}"
    for kind, counts in rows:
        share = 100 * counts["right"] / counts["asked"]
        yield f"{kind:<14}{counts['asked']:>7}" + "".join(f"{counts[word]:>9}" for word in VERDICTS) + f"{share:>9.0f}"


def failure(question):
    want = " and ".join(" / ".join(group) for group in question.get("want", []))
    if not question.get("answerable", True):
        want = "I don't know" + (f", or {want}" if want else "")
    if question.get("not"):
        want += f"; not {' / '.join(question['not'])}"
    return f"{question['verdict']}: {question['question']}\n    want {want}\n    said {question['answer']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engramd", nargs="?", default="target/release/engramd")
    parser.add_argument("--scenario", default="household", help="household, workshop, carehome, museum, or a file")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    own = HERE / "told" / f"{args.scenario}.json"
    scenario = json.loads((own if own.exists() else Path(args.scenario)).read_text())
    port = free_port()
    settings = ["robot.id=rob", f"robot.timezone={scenario['timezone']}", "mqtt.reply_rate=0", "mqtt.request_rate=0"]
    settings += [f"mqtt.listen=127.0.0.1:{port}", f"mqtt.listen_v5=127.0.0.1:{free_port()}", *SEEING, *args.set]
    with tempfile.TemporaryDirectory() as folder:
        store = ["--data-dir", f"{folder}/data", *options(settings)]
        if "recording" in scenario:
            replay(args.engramd, scenario["recording"], store)
        with Process([args.engramd, "run", *store], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            asked = examine(Asker(port), scenario)
    found = {"scenario": args.scenario, **figures(asked)}
    if args.json:
        print(json.dumps({**found, "questions": asked} if args.verbose else found, ensure_ascii=False))
        return
    if args.verbose:
        print(*[failure(question) for question in asked if question["verdict"] != "right"], "", sep="\n")
    print(*table(found), sep="\n")


main()
