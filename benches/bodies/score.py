#!/usr/bin/env python3
"""Scores the percepts of the labelled scenes of bodies: who was found, followed, and taken for somebody else.

Usage: score.py --scenes DIR [--engramd FILE] [--set key=value …]   (scenes: what compose.py wrote)

Every scene is replayed into a store of its own, and what counts are the lines of `engramd export --percepts`. At every fifth
of a second somebody who is labelled in view is *covered* where a body's box overlaps his by at least 0.4 (intersection over
union; each box counts for one person, the best first) or a face's centre lies in it. Per scene and in all:
  found      of those who show a face: one person has at least half of what is labelled, and that is at least half of the
             person's; of those who never do: half of what is labelled is covered, and no person's
  false      persons with 1 s, and nameless bodies with 1 s, that nobody labelled is at
  split      other persons with 1 s of somebody's
  switches   tracks of bodies that go from one labelled person to another, and stretches of 0.4 s in which a person is said
             of somebody else
  covered    share of the labelled time
The face of somebody who is mostly covered by another is still his.
"""

import argparse
import collections
import datetime
import json
import subprocess
import tempfile
from pathlib import Path

START = datetime.datetime(2026, 4, 1, 9, tzinfo=datetime.timezone.utc)
STEP = 0.2


def overlap(a, b):
    wide = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    high = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / (a[2] * a[3] + b[2] * b[3] - wide * high)


def lines_of(engramd, scene, settings):
    with tempfile.TemporaryDirectory() as store:
        common = [engramd, "--data-dir", store, *(word for setting in settings for word in ("--set", setting))]
        start = START.isoformat().replace("+00:00", "Z")
        subprocess.run([*common, "replay", str(scene), "--start-time", start, "--json"], check=True, capture_output=True)
        told = subprocess.run([*common, "export", "--percepts"], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in told.splitlines()]


def score(labels, lines):
    seen = collections.defaultdict(list)
    for line in lines:
        if line["kind"] in ("face", "body"):
            at = (datetime.datetime.fromisoformat(line["t"][:26].rstrip("Z") + "+00:00") - START).total_seconds()
            seen[round(at / STEP)].append(line)
    labelled, covered = collections.Counter(), collections.Counter()
    of_person, of_track, alone = collections.Counter(), collections.defaultdict(list), collections.Counter()
    total = collections.Counter()
    for step in range(round(labels["secs"] / STEP)):
        boxes = {person["id"]: box[1:5] for person in labels["people"] for box in person["boxes"]
                 if abs(box[0] - step * STEP) < 0.05}
        hidden = {person["id"]: box[1:5] for person in labels["people"] for box in person.get("hidden", [])
                  if abs(box[0] - step * STEP) < 0.05}
        there = boxes | hidden
        lines_now = seen.get(step, [])
        bodies = [line for line in lines_now if line["kind"] == "body"]
        pairs = sorted(((overlap(line["box"], box), number, who) for number, line in enumerate(bodies)
                        for who, box in boxes.items()), reverse=True)
        taken, owner = set(), {}
        for value, number, who in pairs:
            if value >= 0.4 and number not in owner and who not in taken:
                owner[number] = who
                taken.add(who)
        at_once = [(line, owner.get(number)) for number, line in enumerate(bodies)]
        for line in lines_now:
            if line["kind"] == "face":
                x, y = line["box"][0] + line["box"][2] / 2, line["box"][1] + line["box"][3] / 2
                inside = [who for who, (a, b, w, h) in there.items() if a <= x < a + w and b <= y < b + h]
                at_once.append((line, min(inside, key=lambda who: abs(there[who][0] + there[who][2] / 2 - x)) if inside else None))
        labelled.update(boxes.keys())
        covered.update({who for _, who in at_once if who in boxes})
        told = {(line.get("person"), who) for line, who in at_once if line.get("person")}
        for person, who in told:
            of_person[person, who] += 1
            total[person] += 1
        for line, who in at_once:
            if line["kind"] == "body":
                of_track[line["track"]].append(who)
                x, y = line["box"][0] + line["box"][2] / 2, line["box"][1] + line["box"][3] / 2
                judged = all(not (a <= x < a + w and b <= y < b + h) for a, b, w, h in labels.get("ignored", []))
                if not line.get("person") and who is None and judged:
                    alone[line["track"]] += 1
    one_sec = round(1 / STEP)
    main, found = {}, 0
    for person in labels["people"]:
        who = person["id"]
        shares = {p: n for (p, w), n in of_person.items() if w == who}
        best = max(shares, key=shares.get, default=None)
        if person["face"]:
            right = best is not None and shares[best] >= labelled[who] / 2 and shares[best] >= total[best] / 2
            main[who] = best
        else:
            right = covered[who] >= labelled[who] / 2 and max(shares.values(), default=0) < one_sec
        found += right
    owner_of = {person: max((w for (p, w) in of_person if p == person and w), key=lambda w: of_person[person, w], default=None)
                for person in total}
    false = sum(of_person[p, None] >= one_sec for p in total) + sum(n >= one_sec for n in alone.values())
    split = sum(bool(n >= one_sec and w and p != main.get(w) and owner_of[p] == w) for (p, w), n in of_person.items())
    switches = sum(bool(n >= 2 and w and owner_of[p] != w) for (p, w), n in of_person.items())
    for whose in of_track.values():
        whose = [who for who in whose if who]
        changes = [(a, b) for a, b in zip(whose, whose[1:]) if a != b]
        switches += len(changes)
    return {"people": len(labels["people"]), "found": found, "false": false, "split": split, "switches": switches,
            "covered": sum(covered.values()) / max(sum(labelled.values()), 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=Path, required=True)
    parser.add_argument("--engramd", default="engramd")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--lines", type=Path, help="a folder in which the lines are kept")
    chosen = parser.parse_args()
    rows = {}
    for file in sorted(chosen.scenes.glob("*.json")):
        lines = lines_of(chosen.engramd, file.with_suffix(".mp4"), chosen.set)
        if chosen.lines:
            chosen.lines.mkdir(exist_ok=True)
            (chosen.lines / file.name).write_text("\n".join(json.dumps(line) for line in lines))
        rows[file.stem] = score(json.loads(file.read_text()), lines)
    for name, row in rows.items():
        print(f"{name:12}", " ".join(f"{key} {value:.3f}" if key == "covered" else f"{key} {value}" for key, value in row.items()))
    sums = {key: sum(row[key] for row in rows.values()) for key in ("people", "found", "false", "split", "switches")}
    print("in all      ", " ".join(f"{key} {value}" for key, value in sums.items()),
          f"covered {sum(row['covered'] for row in rows.values()) / max(len(rows), 1):.3f} (mean over scenes)")


if __name__ == "__main__":
    main()
