"""What the programs of the parser gate share: the gold file and dependency trees in CoNLL-U."""

from pathlib import Path
from typing import NamedTuple


class Word(NamedTuple):
    form: str
    lemma: str
    pos: str
    tag: str
    head: int  # 1-based; 0 is the root
    dep: str
    space: bool  # a space stands behind it


class Clause(NamedTuple):
    id: str
    predicate: str
    subject: str
    object: str
    place: str
    wanted: str
    source: str
    text: str


def read_gold(path):
    """Per clause the list of its readings, in the file's order."""
    clauses = []
    for line in Path(path).read_text().splitlines():
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        other = fields[0].endswith("/")
        clause = Clause(fields[0].rstrip("/"), *fields[1:])
        if other:
            clauses[-1].append(clause)
        else:
            clauses.append([clause])
    return clauses


def sentences_of(clauses):
    """(id, text) of each sentence, once."""
    return list(dict.fromkeys((readings[0].id, readings[0].text) for readings in clauses))


def read_conllu(path):
    """Sentences as lists of words; multiword lines and empty nodes are left out."""
    return [words for _, words in read_named(path)]


def read_named(path):
    id, words, found = None, [], []
    for line in [*Path(path).read_text().splitlines(), ""]:
        if line.startswith("# sent_id = "):
            id = line.split(" = ")[1]
        elif not line and words:
            found.append((id, words))
            words = []
        elif line and line[0].isdigit():
            f = line.split("\t")
            if f[0].isdigit():
                words.append(Word(f[1], f[2], f[3], f[4], int(f[6]), f[7], "SpaceAfter=No" not in f[9]))
    return found


def bare(words):
    """As a recogniser without case and punctuation writes it; None where less than two words are left."""
    heads = {w.head for w in words}
    keep = [i for i, w in enumerate(words) if w.pos != "PUNCT" or i + 1 in heads]
    if len(keep) < 2:
        return None
    at = {0: 0, **{i + 1: n for n, i in enumerate(keep, 1)}}
    out = [words[i]._replace(form=words[i].form.lower(), head=at[words[i].head], space=True) for i in keep]
    for i in range(len(out) - 1):
        if out[i + 1].form in {"n't", "'s", "'re", "'ve", "'ll", "'m", "'d", "nt", "'"}:
            out[i] = out[i]._replace(space=False)
    return out
