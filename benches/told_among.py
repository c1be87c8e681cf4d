"""Sentences of others, among which a story's notes are told: what a memory of months holds besides.

Pure functions over ../shared (or ENGRAM_SHARED): turns of conversations (datasets/locomo_first5.json) and sentences of the
web treebank (datasets/ud_ewt), half of each.
"""

import itertools
import json
import os
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("ENGRAM_SHARED", HERE.parent.parent / "shared"))
SHORTEST, LONGEST = 4, 30


def treebank():
    for part in ("dev", "test", "train"):
        for line in open(SHARED / f"datasets/ud_ewt/en_ewt-ud-{part}.conllu"):
            if line.startswith("# text = "):
                yield line.removeprefix("# text = ").strip()


def talks():
    for talk in json.load(open(SHARED / "datasets/locomo_first5.json")):
        conversation = talk["conversation"]
        for session in itertools.count(1):
            turns = conversation.get(f"session_{session}")
            if turns is None:
                break
            for turn in turns:
                yield f"{turn['speaker']} said: {turn['text']}"


def tells(sentence):
    return SHORTEST <= len(sentence.split()) <= LONGEST and not sentence.endswith("?")


def others(count):
    """So many lines, always the same ones."""
    lines = []
    for source, share in ((talks, 0.5), (treebank, 1)):
        found = sorted({" ".join(line.split()) for line in source() if tells(line)})
        random.Random(30).shuffle(found)
        lines += found[: int((count - len(lines)) * share)]
    random.Random(31).shuffle(lines)
    return lines
