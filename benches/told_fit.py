#!/usr/bin/env python3
"""Fits the weights by which one sentence is picked that answers a question (src/answer/meaning/weights.toml).

    benches/told_fit.py ENGRAMD STORY [STORY ...] [--write] [--ridge .5] [--set KEY=VALUE ...]

`engramd bench told --candidates` tells what each sentence has in common with each question; the judge (told_judge.py) says
which would answer it. The model is a softmax over the sentences and "nothing of it" at 0; an answerable question is
learned a second time without the sentences that answer it, at half the weight, with "nothing of it" as the answer.

Printed is what the weights of all other stories make of each: of the questions with a sentence that answers, the share
where it is the likeliest, and right, wrong and not known of all at the threshold of the answerer. Questions whether
something is so are left out: no sentence alone answers them with yes or no. --write puts the weights of all stories where
the answerer reads them (build anew).
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from daemon import options
from told_judge import verdict

WEIGHTS = Path(__file__).resolve().parent.parent / "src/answer/meaning/weights.toml"
# As in src/answer/meaning/mod.rs.
LEAST = 0.4
WITHOUT_ANSWER = 0.5
WHETHER = ("is", "are", "was", "were", "did", "does", "do", "has", "have", "had", "can", "could", "will", "would", "should")


def looked_at(engramd, story, settings):
    """Questions of a story: names and values of the features, which sentences answer, their notes."""
    command = [engramd, "bench", "told", story, "--candidates", "--json", *options(settings)]
    told = subprocess.run(command, capture_output=True, text=True)
    if told.returncode:
        sys.exit(f"{story}: {told.stderr.strip()}")
    rows = []
    for question, answered in zip(json.load(open(story))["questions"], json.loads(told.stdout)):
        candidates = answered.get("candidates", [])
        if not candidates or question["question"].split()[0].lower() in WHETHER:
            continue
        answerable = question.get("answerable", True)
        fits = [
            answerable and verdict(question, {"answer": one["answer"], "abstained": False}) == "right"
            for one in candidates
        ]
        features = [one["features"] for one in candidates]
        notes = [one["note"] for one in candidates]
        rows.append({"features": features, "fits": np.array(fits, float), "notes": notes, "answerable": answerable})
    return rows


def matrices(rows, names):
    for row in rows:
        row["x"] = np.array([[features.get(name, 0.0) for name in names] for features in row["features"]])


def without_answer(rows, names):
    """The answerable questions without the sentences that answer them."""
    for row in rows:
        left = [at for at, fits in enumerate(row["fits"]) if not fits]
        if not row["fits"].any() or not left:
            continue
        x = row["x"][left].copy()
        for behind, of in (("behind_cover", "cover"), ("behind_cosine", "cosine")):
            column = x[:, names.index(of)]
            x[:, names.index(behind)] = column.max() - column
        yield {**row, "x": x, "fits": np.zeros(len(left)), "weight": WITHOUT_ANSWER}


def fitted(rows, names, ridge, steps=600, rate=0.08):
    """Weights by Adam on the likelihood of what answers, with a ridge."""
    rows = [*rows, *without_answer(rows, names)]
    most = max(len(row["fits"]) for row in rows)
    x = np.zeros((len(rows), most, len(names)))
    mask, fits = np.full((len(rows), most), -1e9), np.zeros((len(rows), most))
    share = np.array([row.get("weight", 1.0) for row in rows])
    for at, row in enumerate(rows):
        count = len(row["fits"])
        x[at, :count], mask[at, :count], fits[at, :count] = row["x"], 0, row["fits"]
    target = np.concatenate([(fits.sum(1) == 0)[:, None].astype(float), fits], 1)
    weights, mean, square = (np.zeros(len(names)) for _ in range(3))
    for step in range(1, steps + 1):
        scores = np.concatenate([np.zeros((len(rows), 1)), x @ weights + mask], 1)
        p = np.exp(scores - scores.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        wanted = p * target
        wanted /= np.maximum(wanted.sum(1, keepdims=True), 1e-12)
        gradient = np.einsum("ij,ijk->k", (p - wanted)[:, 1:] * share[:, None], x)
        gradient = (gradient + ridge * weights) / share.sum()
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        weights -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def tried(rows, weights):
    """Right, wrong and not known; likeliest right, and of how many."""
    counts, first, of = [0, 0, 0], 0, 0
    for row in rows:
        p = np.exp(row["x"] @ weights)
        p /= p.sum() + 1
        best = int(p.argmax())
        fits = bool(row["fits"][best])
        if row["fits"].any():
            first, of = first + fits, of + 1
        told = sum(one for one, note in zip(p, row["notes"]) if note == row["notes"][best])
        if told >= LEAST:
            counts[0 if fits else 1] += 1
        else:
            counts[2 if row["answerable"] else 0] += 1
    return counts, first, of


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("engramd")
    arguments.add_argument("stories", nargs="+", metavar="STORY")
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--ridge", type=float, default=0.5)
    arguments.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    asked = arguments.parse_args()
    stories = {Path(story).stem: looked_at(asked.engramd, story, asked.settings) for story in asked.stories}
    names = sorted({name for rows in stories.values() for row in rows for one in row["features"] for name in one})
    for rows in stories.values():
        matrices(rows, names)
    print(f"{'weights of the others':<24}{'likeliest':>10}{'right':>8}{'wrong':>8}{'unknown':>8}")
    for left_out, rows in stories.items():
        others = [row for name, other in stories.items() if name != left_out for row in other]
        if others:
            counts, first, of = tried(rows, fitted(others, names, asked.ridge))
            shares = "".join(f"{count / len(rows):>8.2f}" for count in counts)
            print(f"{left_out:<24}{first / max(of, 1):>10.2f}{shares}")
    if asked.write:
        weights = fitted([row for rows in stories.values() for row in rows], names, asked.ridge)
        head = "# Weights of what a sentence has in common with a question (features.rs), fitted by benches/told_fit.py.\n"
        WEIGHTS.write_text(head + "".join(f"{name} = {weight:.3f}\n" for name, weight in zip(names, weights)))


if __name__ == "__main__":
    main()
