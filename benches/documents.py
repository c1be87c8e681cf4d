#!/usr/bin/env python3
"""How many questions about a manual are answered with the right passage cited.

    benches/documents.py ENGRAMD --manual FILE [--questions benches/documents/tuxpaint.tsv] [--half look|held]
                         [--json] [--verbose] [--set KEY=VALUE ...]

The manual is told to an empty store (`engramd remember --file`), and each question asked of it (`engramd ask --json`). Right is an
answer whose first evidence is a passage of the document with the words that the question's line names; it counts as told where the
answer does not say that it does not know. Beside it the passage that BM25 (told_baseline.py) puts first, over the same passages, and
over the same with their headings. Questions come in two halves: `look` may be looked at, `held` is asked once.

The manual of benches/documents/tuxpaint.tsv is free (GPL-2+) and not kept here:

    apt-get download tuxpaint-data && dpkg-deb -x tuxpaint-data*.deb x
    cd x/usr/share/doc/tuxpaint-data/en && zcat README.txt.gz FAQ.txt.gz > tuxpaint.txt     # 1,733 lines, some 31 pages
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from told_baseline import Quoter, terms

HERE = Path(__file__).resolve().parent


def questions(file, half):
    for line in Path(file).read_text().splitlines():
        if line and not line.startswith("#"):
            which, question, wanted = line.split("\t")
            if half in (None, which):
                yield question, wanted.split("|")


def holds(text, wanted):
    words = " ".join(text.split())
    return any(" ".join(one.split()) in words for one in wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engramd")
    parser.add_argument("--manual", required=True)
    parser.add_argument("--questions", default=HERE / "documents/tuxpaint.tsv")
    parser.add_argument("--half", choices=["look", "held"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as store:
        run = [args.engramd, "--data-dir", store] + [word for one in args.set for word in ("--set", one)]

        def told(*words):
            done = subprocess.run([*run, *words], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{words}: {done.stderr}")
            return json.loads(done.stdout)

        document = told("remember", "--file", args.manual, "--json")
        query = "SELECT coalesce(heading, ''), text FROM passages ORDER BY number"
        rows = told("sql", query, "--limit", "10000", "--json")["rows"]
        plain = Quoter([{"text": text, "at": 0} for _, text in rows], 1)
        headed = Quoter([{"text": f"{heading}: {text}", "at": 0} for heading, text in rows], 1)

        def best(quoter, question):
            wanted = sorted(set(terms(question)))
            scores = [quoter.score(count, wanted) for count in quoter.counts]
            return quoter.notes[max(range(len(scores)), key=scores.__getitem__)]

        counts = {"right": 0, "right_told": 0, "not_known": 0, "right_in_three": 0, "bm25": 0, "bm25_headings": 0}
        asked = list(questions(args.questions, args.half))
        for question, wanted in asked:
            answer = told("ask", question, "--json")
            evidence = [one["text"] for one in answer["evidence"]]
            right = bool(evidence) and holds(evidence[0], wanted)
            counts["right"] += right
            counts["right_told"] += right and not answer["abstained"]
            counts["not_known"] += answer["abstained"]
            counts["right_in_three"] += any(holds(text, wanted) for text in evidence[:3])
            counts["bm25"] += holds(best(plain, question), wanted)
            counts["bm25_headings"] += holds(best(headed, question), wanted)
            if args.verbose:
                mark = "right" if right else "WRONG"
                bm25 = "+" if holds(best(headed, question), wanted) else "-"
                print(f"{mark} {bm25} {question}\n    {answer['answer']}", flush=True)
    result = {"questions": len(asked), "passages": document["passages"], **counts}
    print(json.dumps(result) if args.json else "\n".join(f"{key:16} {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
