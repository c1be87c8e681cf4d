"""Sets of questions made by program out of a story's own. Pure functions; the chance in them is none.

FORMS ask the same thing in other words, so each question's wants stay as they are; an answerer that understands answers
each alike: lower case, contractions, the paraphrases written down in told/paraphrases, and `shifted`, where the whole
story lies 364 days earlier (weekdays stay, every date in it moves by a day).

CHECKS ask something else, to which the story's own answer would be wrong: `stranger` puts names that were never told in
place of the told ones (must be
unknown; a whether-question may be denied), `roles` lets two people change places (must be unknown, or no), `negated` turns
the one note that an answer rests on into its contrary (the answer must not tell it as so: deny it, tell what else is so,
or be unknown).

A made question is the story's with other words and wants, and `of`, its number there.
"""

import datetime
import re

from told_baseline import terms, told
from told_judge import DENIALS, NEGATIONS, holds, plain

SHIFT = datetime.timedelta(days=-364)
MONTHS = [f"{datetime.date(2026, month, 1):%B}" for month in range(1, 13)]


def changed(question, number, text, **more):
    return {**question, "of": number, "question": text, **more}


# ---------------------------------------------------------------- other words, the same question


CONTRACTIONS = [
    (r"^(who|what|where|when|how) is\b", r"\1's"),
    (r"^(who|what|where|when|how) has (?=been\b|got\b|\w+ed\b)", r"\1's "),
    (r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should|must) not\b", r"\1n't"),
    (r"\b(did|does|do|is|are|was|were|should|has|have) (\w+) not\b", r"\1n't \2"),
    (r"\b(can)(?:not| not)\b", r"can't"),
    (r"\bwill not\b", "won't"),
    (r"\bI am\b", "I'm"),
    (r"\b(we|you|they) are\b", r"\1're"),
    (r"\b(I|we|you|they) have (?=\w+ed\b|got\b|been\b)", r"\1've "),
    (r"\b(he|she|it) is\b", r"\1's"),
]


def contracted(text):
    for pattern, put in CONTRACTIONS:
        text = re.sub(pattern, put, text, flags=re.IGNORECASE)
    return text


def reworded(questions, rule):
    """The questions that the rule changes; the others would be asked twice alike."""
    made = [changed(question, number, rule(question["question"])) for number, question in enumerate(questions)]
    return [question for question in made if question["question"] != questions[question["of"]]["question"]]


def paraphrased(questions, written, place):
    """The paraphrases at `place` of each question's three; `written` maps a question to them."""
    asked = [(number, question) for number, question in enumerate(questions) if question["question"] in written]
    return [changed(question, number, written[question["question"]][place]) for number, question in asked]


# ---------------------------------------------------------------- the same story on other days


def moved(text, year):
    """The text with the dates in it a year less a day earlier, as people write them: `25 November`, `the 17th`."""
    alternatives = "|".join(MONTHS)

    def ordinal(number):
        ending = "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{ending}"

    def day(number, month):
        when = datetime.date(year, MONTHS.index(month) + 1, int(number)) + SHIFT
        return when.day, f"{when:%B}"

    def written(found):
        number, month = day(found["day"], found["month"])
        return f"{found['the'] or ''}{ordinal(number) if found['th'] else number}{found['of']}{month}"

    def american(found):
        number, month = day(found["day"], found["month"])
        return f"{month} {ordinal(number) if found['th'] else number}"

    def alone(found):
        # A month of 31 days is near enough for a day without its month: no story has one on its last day.
        return ordinal(int(found["day"]) + 1)

    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return (datetime.date.fromisoformat(text) + SHIFT).isoformat()
    kept = []

    def keep(rule):
        def put(found):
            kept.append(rule(found))
            return f"\x00{len(kept) - 1}\x00"
        return put

    text = re.sub(rf"\b(?P<the>)(?P<day>\d{{1,2}})(?P<th>st|nd|rd|th)?(?P<of> (?:of )?)(?P<month>{alternatives})\b", keep(written), text)
    text = re.sub(rf"\b(?P<month>{alternatives}) (?P<day>\d{{1,2}})(?P<th>st|nd|rd|th)?\b", keep(american), text)
    text = re.sub(r"\b(?P<day>\d{1,2})(?:st|nd|rd|th)\b", keep(alone), text)
    text = re.sub(r"\b(?P<word>between|from) (?P<day>\d{1,2}) (?P<to>and|to) (?=\x00)", lambda found: f"{found['word']} {int(found['day']) + 1} {found['to']} ", text)
    return re.sub(r"\x00(\d+)\x00", lambda found: kept[int(found[1])], text)


def shifted(scenario):
    """The whole story 364 days earlier; its `notes`, `questions`, `now` and `recording`."""
    year = int(scenario["now"][:4])

    def stamp(text):
        tail = "Z" if text.endswith("Z") else ""
        return (datetime.datetime.fromisoformat(text.rstrip("Z")) + SHIFT).isoformat() + tail

    def note(entry):
        other = {"at": stamp(entry["at"])}
        if "text" in entry:
            other["text"] = moved(entry["text"], year)
        return {**entry, **other}

    def asked(number, question):
        want = [[moved(way, year) for way in group] for group in question.get("want", [])]
        banned = [moved(word, year) for word in question.get("not", [])]
        more = {key: value for key, value in (("want", want), ("not", banned)) if value}
        return changed(question, number, moved(question["question"], year), **more)

    story = {**scenario, "now": stamp(scenario["now"]), "notes": [note(entry) for entry in scenario["notes"]]}
    if "recording" in scenario:
        story["recording"] = {**scenario["recording"], "start": stamp(scenario["recording"]["start"])}
    story["questions"] = [asked(number, question) for number, question in enumerate(scenario["questions"])]
    return story


# ---------------------------------------------------------------- another question


WHETHER = re.compile(r"(is|are|was|were|do|does|did|has|have|can|could|may|will|would|should)\b", re.IGNORECASE)
# Questions that leave a person out, or set two side by side: a stranger or another order there leaves them answerable.
LEAVING_OUT = re.compile(r"\b(besides|except|apart from|other than|first)\b", re.IGNORECASE)


TITLE = r"(?:(?:Doctor|Dr|Mr|Mrs|Ms|Captain|Professor) )?"


def named(text, people):
    """The told people in a text, with their titles, in order, each once."""
    found = re.findall(rf"\b({TITLE}(?:{'|'.join(map(re.escape, people))}))\b", text)
    return list(dict.fromkeys(found))


def renamed(text, names):
    return re.sub(rf"\b({'|'.join(map(re.escape, names))})\b", lambda found: names[found[1]], text)


def strangers(questions, told_people, never_told):
    """Names never told in place of the told ones, of the same pronoun; whether-questions may be denied."""
    swap = {}
    for pronoun, people in told_people.items():
        swap |= {name: never_told[pronoun][place % len(never_told[pronoun])] for place, name in enumerate(people)}
    made = []
    for number, question in enumerate(questions):
        text = question["question"]
        if named(text, swap) and not LEAVING_OUT.search(text):
            want = [DENIALS + ["no"]] if WHETHER.match(text) else [DENIALS]
            made.append(changed(question, number, renamed(text, swap), want=want, answerable=False, **{"not": []}))
    return made


SYMMETRIC = re.compile(r"\b(married|sisters?|brothers?|swap\w*|with|related|or|than)\b", re.IGNORECASE)
PRONOUN = re.compile(r"\b(he|him|his|she|hers?|today|tomorrow|yesterday|this (morning|afternoon|evening)|now)\b", re.IGNORECASE)


def roles(scenario, told_people):
    """Two people change places: in a question that names two, and in what was told of two, asked as "Is it true that …?".

    Not where it is the same from both sides, nor where a pronoun or a day hangs on who it is or when it was told.
    """
    people = [name for names in told_people.values() for name in names]

    def turned(text):
        two = named(text, people)
        if len(two) == 2 and not SYMMETRIC.search(text) and not PRONOUN.search(text):
            if not re.search(rf"{two[0]}(, | and ){two[1]}", text):
                return renamed(text, {two[0]: two[1], two[1]: two[0]})
        return None

    made = []
    for number, question in enumerate(scenario["questions"]):
        other = turned(question["question"]) if question.get("answerable", True) else None
        if other:
            made.append(changed(question, number, other, want=[DENIALS + NEGATIONS], answerable=False, **{"not": []}))
    for note in scenario["notes"]:
        for sentence in re.split(r"(?<=[a-z\d][.!?]) +", note.get("text", "")):
            other = turned(sentence)
            if other and other.endswith("."):
                opened = other if named(other.split("'")[0], people) else other[0].lower() + other[1:]
                asked = {"kind": "roles", "question": f"Is it true that {opened[:-1]}?", "of": None}
                made.append({**asked, "want": [DENIALS + NEGATIONS], "not": ["yes"], "answerable": False})
    return made


AUXILIARY = re.compile(r"\b(is|are|was|were|can|will|must)\b(?! not\b|n't)")


def contrary(text, people):
    """A note of one clause turned into its contrary, or None where the program can't."""
    if re.search(r"\b(not|no|never|nobody|without|only|any more|and|because|before|but|who)\b|n't\b|[,.!?;:] ", text.casefold()):
        return None
    first = re.match(rf"({'|'.join(map(re.escape, people))}) (?=[a-z])(?!and\b|or\b)", text)
    auxiliary = AUXILIARY.search(text)
    if auxiliary:
        return f"{text[: auxiliary.end()]} not{text[auxiliary.end() :]}"
    if first:
        return f"{text[: first.end()]}never {text[first.end() :]}"
    return None


def grounds(question, notes):
    """The only note that holds all wanted words and a word of the question; None where there's none, or several."""
    want = question.get("want", [])
    if not want or not question.get("answerable", True) or WHETHER.match(question["question"]):
        return None
    asked = set(terms(question["question"]))
    holding = [
        number
        for number, note in enumerate(notes)
        if all(any(holds(plain(told(note)), way) for way in group) for group in want) and asked & set(terms(told(note)))
    ]
    return holding[0] if len(holding) == 1 else None


def negated(scenario, told_people):
    """The story with each note in its contrary that alone grounds a question; those questions."""
    people = [name for names in told_people.values() for name in names]
    notes, asked = list(scenario["notes"]), []
    for number, question in enumerate(scenario["questions"]):
        place = grounds(question, scenario["notes"])
        other = contrary(told(scenario["notes"][place]), people) if place is not None and "text" in notes[place] else None
        if other:
            notes[place] = {**notes[place], "text": other}
            asked.append(changed(question, number, question["question"], want=[], denies=question["want"], answerable=False, **{"not": []}))
    return {**scenario, "notes": notes, "questions": asked}
