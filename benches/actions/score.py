#!/usr/bin/env python3
"""Scores what people are told to do in the labelled scenes, class by class, and counts falls where nobody fell.

Usage: score.py --scenes DIR [--recordings DIR] [--engramd FILE] [--set key=value …]   (scenes: what compose.py wrote)

Every scene is replayed into a store of its own, and what counts are the lines of kind `action` of `engramd export --percepts`. Each
fifth of a second of a labelled class is *told* where an action of that kind covers it: precision is the share of what is told that is
labelled, recall the share of what is labelled that is told. Of the real scenes a body is whoever it overlaps with by at least 0.4
(intersection over union); he walks where his label goes 0.25 of its height a second over a second, stands where it goes less than
0.1, and in between neither is counted. Within half a second of where one class follows another nothing is counted. Falls are
counted: those labelled, found (an action `falls` within 1.5 s), and told without one; of every video of --recordings all are false.
"""

import argparse
import collections
import datetime
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bodies"))
from score import START, STEP, lines_of, overlap  # noqa: E402

WALKS, STANDS, BORDER, NEAR = 0.25, 0.1, 0.5, 1.5
CLASSES = ("stands", "walks", "sits", "lies", "raises_hand", "waves", "points")


def seconds(time):
    return (datetime.datetime.fromisoformat(time[:26].rstrip("Z") + "+00:00") - START).total_seconds()


def told(lines, at, track=None):
    """What is told of that moment, of one body or of anybody."""
    return {line["what"] for line in lines if line["kind"] == "action" and line["what"] != "falls"
            and seconds(line["start"]) <= at < seconds(line["end"]) and track in (None, line["track"])}


def count(counts, wanted, found):
    for kind in CLASSES:
        counts[kind]["labelled"] += kind in wanted
        counts[kind]["told"] += kind in found
        counts[kind]["right"] += kind in wanted and kind in found


def score_composed(truth, lines, counts, falls):
    for step in range(round(truth["secs"] / STEP)):
        at = (step + 0.5) * STEP
        borders = [edge for _, start, end in truth["does"] for edge in (start, end)]
        if any(abs(at - edge) < BORDER for edge in borders):
            continue
        does = {kind for kind, start, end in truth["does"] if start <= at < end}
        if "falls" in does:
            continue
        # Who waves or raises a hand stands, too, and who waves has a hand up.
        wanted = does | ({"stands"} if does & {"waves", "raises_hand"} else set())
        found = told(lines, at) - ({"raises_hand"} if "waves" in does else set())
        count(counts, wanted, found)
    fell = [seconds(line["start"]) for line in lines if line["kind"] == "action" and line["what"] == "falls"]
    labelled = [start for kind, start, _ in truth["does"] if kind == "falls"]
    falls["labelled"] += len(labelled)
    falls["found"] += sum(any(abs(at - start) < NEAR for at in fell) for start in labelled)
    falls["false"] += sum(not any(abs(at - start) < NEAR for start in labelled) for at in fell)


def speed(boxes, at):
    """Heights a second that a label goes around that moment; `None` where it is not there."""
    near = lambda when: next((box for box in boxes if abs(box[0] - when) < 0.06), None)
    before, after = near(at - 0.5), near(at + 0.5)
    if not before or not after:
        return None
    x, y = (after[1] + after[3] / 2 - before[1] - before[3] / 2), (after[2] + after[4] - before[2] - before[4])
    return (x * x + y * y) ** 0.5 / max(before[4], after[4])


def score_real(truth, lines, counts, falls):
    bodies = collections.defaultdict(list)
    for line in lines:
        if line["kind"] == "body":
            bodies[round(seconds(line["t"]) / STEP)].append(line)
    for step in range(round(truth["secs"] / STEP)):
        at = step * STEP
        for person in truth["people"]:
            box = next((box[1:5] for box in person["boxes"] if abs(box[0] - at) < 0.05), None)
            goes = speed(person["boxes"], at) if box else None
            if goes is None:
                continue
            there = [line for line in bodies[step] if overlap(line["box"], box) >= 0.4]
            found = told(lines, at + 0.01, there[0]["track"]) if there else set()
            wanted = {"walks"} if goes >= WALKS else {"stands"} if goes < STANDS else None
            if wanted is None:
                # Something in between; but he does neither sit nor lie.
                found -= {"walks", "stands"}
                wanted = set()
            count(counts, wanted, found)
    falls["false"] += sum(line["kind"] == "action" and line["what"] == "falls" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=Path, required=True)
    parser.add_argument("--recordings", type=Path)
    parser.add_argument("--engramd", default="target/release/engramd")
    parser.add_argument("--set", action="append", default=[])
    chosen = parser.parse_args()
    counts = collections.defaultdict(collections.Counter)
    falls = collections.Counter()
    for path in sorted(chosen.scenes.glob("*.json")):
        truth, lines = json.loads(path.read_text()), lines_of(chosen.engramd, path.with_suffix(".mp4"), chosen.set)
        before = {kind: dict(counts[kind]) for kind in CLASSES}
        (score_composed if "does" in truth else score_real)(truth, lines, counts, falls)
        told_here = {kind: counts[kind]["told"] - before[kind].get("told", 0) for kind in CLASSES}
        print(path.stem, {kind: round(steps * STEP, 1) for kind, steps in told_here.items() if steps}, flush=True)
    for path in sorted(chosen.recordings.rglob("*.mp4")) if chosen.recordings else ():
        lines = [line for line in lines_of(chosen.engramd, path, chosen.set) if line["kind"] == "action"]
        falls["false"] += sum(line["what"] == "falls" for line in lines)
        secs = collections.Counter()
        for line in lines:
            secs[line["what"]] += seconds(line["end"]) - seconds(line["start"])
        print(path.stem, {kind: round(value, 1) for kind, value in secs.items()}, flush=True)
    print(f"{'class':12} {'labelled s':>10} {'precision':>9} {'recall':>7}")
    for kind in CLASSES:
        labelled, said, right = (counts[kind][name] for name in ("labelled", "told", "right"))
        share = lambda part, whole: f"{part / whole:.3f}" if whole else "-"
        print(f"{kind:12} {labelled * STEP:10.1f} {share(right, said):>9} {share(right, labelled):>7}")
    print("falls:", dict(falls))


if __name__ == "__main__":
    main()
