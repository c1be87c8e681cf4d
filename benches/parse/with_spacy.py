#!/usr/bin/env python3
"""Parses the judged sentences of the gate with a spaCy pipeline, or scores it on a treebank.

Usage: with_spacy.py MODEL parse GOLD [--names FILE] > OUT.conllu
       with_spacy.py MODEL score TREEBANK.conllu [--bare]     UAS and LAS without punctuation, given words

MODEL is the name of an installed package or a folder. Runs under spaCy 2.2 and 3. `parse` tells the CPU time a sentence on
standard error (one thread, after ten sentences to warm up). `--names` puts one common name in the place of every known
one before parsing, and the words as they were back into the tree. `--bare` scores without case and punctuation.
"""

import argparse
import re
import sys
import time
from pathlib import Path

import spacy
from spacy.tokens import Doc

sys.path.insert(0, str(Path(__file__).parent))
from trees import bare, read_conllu, read_gold, sentences_of


def parsed(nlp, doc):
    for _, pipe in nlp.pipeline:
        doc = pipe(doc)
    return doc


def rows(doc):
    # Whitespace tokens would be no words of a treebank.
    words = [t for t in doc if not t.is_space]
    number = {t.i: n for n, t in enumerate(words, 1)}
    for t in words:
        head = 0 if t.head.i == t.i else number[t.head.i]
        yield [number[t.i], t.text, t.lemma_ or "_", t.pos_ or "_", t.tag_ or "_", "_", head, t.dep_.lower(), "_", "_"]


STOCK = "Mary"


def masked(text, names):
    """The text with the stock name for each known name, and the names in the order of their places."""
    hidden = []

    def put(match):
        hidden.append(match.group())
        return STOCK

    if not names:
        return text, hidden
    return re.sub(rf"\b({'|'.join(map(re.escape, names))})\b", put, text, flags=re.IGNORECASE), hidden


def parse(nlp, gold, names):
    found = sentences_of(read_gold(gold))
    for _, text in found[:10]:
        nlp(text)
    took = 0
    for id, text in found:
        start = time.process_time()
        shown, hidden = masked(text, names)
        doc = nlp(shown)
        took += time.process_time() - start
        print(f"# sent_id = {id}\n# text = {text}")
        for row in rows(doc):
            if hidden and row[1] == STOCK:
                row[1] = row[2] = hidden.pop(0)
            print("\t".join(map(str, row)))
        print()
    print(f"{1000 * took / len(found):.2f} ms a sentence", file=sys.stderr)


def score(nlp, path, is_bare):
    total = heads = labels = tags = 0
    for sent in read_conllu(path):
        if is_bare:
            sent = bare(sent)
        if not sent:
            continue
        doc = parsed(nlp, Doc(nlp.vocab, words=[w.form for w in sent], spaces=[w.space for w in sent]))
        for word, t in zip(sent, doc):
            if word.pos == "PUNCT":
                continue
            total += 1
            head = 0 if t.head.i == t.i else t.head.i + 1
            tags += t.tag_ == word.tag
            if head == word.head:
                heads += 1
                labels += t.dep_.lower() == word.dep.lower()
    print(f"words {total} UAS {heads / total:.4f} LAS {labels / total:.4f} tags {tags / total:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("job", choices=["parse", "score"])
    parser.add_argument("file")
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--names")
    args = parser.parse_args()
    nlp = spacy.load(args.model, disable=["ner"])
    if args.job == "parse":
        names = Path(args.names).read_text().split() if args.names else []
        parse(nlp, args.file, names)
    else:
        score(nlp, args.file, args.bare)


if __name__ == "__main__":
    main()
