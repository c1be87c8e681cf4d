#!/usr/bin/env python3
"""How many of the names that are spoken in the made evening the memory has right.

    benches/evening_names.py [ENGRAMD] [--known] [--recording FILE] [--labels FILE] [--json] [--set KEY=VALUE ...]

The evening (scripts/evening.sh) is replayed with words. Of every name that its text holds, an utterance of that moment is
looked for in the memory. `written` are names that stand there in their own spelling, letter case and marks aside;
`by_sound` those that stand otherwise and are known to be meant all the same (`heard` of `show`). `taken_for_another` are
words that were taken for a name which nobody said there. With --known the memory is told of everybody beforehand, as an
operator would ("… is a friend of the family"); without, it knows who gives a name in the evening itself.

The voices are synthetic (Kokoro) and the room is clean; names are pronounced as their own language would, roughly.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

from asker import Asker
from daemon import Process, free_port, options

HERE = Path(__file__).resolve().parent


def folded(word):
    """Lower case, without marks, without the ending of a genitive."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
    return re.sub(r"'s?$", "", plain.replace("\u2019", "'").lower().strip(".,!?;:\"'"))


def words(text):
    return {folded(word) for word in re.split(r"[\s\u2014-]+", text)}


def mentions(truth):
    """Name, and the second at which it is spoken."""
    names = {folded(name): name for name in truth["names"]}
    for turn in truth["turns"]:
        for word in turn["words"]:
            if (name := folded(word["w"])) in names:
                yield names[name], (word["start"] + word["end"]) / 2


def tell(engramd, store, names):
    port = free_port()
    more = options(["robot.id=rob", f"mqtt.listen=127.0.0.1:{port}", f"mqtt.listen_v5=127.0.0.1:{free_port()}"])
    with Process([engramd, "run", *store, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        asker = Asker(port)
        asker.wait_online()
        for number, name in enumerate(names):
            document = {"text": f"{name} is a friend of the family.", "entities": [name]}
            _, reply = asker.request("remember", f"n{number}", document)
            if "error" in reply:
                sys.exit(f"{name}: {reply['error']['message']}")


def ask(engramd, store, *what):
    told = subprocess.run([engramd, *what, "--json", *store], check=True, stdout=subprocess.PIPE)
    return json.loads(told.stdout)


def measure(engramd, recording, truth, known, settings):
    with tempfile.TemporaryDirectory() as folder:
        store = ["--data-dir", folder, *options(settings)]
        if known:
            tell(engramd, store, truth["names"])
        replay = [engramd, "replay", recording, "--start-time", truth["start"], "--no-keys", *store]
        subprocess.run(replay, check=True, stdout=subprocess.DEVNULL)
        query = (
            "SELECT id, text, start, end FROM memories WHERE kind = 'utterance' AND start >= "
            f"{truth['start_unix_ns']} ORDER BY start"
        )
        said = []
        for memory, text, *span in ask(engramd, store, "sql", query, "--limit", "10000")["rows"]:
            span = [(int(at) - truth["start_unix_ns"]) / 1e9 for at in span]
            heard = ask(engramd, store, "show", memory).get("heard", [])
            said.append((span, words(text), {folded(one["sounds_like"]) for one in heard}))
    counts = {"names": 0, "written": 0, "by_sound": 0, "missed": [], "taken_for_another": []}
    due = []
    for name, at in mentions(truth):
        due.append((folded(name), at))
        there = [one for one in said if one[0][0] - 0.3 <= at <= one[0][1] + 0.3]
        counts["names"] += 1
        if any(folded(name) in written for _, written, _ in there):
            counts["written"] += 1
        elif any(folded(name) in heard for _, _, heard in there):
            counts["by_sound"] += 1
        else:
            counts["missed"].append([name, round(at, 1)])
    for (start, end), _, heard in said:
        real = {name for name, at in due if start - 0.5 <= at <= end + 0.5}
        counts["taken_for_another"] += [[name, round(start, 1)] for name in sorted(heard - real)]
    counts["right_share"] = round((counts["written"] + counts["by_sound"]) / max(counts["names"], 1), 4)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engramd", nargs="?", default=str(HERE.parent / "target/debug/engramd"))
    parser.add_argument("--known", action="store_true", help="the memory is told of everybody beforehand")
    parser.add_argument("--recording", default=str(HERE.parent / "target/evening/evening.wav"))
    parser.add_argument("--labels", help="default: the recording's name with .truth.json")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    chosen = parser.parse_args()
    labels = Path(chosen.labels or re.sub(r"\.\w+$", ".truth.json", chosen.recording))
    for path in (Path(chosen.recording), labels):
        if not path.exists():
            sys.exit(f"{path} is not there: scripts/evening.sh makes the evening")
    truth = json.loads(labels.read_text())
    counts = measure(chosen.engramd, chosen.recording, truth, chosen.known, chosen.set)
    if chosen.json:
        print(json.dumps(counts, ensure_ascii=False))
        return
    for key, value in counts.items():
        print(f"{key:18} {value}")


if __name__ == "__main__":
    main()
