#!/usr/bin/env python3
"""The gate of the parser: predicate, subject, object and place of 200 sentences and questions against what is written by hand.

Usage: parse_gate.py PARSED.conllu [--gold FILE] [--json] [--verdicts FILE] [--as-labelled]

PARSED.conllu holds the trees of `benches/parse/gold.tsv` (`# sent_id`), in Universal Dependencies or in ClearNLP's labels
as spaCy's models have them. The same plain rules read both: no list of verbs, only which label ties what. A sentence is
right where every clause of it is right in every part; `--verdicts` writes one line a sentence. Three things that no tree
may say are put right first, unless `--as-labelled`: two subjects of one verb, something that hangs on an auxiliary, and a
preposition at the end that nothing hangs on while the question word does elsewhere ("What is Marek allergic to?"). The
trees come from `benches/parse/with_spacy.py`.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "parse"))
from trees import read_gold, read_named

GOLD = Path(__file__).parent / "parse/gold.tsv"
PARTS = ["predicate", "subject", "object", "place", "wanted"]
SUBJECT = {"nsubj", "csubj", "nsubj:outer", "csubj:outer"}
PASSIVE_SUBJECT = {"nsubjpass", "nsubj:pass", "csubjpass", "csubj:pass"}
OBJECT = {"dobj", "obj", "attr", "acomp", "oprd"}
PASSIVE = {"auxpass", "aux:pass"}
AUX = PASSIVE | {"aux"}
CLAUSES = {"root", "ccomp", "parataxis", "conj", "advcl", "dep", "xcomp", "appos", "discourse", "vocative"}
OBLIQUE = {"obl", "nmod", "obl:npmod", "obl:tmod", "obl:unmarked", "nmod:tmod", "nmod:npmod", "npadvmod", "obl:agent"}
WH = {"who", "what", "which", "whose", "whom", "when", "where", "why", "how"}
HERE = {"here", "there", "home", "upstairs", "downstairs", "outside", "inside"}
BE = {"be", "is", "are", "was", "were", "am", "been", "being", "'s", "'re", "'m"}
REPAIR = True
STRANDED = {"to", "for", "in", "of", "about", "with", "from", "at", "on", "like", "by"}
# Prepositions that can tell a place; what hangs on others is none.
PLACES = set(
    "in on at to from into onto over under above below behind beside near by around across through inside outside next "
    "between against along towards toward up down off out within".split()
)
TIMES = set(
    "monday tuesday wednesday thursday friday saturday sunday mondays fridays january february march april may june july "
    "august september october november december morning afternoon evening night noon midnight today tomorrow yesterday "
    "to-morrow to-night tonight day days week weeks month months year years hour hours minute minutes moment moments "
    "time times o'clock half quarter past lunch dinner breakfast one two three four five six seven eight nine ten eleven "
    "twelve twenty now being way third morrow".split()
)


class Tree:
    def __init__(self, words):
        self.words = [None, *words]
        self.under = defaultdict(list)
        for i, word in enumerate(words, 1):
            self.under[word.head].append(i)
        if REPAIR:
            for i in range(1, len(words) + 1):
                self.relieve(i)

    def relieve(self, i):
        """Nothing hangs on an auxiliary: what does belongs to its verb."""
        word = self.words[i]
        if word.head and word.dep in AUX and self.under[i]:
            for c in self.under[i]:
                self.words[c] = self.words[c]._replace(head=word.head)
            self.under[word.head] = sorted(self.under[word.head] + self.under.pop(i))

    def form(self, i):
        return self.words[i].form.lower().replace("’", "'")

    def dep(self, i):
        return self.words[i].dep

    def of(self, i, labels):
        return [c for c in self.under[i] if self.dep(c) in labels]

    def listed(self, i):
        """`i` and what is coordinated with it."""
        out = [i]
        for c in self.of(i, {"conj"}):
            out += self.listed(c)
        return out

    def is_verb(self, i):
        return self.words[i].pos in {"VERB", "AUX"} or self.words[i].tag.startswith("VB")


def lemmas():
    """Form → lemmas, of the verbs of the treebank that lies beside the gate."""
    table = defaultdict(set)
    for line in (Path(__file__).parent / "parse/verbs.tsv").read_text().splitlines():
        form, *found = line.split("\t")
        table[form].update(found)
    return table


VERBS = lemmas()


def lemmas_of(form):
    if form in BE:
        return {"be"}
    out = set(VERBS.get(form, ())) | {form}
    for end, puts in {"ies": ["y"], "es": ["", "e"], "s": [""], "ied": ["y"], "ed": ["", "e"], "ing": ["", "e"]}.items():
        if form.endswith(end) and len(form) > len(end) + 1:
            stem = form[: -len(end)]
            out.update(stem + p for p in puts)
            if len(stem) > 2 and stem[-1] == stem[-2]:
                out.add(stem[:-1])
    return out


class Reading:
    """One clause as a tree gives it. `chain`: word indices of the predicate; 0 stands for a `be` that is a copula."""

    def __init__(self, tree, head, outer=None):
        self.tree, self.head = tree, head
        self.cop = bool(tree.of(head, {"cop"}))
        self.chain = [0] if self.cop else [head]
        self.inner = head
        while True:
            following = [
                c for c in tree.of(self.inner, {"xcomp"}) if tree.is_verb(c) and not tree.of(c, SUBJECT | PASSIVE_SUBJECT)
            ]
            if self.cop and self.inner == head or not following:
                break
            self.inner = following[0]
            self.chain.append(self.inner)
        links = [head] if self.inner == head else [head, *self.chain[1:]]
        self.links = links
        self.passive = any(tree.of(i, PASSIVE | PASSIVE_SUBJECT) for i in links)
        self.strands = self.stranded() if REPAIR else 0
        self.fronted = 0
        self.subject = self.subjects(outer)
        self.object = self.objects()
        self.where, self.maybe = self.places()
        self.wanted = self.want()
        self.swap()

    def predicate_is(self, want):
        wanted = want.split(">")
        found = [{"be"} if i == 0 else lemmas_of(self.tree.form(i)) for i in self.chain]
        return len(wanted) == len(found) and all(w in f for w, f in zip(wanted, found))

    def subjects(self, outer):
        tree = self.tree
        out = {i for i in tree.of(self.head, SUBJECT)}
        if REPAIR and len(out) > 1:
            # A clause has one subject: the one next to it. A question phrase in front of it is the object.
            first, last = min(out), max(out)
            if self.asks(first) and tree.of(self.head, {"aux"}) and not tree.of(self.head, OBJECT):
                self.fronted = first
            out = {last}
        self.passives = {i for link in self.links for i in tree.of(link, PASSIVE_SUBJECT)}
        expl = tree.of(self.head, {"expl"})
        if not out and not self.passives:
            out = {i for i in expl if tree.form(i) == "it"}
        self.existing = any(tree.form(i) == "there" for i in expl)
        if not out and not self.passives and not self.existing and outer is not None:
            if self.passive:
                self.passives = set(outer.passives)
            out = set(outer.raw_subject) if not self.passive else set()
        self.raw_subject = out
        if self.passive and not self.passives and out and not self.cop:
            # "have to be put": the subject of the chain is what is put.
            if self.inner != self.head or tree.of(self.inner, PASSIVE):
                self.passives, out = out, set()
        return {j for i in out for j in tree.listed(i)}

    def objects(self):
        tree, out = self.tree, set()
        for link in reversed(self.links):
            found = tree.of(link, OBJECT) + [
                c for c in tree.of(link, {"xcomp"}) if not tree.is_verb(c) and self.words_pos(c) not in {"ADP", "PART"}
            ]
            if self.cop and link == self.head:
                found = []
            if found and not out:
                out = {j for i in found for j in tree.listed(i)}
        if self.cop and not tree.of(self.head, {"case"}) and self.words_pos(self.head) not in {"ADV", "SCONJ"}:
            out |= {j for j in [self.head, *tree.of(self.head, {"conj"})] if j == self.head or not self.is_clause(j)}
        if self.existing and not self.subject:
            self.subject, out = out, set()
        out.discard(self.strands)
        if self.fronted and self.fronted != self.strands:
            out.add(self.fronted)
        return out | {j for i in self.passives for j in tree.listed(i)}

    def asks(self, i):
        return self.tree.form(i) in WH or any(self.asks(c) for c in self.tree.under[i])

    def in_phrase(self, i, head):
        while i and i != head:
            i = self.tree.words[i].head
        return i == head

    def stranded(self):
        """The question word that a preposition at the end belongs to ("What is Marek allergic to?"), 0 if none."""
        tree = self.tree
        last = len(tree.words) - 1
        while last and tree.words[last].pos == "PUNCT":
            last -= 1
        if tree.words[last].pos not in {"ADP", "PART", "SCONJ"} or last in self.links:
            return 0
        if tree.form(last) not in STRANDED or tree.of(last, {"pobj"}) or tree.dep(last) in {"prt", "compound:prt"}:
            return 0
        asked = [i for i in range(1, last) if tree.form(i) in {"what", "which", "who", "whom"}]
        return asked[0] if asked and tree.dep(asked[0]) in OBJECT | OBLIQUE | {"root", "nsubj", "pobj"} else 0

    def is_clause(self, i):
        return bool(self.tree.of(i, {"cop"} | SUBJECT | PASSIVE_SUBJECT)) or self.words_pos(i) in {"VERB", "AUX"}

    def words_pos(self, i):
        return self.tree.words[i].pos

    def prepositions(self, i, deep=True):
        """(prepositions, head) pairs that hang on word `i`."""
        tree, out = self.tree, []
        for c in tree.under[i]:
            dep = tree.dep(c)
            if dep in OBLIQUE:
                cases = [tree.form(k) for k in tree.of(c, {"case"})]
                cases += [tree.form(j) for k in tree.of(c, {"case"}) for j in tree.of(k, {"fixed"})]
                cases += [tree.form(k) for k in tree.of(c, {"advmod"}) if tree.form(k) in PLACES]
                if cases:
                    out.append((cases, c))
            elif dep in {"prep", "agent", "dative", "advmod", "prt", "compound:prt"} and deep:
                if dep == "advmod" and tree.form(c) in HERE:
                    out.append((["at"], c))
                for o in tree.of(c, {"pobj"}):
                    out.append(([tree.form(c)], o))
                for cases, o in self.prepositions(c):
                    out.append(([tree.form(c), *cases], o))
        return out

    def places(self):
        tree = self.tree
        found = [p for link in self.links if not (self.cop and link == 0) for p in self.prepositions(link)]
        if self.cop and tree.of(self.head, {"case"}):
            found.append(([tree.form(k) for k in tree.of(self.head, {"case"})], self.head))
        if self.cop and tree.form(self.head) in HERE:
            found.append((["at"], self.head))
        maybe = [p for o in self.object for p in self.prepositions(o)] if not self.cop else []
        if self.existing:
            maybe += [p for o in self.subject for p in self.prepositions(o)]
        keep = lambda ps: [(set(c), o) for c, o in ps if set(c) & PLACES]
        return keep(found), keep(maybe)

    def want(self):
        tree = self.tree
        for i in range(1, len(tree.words)):
            if tree.form(i) not in WH:
                continue
            at, last, cased = i, tree.dep(i), False
            while at and at not in self.links:
                dep = tree.dep(at)
                if dep in {"relcl", "acl", "acl:relcl", "advcl"} or at != i and dep in {"ccomp"}:
                    last = None
                    break
                cased |= bool(tree.of(at, {"case"})) or dep == "pobj"
                last, at = dep, tree.words[at].head
            if last is None or not at:
                continue
            if self.cop and at == self.head and i not in self.tree_under_subject():
                # The word is in the predicative phrase itself.
                if tree.of(self.head, {"case"}) or cased or i == self.strands:
                    return "oblique"
                if i == self.head:
                    return "adverb" if tree.form(i) in {"where", "when", "why", "how"} else "object"
                return "adverb" if tree.form(i) in {"where", "when", "why"} else "object"
            if cased or i == self.strands:
                return "oblique"
            if at == self.links[0] and self.fronted and self.in_phrase(i, self.fronted):
                return "object"
            if last in SUBJECT | PASSIVE_SUBJECT:
                return "subject"
            if last in OBJECT | {"xcomp"}:
                return "object"
            if last in OBLIQUE:
                return "oblique"
            if last == "advmod":
                return "adverb"
            return last
        return "whether"

    def tree_under_subject(self):
        out, todo = set(), list(self.tree.of(self.head, SUBJECT | PASSIVE_SUBJECT))
        while todo:
            i = todo.pop()
            out.add(i)
            todo += self.tree.under[i]
        return out

    def swap(self):
        """Who or what something is: the question word is the predicative, whichever way the tree has it."""
        is_be = self.chain == [0] or len(self.chain) == 1 and self.tree.form(self.chain[0]) in BE
        forms = {self.tree.form(i) for i in self.subject}
        if is_be and forms & {"who", "what"} and any(self.words_pos(i) in {"NOUN", "PROPN", "PRON"} for i in self.object):
            self.subject, self.object, self.wanted = self.object, self.subject, "object"


def readings(tree):
    out, made = [], {}

    def visit(i, outer):
        dep = tree.dep(i) if i else None
        mine = outer
        if i and dep in CLAUSES:
            folded = dep == "xcomp" and any(i in r.links for r in made.values())
            if not folded and (dep == "root" or Reading(tree, i).is_clause(i)):
                mine = Reading(tree, i, outer if dep == "conj" else None)
                made[i] = mine
                out.append(mine)
        for c in tree.under[i]:
            visit(c, mine)

    visit(0, None)
    return out


def alike(found, want):
    """Whether the words found are one of the readings wanted: `a+b` both, `a,b` either, `-` none."""
    for choice in want.split(","):
        wanted = set() if choice == "-" else set(choice.split("+"))
        if found == wanted:
            return True
    # Two words of one name: any of the listed ones.
    return len(found) == 1 and next(iter(found)) in want.split(",")


def place_is(reading, want):
    tree = reading.tree
    needed, free = [], set()
    for part in want.replace(" (", "|(").split("|"):
        optional = part.startswith("(")
        words = set(part.strip("()").split(" ")[-1].split(",")) - {"-"}
        if optional:
            free |= words
        elif words:
            needed.append(words)
    # Several places in one reading without brackets do not occur.
    sure = {tree.form(o) for _, o in reading.where}
    maybe = {tree.form(o) for _, o in reading.maybe}
    if not all(words & (sure | maybe) for words in needed):
        return False
    allowed = free.union(*needed) if needed else free
    return not [f for f in sure - allowed if f not in TIMES and not f.rstrip("stndrh").replace(",", "").isdigit()]


def judged(reading, clause):
    forms = lambda s: {reading.tree.form(i) for i in s}
    # A known name of two words ("Mrs Adeyemi") may have either as its head.
    return {
        "predicate": reading.predicate_is(clause.predicate),
        "subject": alike(forms(reading.subject), clause.subject),
        "object": alike(forms(reading.object), clause.object),
        "place": place_is(reading, clause.place),
        "wanted": clause.wanted == "-" or reading.wanted in clause.wanted.split(","),
    }


def told(reading):
    tree = reading.tree
    names = lambda s: "+".join(tree.form(i) for i in sorted(s)) or "-"
    pred = ">".join("be" if i == 0 else tree.form(i) for i in reading.chain)
    places = " ".join(f"{'/'.join(sorted(c))} {tree.form(o)}" for c, o in reading.where) or "-"
    return f"{pred} | {names(reading.subject)} | {names(reading.object)} | {places} | {reading.wanted}"


def best(tree, choices, used):
    """The parts of the clause, best reading of the tree against best reading of the gold, and which reading that was."""
    found = None
    for reading in readings(tree):
        if reading.head in used:
            continue
        for clause in choices:
            parts = judged(reading, clause)
            key = (parts["predicate"], sum(parts.values()))
            if found is None or key > found[0]:
                found = (key, parts, reading)
    if found is None or not found[1]["predicate"]:
        # No predicate, no clause: what else is alike hangs on another one.
        return {p: False for p in PARTS} | {"wanted": False}, found and found[2], False
    return found[1], found[2], True


def main():
    global REPAIR
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parsed")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--verdicts")
    parser.add_argument("--gold", default=GOLD)
    parser.add_argument("--as-labelled", action="store_true")
    args = parser.parse_args()
    REPAIR = not args.as_labelled
    trees = dict(read_named(args.parsed))
    sentences = defaultdict(list)
    for choices in read_gold(args.gold):
        sentences[choices[0].id].append(choices)
    counts = defaultdict(lambda: defaultdict(int))
    misses, lines = [], []
    for id, clauses in sentences.items():
        tree, used, wrong, gots = Tree(trees[id]), set(), [], []
        first = clauses[0][0]
        groups = {"all", first.source, "stories" if first.source.split()[0] not in {"evening", "locomo"} else "speech"}
        groups |= {first.source.split()[1] + "s"} if "stories" in groups else {"speech " + first.source.split()[1]}
        groups.discard(first.source)
        for number, choices in enumerate(clauses, 1):
            parts, reading, found = best(tree, choices, used)
            if found:
                used.add(reading.head)
            gots.append(told(reading) if reading else "nothing")
            for group in groups:
                counts[group]["clauses"] += 1
                for part, right in parts.items():
                    if part == "wanted" and choices[0].wanted == "-":
                        continue
                    counts[group][part + "_of"] += 1
                    counts[group][part] += right
            bad = [p for p in PARTS if not parts[p] and not (p == "wanted" and choices[0].wanted == "-")]
            wrong += [f"{number} {p}" if len(clauses) > 1 else p for p in bad]
        for group in groups:
            counts[group]["sentences"] += 1
            counts[group]["right"] += not wrong
        lines.append("\t".join([id, "right" if not wrong else "wrong", ", ".join(wrong), " ; ".join(gots), first.text]))
        if wrong:
            misses.append((id, first.text, wrong, gots))
    report = {
        group: {
            "sentences": c["sentences"],
            "right": round(c["right"] / c["sentences"], 3),
            **{p: round(c[p] / c[p + "_of"], 3) for p in PARTS if c[p + "_of"]},
        }
        for group, c in sorted(counts.items())
    }
    if args.verdicts:
        head = "# id\tverdict\twrong parts\tpredicate | subject | object | place | wanted, per clause\tsentence"
        Path(args.verdicts).write_text("\n".join([head, *lines]) + "\n")
    if args.json:
        print(json.dumps(report, indent=1))
        return
    print(f"{'':16} {'n':>4} {'whole':>6} " + " ".join(f"{p:>9}" for p in PARTS))
    for group, r in report.items():
        parts = " ".join(f"{r.get(p, float('nan')):>9.3f}" for p in PARTS)
        print(f"{group:16} {r['sentences']:>4} {r['right']:>6.3f} {parts}")
    for id, text, wrong, gots in misses:
        print(f"\n{id} {text}\n   wrong: {', '.join(wrong)}\n   " + "\n   ".join(gots))


if __name__ == "__main__":
    main()
