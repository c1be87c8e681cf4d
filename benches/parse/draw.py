#!/usr/bin/env python3
"""Draws the sentences of the parser gate: half of the known stories, half of speech as recognisers write it.

Usage: draw.py HEARD [--locomo FILE] > sentences.tsv

HEARD holds one turn of the made evening a line, as JSON: [start in s, words that were said, [[word, probability], …]]
as the recogniser (Moonshine base) wrote them. Every pool is cut into sentences at . ? !, sentences under four words and
over 24 are left out, doubles too, and each pool is shuffled with the seed and cut. A line: id, source, text.
"""

import argparse
import json
import random
import re
from pathlib import Path

TOLD = Path(__file__).parents[1] / "told"
STORIES = ["household", "workshop", "carehome", "museum"]
SEED = 28
# How many of each pool are drawn; more than needed, since what has no predicate at all (a greeting, a fragment) is
# passed over when the verdicts are written.
NOTES, QUESTIONS, WRITTEN, BARE, TALK = 14, 13, 75, 20, 20


def sentences(text):
    parts = re.split(r"(?<=[.?!])\s+(?=[A-Z“\"'])", text.strip())
    return [p for p in parts if 4 <= len(p.split()) <= 24]


def bare(text):
    """As a recogniser without case and punctuation writes it."""
    text = re.sub(r"[^\w\s'’-]", " ", text.lower().replace("’", "'"))
    return " ".join(text.replace(" - ", " ").split())


def drawn(rng, pool, count):
    pool = sorted(set(pool))
    rng.shuffle(pool)
    return pool[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("heard")
    parser.add_argument("--locomo", required=True)
    args = parser.parse_args()
    rng = random.Random(SEED)
    out = []
    for story in STORIES:
        data = json.loads((TOLD / f"{story}.json").read_text())
        notes = [s for note in data["notes"] for s in sentences(note.get("text", ""))]
        asked = [s for q in data["questions"] for s in sentences(q["question"])]
        out += [(f"{story} note", s) for s in drawn(rng, notes, NOTES)]
        out += [(f"{story} question", s) for s in drawn(rng, asked, QUESTIONS)]
    turns = [json.loads(line) for line in open(args.heard)]
    heard = [s for t in turns for s in sentences(" ".join(w for w, _ in t[2]))]
    heard = drawn(rng, heard, WRITTEN + BARE)
    out += [("evening written", s) for s in heard[:WRITTEN]]
    out += [("evening bare", bare(s)) for s in heard[WRITTEN:]]
    talk = json.loads(Path(args.locomo).read_text())
    lines = [
        s
        for one in talk
        for key, session in one["conversation"].items()
        if re.fullmatch(r"session_\d+", key)
        for turn in session
        for s in sentences(turn["text"])
    ]
    out += [("locomo bare", bare(s)) for s in drawn(rng, lines, TALK)]
    for number, (source, text) in enumerate(out, 1):
        print(f"{number}\t{source}\t{text}")


if __name__ == "__main__":
    main()
