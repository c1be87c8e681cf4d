#!/usr/bin/env python3
"""How many questions about what it was told and saw a daemon answers rightly.

    benches/told.py [ENGRAMD] [--scenario household|workshop|carehome|museum|FILE] [--sets] [--without-daemon]
                    [--alone] [--among N] [--json] [--verbose] [--set KEY=VALUE ...]

A scenario (benches/told/*.json) is a story of some weeks: a recording with the names of the people in it, in the order
in which they first come into view, notes and facts with their local times, and questions at one moment, `now`. The
recording is looked for in ENGRAM_SHARED or ../shared and replayed without words. Everything is told and asked over
MQTT, in order, one after the other. A story may have `followups`: pairs of a question `first` (`first_want`) and one
that leans on it, `then` (`want`, `not`); both are asked with one `conversation`.

Beside every figure stand those of the plainest answerer, which quotes the best note, or the best three, that BM25 finds
(told_baseline.py). Each answer is judged twice (told_judge.py): leniently, where the right words may stand anywhere in
it, and strictly, where they must stand in the first sentence and one quotation counts. `score` is right less wrong: a
wrong answer costs twice an "I don't know". Neither judge sees whether the rest of an answer misleads.

--sets also asks what is made by program out of the story (told_variants.py): its questions in other forms (lower case,
contractions, three paraphrases, the whole story on other days), of which a consistent answerer gets all or none right,
and questions to which the story's answer is wrong (people never told, roles changed, notes negated). It takes about ten
times as long. --without-daemon gives the baseline alone, in a second. --alone asks notes alone (`engramd bench told`): no
recording, no percepts, no rules, only the reading of sentences (src/answer/meaning). --among N asks notes alone that stand
among N other sentences (told_among.py), as in a memory of months; so does the baseline.

    benches/told.py --scenario museum                       the usual figure
    benches/told.py --scenario museum --sets --json > F     everything, to compare with another build
    benches/told.py --scenario museum --verbose             also what was not right

The stories of benches/told were looked at while the answering was built: their figures are those of known stories (the first
four by the rules of old, all by what reads them now). Those of benches/told/unseen were not.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from zoneinfo import ZoneInfo

import told_among
import told_figures as figures
import told_variants as variants
from asker import Asker
from daemon import Process, free_port, options, percentile
from told_baseline import Quoter
from told_judge import judged

HERE = Path(__file__).resolve().parent
SEEING = ["models.set=edge", "transcriber.kind=none"]
BASELINES = {"BM25 top 1": 1, "BM25 top 3": 3}


# ---------------------------------------------------------------- answerers


class Daemon:
    """A daemon that saw a story's recording: asks it over MQTT."""

    def __init__(self, engramd, scenario, settings, folder):
        port = free_port()
        own = ["robot.id=rob", f"robot.timezone={scenario['timezone']}", "mqtt.reply_rate=0", "mqtt.request_rate=0"]
        own += [f"mqtt.listen=127.0.0.1:{port}", f"mqtt.listen_v5=127.0.0.1:{free_port()}", *SEEING, *settings]
        store = ["--data-dir", f"{folder}/data", *options(own)]
        if "recording" in scenario:
            replay(engramd, scenario["recording"], store)
        self.process = Process([engramd, "run", *store], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.asker = Asker(port)
        self.now, self.asked, self.conversation = scenario["now"], 0, None

    def ask(self, question, conversation=None):
        """The reply, with the milliseconds it took; `conversation` is left out if the daemon takes none."""
        document = {"question": question, "now": self.now}
        if conversation and self.conversation is not False:
            document["conversation"] = conversation
        self.asked += 1
        ms, reply = self.asker.ask(f"q{self.asked}", **document)
        if "conversation" in document and "conversation" in reply.get("error", {}).get("message", ""):
            self.conversation = False
            return self.ask(question)
        if "error" in reply:
            reply = {"answer": reply["error"]["message"], "abstained": False}
        elif "conversation" in document:
            self.conversation = True
        return {**{key: reply[key] for key in ("answer", "abstained", "confidence") if key in reply}, "ms": round(ms, 2)}


class Baseline(Quoter):
    def ask(self, question, conversation=None):
        return super().ask(question)


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


def tell_all(asker, scenario):
    asker.wait_online()
    if "recording" in scenario:
        name_the_seen(asker, scenario["recording"]["names"])
    zone = ZoneInfo(scenario["timezone"])
    for number, entry in enumerate(scenario["notes"]):
        tell(asker, "remember", f"n{number}", note(entry, zone))


# ---------------------------------------------------------------- asking


def examine(answerer, questions):
    """The questions with the answers and both verdicts."""
    rows = []
    for number, question in enumerate(questions):
        reply = answerer.ask(question["question"])
        rows.append({"of": number, **question, **reply, **judged(question, reply)})
    return rows


def follow(answerer, followups):
    """Pairs of questions in one conversation each: the rows of the second ones."""
    rows = []
    for number, pair in enumerate(followups):
        name = f"pair-{number}"
        first = answerer.ask(pair["first"], name)
        then = {"kind": "follow-up", "question": pair["then"], "want": pair["want"], "not": pair.get("not", [])}
        reply = answerer.ask(pair["then"], name)
        before = judged({"want": pair["first_want"]}, first)["lenient"]
        rows.append({**then, "first": pair["first"], "first_verdict": before, **reply, **judged(then, reply)})
    return rows


def stories(scenario, name, wanted):
    """What is asked, by how the story is told: a list of (story, {set: questions}); the first has the story's own."""
    plain = {"story": scenario["questions"]}
    if not wanted:
        return [(scenario, plain)]
    plain["lower"] = variants.reworded(scenario["questions"], str.lower)
    plain["contracted"] = variants.reworded(scenario["questions"], variants.contracted)
    written = HERE / "told" / "paraphrases" / f"{name}.json"
    if written.exists():
        ways = json.loads(written.read_text())
        plain |= {f"paraphrase {place + 1}": variants.paraphrased(scenario["questions"], ways, place) for place in range(3)}
    told = [(scenario, plain)]
    people = json.loads((HERE / "told" / "people.json").read_text())
    if name in people["told"]:
        own = people["told"][name]
        plain["stranger"] = variants.strangers(scenario["questions"], own, people["strangers"])
        plain["roles"] = variants.roles(scenario, own)
        contrary = variants.negated(scenario, own)
        if contrary["questions"]:
            told.append((contrary, {"negated": contrary["questions"]}))
    other = variants.shifted(scenario)
    return [*told, (other, {"shifted": other["questions"]})]


FORMS = ("story", "lower", "contracted", "paraphrase 1", "paraphrase 2", "paraphrase 3", "shifted")


def answers(told, answerer_of):
    """The rows of every set, and those of the follow-ups; `answerer_of` a story is a context with an `ask`."""
    rows, pairs, conversation = {}, None, None
    for story, sets in told:
        with answerer_of(story) as answerer:
            for name, questions in sets.items():
                rows[name] = examine(answerer, questions)
            if "story" in sets and story.get("followups"):
                pairs = follow(answerer, story["followups"])
                conversation = getattr(answerer, "conversation", None)
    return rows, pairs, conversation


class Told:
    """A context around an answerer that needs nothing stopped."""

    def __init__(self, answerer):
        self.answerer = answerer

    def __enter__(self):
        return self.answerer

    def __exit__(self, *_):
        pass


class Running:
    """A daemon that was told a story, for the length of a block; its store goes with it."""

    def __init__(self, engramd, story, settings):
        self.given = engramd, story, settings

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.daemon = Daemon(*self.given, self.folder.name)
        try:
            tell_all(self.daemon.asker, self.given[1])
        except BaseException:
            self.__exit__()
            raise
        return self.daemon

    def __exit__(self, *_):
        self.daemon.process.stop()
        self.folder.cleanup()


class Alone:
    """What notes alone answer (`engramd bench told`), among others if there are any: all questions of a story at once."""

    def __init__(self, engramd, story, sets, settings, others):
        self.others = others
        self.command = [engramd, "--json", *options([*SEEING, *settings]), "bench", "told"]
        self.story = {key: story[key] for key in ("timezone", "now", "recording", "notes") if key in story}
        followups = [pair[which] for pair in story.get("followups", []) for which in ("first", "then")]
        asked = [question["question"] for questions in sets.values() for question in questions]
        self.story["questions"] = [{"question": text} for text in dict.fromkeys([*asked, *followups])]

    def __enter__(self):
        with tempfile.TemporaryDirectory() as folder:
            story, among = Path(folder) / "story.json", Path(folder) / "others.txt"
            story.write_text(json.dumps(self.story))
            among.write_text("\n".join(self.others))
            more = ["--among", among] if self.others else []
            done = subprocess.run([*self.command, story, *more], stdout=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"engramd bench told ended with {done.returncode}")
        self.replies = {reply["question"]: reply for reply in json.loads(done.stdout)}
        return self

    def __exit__(self, *_):
        pass

    def ask(self, question, conversation=None):
        return self.replies[question]


def report(args, scenario, name, known):
    told = stories(scenario, name, args.sets)
    others = told_among.others(args.among) if args.among else []
    spread = [{"at": scenario["notes"][0]["at"], "text": text} for text in others]
    found = {}
    conversation = None
    if not args.without_daemon:
        def answerer(story):
            if args.alone or others:
                sets = next(sets for one, sets in told if one is story)
                return Alone(args.engramd, story, sets, args.set, others)
            return Running(args.engramd, story, args.set)

        *found["engramd"], conversation = answers(told, answerer)
    for label, top in BASELINES.items():
        *found[label], _ = answers(told, lambda story, top=top: Told(Baseline([*story["notes"], *spread], top)))
    first = next(iter(found))
    own = found[first][0]
    document = {
        "scenario": name,
        "known": known,
        "answerers": {label: figures.both(rows["story"]) for label, (rows, _) in found.items()},
        "kinds": figures.kinds(own["story"]),
    }
    if args.sets:
        names = [one for one in own if one != "story"]
        document["sets"] = {one: {label: figures.both(rows[one]) for label, (rows, _) in found.items()} for one in names}
        forms = [form for form in FORMS if form in own]
        document["consistency"] = {label: figures.consistency([rows[form] for form in forms]) for label, (rows, _) in found.items()}
    if found[first][1]:
        document["followups"] = {label: figures.both(pairs) for label, (_, pairs) in found.items()}
        document["conversation"] = conversation
    if not args.without_daemon:
        took = [row["ms"] for row in own["story"]]
        document["reliability"] = figures.calibration(own["story"])
        document["ask_ms"] = {"p50": percentile(took, 0.5), "p99": percentile(took, 0.99)}
    return document, {one: rows for one, rows in own.items()} | ({"follow-ups": found[first][1]} if found[first][1] else {})


def failure(question):
    want = " and ".join(" / ".join(group) for group in question.get("want", []))
    if "denies" in question:
        want = "it denied: " + " and ".join(" / ".join(group) for group in question["denies"])
    elif not question.get("answerable", True):
        want = "I don't know" + (f", or {want}" if want else "")
    if question.get("not"):
        want += f"; not {' / '.join(question['not'])}"
    verdicts = f"lenient {question['lenient']}, strict {question['strict']}"
    return f"{verdicts}: {question['question']}\n    want {want}\n    said {question['answer']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engramd", nargs="?", default="target/release/engramd", help="the daemon asked (target/release/engramd)")
    parser.add_argument("--scenario", default="household", help="household, workshop, carehome, museum, or a story's file")
    parser.add_argument("--sets", action="store_true", help="also the sets made by program out of the story")
    parser.add_argument("--alone", action="store_true", help="what notes alone answer, without percepts and rules")
    parser.add_argument("--among", type=int, default=0, metavar="N", help="notes alone among so many other sentences")
    parser.add_argument("--without-daemon", action="store_true", help="the BM25 baseline alone")
    parser.add_argument("--json", action="store_true", help="one document instead of tables")
    parser.add_argument("--verbose", action="store_true", help="what was not right; with --json every question and answer")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the daemon")
    args = parser.parse_args()
    own = HERE / "told" / f"{args.scenario}.json"
    path = own if own.exists() else Path(args.scenario)
    try:
        scenario = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        parser.error(f"can't read the story {path}: {error}")
    if not args.without_daemon and not Path(args.engramd).exists():
        parser.error(f"{args.engramd} is not there: build it, name another, or ask --without-daemon")
    document, rows = report(args, scenario, path.stem, own.exists())
    if args.json:
        print(json.dumps({**document, "answers": rows} if args.verbose else document, ensure_ascii=False))
        return
    if args.verbose:
        for name, asked in rows.items():
            missed = [failure(row) for row in asked if row["lenient"] != "right" or row["strict"] != "right"]
            print(f"== {name}", *missed, "", sep="\n")
    print(*figures.tables(document), sep="\n")


if __name__ == "__main__":
    main()
