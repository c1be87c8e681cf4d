"""Judges an answer against what a story says it should hold: leniently and strictly. Pure functions.

A question has `want`: groups of alternatives, of each of which one must stand in the answer (whole words, any case; a
date like 2026-11-09 stands for its spellings), and `not`: words that make it wrong. An answer that says it doesn't know
is `unknown`, or, where the story tells nothing of it (`answerable` false), right; there an answer is right only if it
has what `want` asks for. A question with `denies`, groups as in `want`, is wrong if the answer tells them without denying
it. The wants come from the story, not from what any program said.

Lenient: the wanted words may stand anywhere in the answer; a quoted note that tells it counts, and so does the third.
Strict: they must stand in the first sentence, and of quotations only the first counts. What is right strictly is right
leniently; words that make an answer wrong do so wherever they stand, under either judge.
"""

import datetime
import functools
import re
from collections import Counter

VERDICTS = ("right", "wrong", "unknown")
# Ways of saying that nothing is known of it, and of saying that it isn't so.
DENIALS = ["i don't know", "i do not know", "don't know of", "no record", "never met", "not that i know"]
NEGATIONS = ["no", "not", "never", "nobody", "isn't", "aren't", "wasn't", "weren't", "didn't", "doesn't", "don't", "can't"]
QUOTATION = re.compile(r"“[^”]*”|\"[^\"]*\"|«[^»]*»")
# Ends a sentence: a full stop that is no abbreviation's or initial's, at the end or before white space.
END = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\b[A-Z])[.!?]+(?=\s|$)")


def spellings(alternative):
    """A date in the ways that people and answers write it; anything else as it is."""
    try:
        day = datetime.date.fromisoformat(alternative)
    except ValueError:
        return [alternative]
    number = day.day
    ending = "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    ways = [alternative]
    for month in (f"{day:%B}", f"{day:%b}"):
        for word in (str(number), f"{number}{ending}"):
            ways += [f"{word} {month}", f"{word} of {month}", f"{month} {word}", f"the {word} of {month}"]
    return ways


def plain(words):
    return " ".join(words.casefold().replace("’", "'").split())


@functools.cache
def whole_words(alternative):
    ways = "|".join(re.escape(plain(way)) for way in spellings(alternative))
    return re.compile(rf"(?<!\w)(?:{ways})(?!\w)")


def holds(text, alternative):
    return whole_words(alternative).search(text) is not None


def first_sentence(answer):
    """The first sentence of an answer, with at most one quotation, whole: "I was told: “A. B.” and “C.”" → up to “A. B.”"""
    quoted = QUOTATION.search(answer)
    end = END.search(answer)
    if end and not (quoted and quoted.start() < end.end()):
        return answer[: end.end()]
    if not quoted:
        return answer
    after = quoted.end()
    rest = answer[after:]
    stops = [found.start() for found in (END.search(rest), QUOTATION.search(rest)) if found]
    closed = quoted.group()[-2:-1] in (".", "!", "?") and re.match(r"\s+[A-Z“\"«]|$", rest)
    return answer[: after + (0 if closed else min(stops, default=len(rest)))]


def verdict(question, reply, strict=False):
    """`right`, `wrong` or `unknown` of a reply with `answer` and `abstained`."""
    answerable, want = question.get("answerable", True), question.get("want", [])
    if reply["abstained"]:
        return "unknown" if answerable else "right"
    whole = plain(reply["answer"])
    heard = plain(first_sentence(reply["answer"])) if strict else whole
    told = all(any(holds(heard, way) for way in group) for group in want)
    if "denies" in question:
        untrue = all(any(holds(whole, way) for way in group) for group in question["denies"])
        return "wrong" if untrue and not any(holds(heard, word) for word in NEGATIONS) else "right"
    fine = told and not any(holds(whole, word) for word in question.get("not", []))
    return "right" if fine and (answerable or want) else "wrong"


def judged(question, reply):
    """Both verdicts, by the name of the judge."""
    return {"lenient": verdict(question, reply), "strict": verdict(question, reply, strict=True)}


def tally(verdicts):
    """Counts, and `score` in -1..1: right 1, "I don't know" 0, wrong -1: a wrong answer costs twice an "I don't know"."""
    count = Counter(verdicts)
    asked = sum(count.values())
    score = round((count["right"] - count["wrong"]) / asked, 3) if asked else None
    return {"asked": asked, **{word: count[word] for word in VERDICTS}, "score": score}


def consistent(forms):
    """Of questions right in one form, how many are right in every form. `forms`: per question its forms' verdicts."""
    once = [verdicts for verdicts in forms if "right" in verdicts]
    every = sum(all(word == "right" for word in verdicts) for verdicts in once)
    return {"right_in_one": len(once), "right_in_every": every, "share": round(every / len(once), 3) if once else None}


def reliability(told, bins=10):
    """Confidence told against share right. `told`: pairs of a confidence in 0..1 and whether it was right.

    `gap` is the expected calibration error: the mean over the answers of their bin's |mean confidence - share right|
    (Guo et al. 2017, "On calibration of modern neural networks").
    """
    rows, gap = [], 0.0
    for number in range(bins):
        inside = [pair for pair in told if min(int(pair[0] * bins), bins - 1) == number]
        if inside:
            confidence = sum(pair[0] for pair in inside) / len(inside)
            right = sum(pair[1] for pair in inside) / len(inside)
            rows.append({"from": number / bins, "told": len(inside), "confidence": round(confidence, 3), "right": round(right, 3)})
            gap += len(inside) * abs(confidence - right)
    return {"bins": rows, "told": len(told), "gap": round(gap / len(told), 3) if told else None}
