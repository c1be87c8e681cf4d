"""The plainest answerer there is: the notes that BM25 finds nearest, quoted. What any answerer must be held against.

Okapi BM25 (Robertson and Zaragoza 2009; k1 1.2, b 0.75) over the told notes, words without their commonest endings, no
meaning, no vectors, nothing of what was seen. It says "I don't know" where none of the quoted notes holds half of the
question's weight (the sum of its words' idf). Of equals, the newer note.
"""

import math
import re
from collections import Counter

K1, B, HELD = 1.2, 0.75, 0.5
# The closed classes of English: what carries no weight in a question.
CLOSED = frozenset(
    "a an the this that these those i me my we us our you your he him his she her it its they them their who whom whose "
    "what which when where why how is are was were be been am do does did have has had will would can could shall should "
    "may might must of in on at to for from by with about as and or but not no so if there here now then any some s t d ll re ve m".split()
)


def stem(word):
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + ("y" if ending in ("ied", "ies") else "")
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def terms(text):
    words = re.findall(r"[^\W_]+", text.casefold().replace("’", "'"))
    return [stem(word) for word in words if word not in CLOSED]


def told(note):
    """A note's words; a fact's three."""
    return note["text"] if "text" in note else " ".join(note["fact"])


class Quoter:
    """Answers with the `top` best notes of a story, in the form of a reply: `answer`, `abstained`."""

    def __init__(self, notes, top):
        self.notes = [told(note) for note in sorted(notes, key=lambda note: note["at"], reverse=True)]
        self.counts = [Counter(terms(text)) for text in self.notes]
        self.mean = sum(count.total() for count in self.counts) / max(len(self.counts), 1)
        self.holding = Counter(term for count in self.counts for term in count)
        self.top = top

    def idf(self, term):
        holding = self.holding[term]
        return math.log(1 + (len(self.notes) - holding + 0.5) / (holding + 0.5))

    def score(self, count, wanted):
        long = K1 * (1 - B + B * count.total() / self.mean)
        return sum(self.idf(term) * count[term] * (K1 + 1) / (count[term] + long) for term in wanted if count[term])

    def ask(self, question):
        wanted = set(terms(question))
        scores = [self.score(count, sorted(wanted)) for count in self.counts]
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        best = [place for place in order[: self.top] if scores[place] > 0]
        weight = sum(self.idf(term) for term in sorted(wanted))
        held = max((sum(self.idf(term) for term in sorted(wanted) if self.counts[place][term]) for place in best), default=0)
        if not best or held < HELD * weight:
            return {"answer": "I don't know.", "abstained": True}
        return {"answer": " ".join(f"“{self.notes[place]}”" for place in best), "abstained": False}
