"""Promises of the pure parts of told.py. `python3 -m unittest discover -s benches`"""

import json
import unittest
from pathlib import Path

import told_variants as variants
from told_baseline import Quoter
from told_judge import consistent, first_sentence, judged, reliability, tally

NOTES = [
    {"at": "2026-11-02 09:00", "text": "The ladder is in the shed."},
    {"at": "2026-11-03 09:00", "text": "Nora lent the kite to Paul."},
    {"at": "2026-11-04 09:00", "fact": ["Nora", "job", "pilot"]},
]
PEOPLE = {"she": ["Nora"], "he": ["Paul"]}
STRANGERS = {"she": ["Zora"], "he": ["Leopold"]}


def said(answer, abstained=False):
    return {"answer": answer, "abstained": abstained}


class Judge(unittest.TestCase):
    def test_a_first_sentence_holds_one_quotation_whole(self):
        for answer, first in (
            ("Nora. I was told: “Nora went.”", "Nora."),
            ("Mr. Novak did. He came.", "Mr. Novak did."),
            ("On Monday: “A ran. B sat.” and “C lay.”", "On Monday: “A ran. B sat.” and "),
            ("“A ran.” “C lay.”", "“A ran.”"),
            ("I heard “A ran” at ten. Then no more.", "I heard “A ran” at ten"),
        ):
            self.assertEqual(first_sentence(answer), first)

    def test_strict_wants_the_value_first(self):
        question = {"want": [["shed"]], "not": ["garage"]}
        self.assertEqual(judged(question, said("In the shed.")), {"lenient": "right", "strict": "right"})
        self.assertEqual(judged(question, said("“Ben ran.” “It is in the shed.”")), {"lenient": "right", "strict": "wrong"})
        self.assertEqual(judged(question, said("In the shed. Not the garage.")), {"lenient": "wrong", "strict": "wrong"})
        self.assertEqual(judged(question, said("", True)), {"lenient": "unknown", "strict": "unknown"})

    def test_a_date_stands_for_its_spellings(self):
        question = {"want": [["2026-11-03"]]}
        for answer in ("On 3 November 2026.", "the 3rd of November", "Nov 3rd"):
            self.assertEqual(judged(question, said(answer))["strict"], "right")
        self.assertEqual(judged(question, said("13 November"))["lenient"], "wrong")

    def test_what_is_not_told_must_be_unknown(self):
        self.assertEqual(judged({"answerable": False}, said("Nora.")), {"lenient": "wrong", "strict": "wrong"})
        self.assertEqual(judged({"answerable": False}, said("", True)), {"lenient": "right", "strict": "right"})

    def test_what_was_negated_must_not_be_told_as_so(self):
        question = {"denies": [["shed"]], "answerable": False}
        self.assertEqual(judged(question, said("In the shed."))["lenient"], "wrong")
        self.assertEqual(judged(question, said("It is not in the shed."))["lenient"], "right")
        self.assertEqual(judged(question, said("In the hall."))["lenient"], "right")

    def test_wrong_costs_twice_an_unknown(self):
        self.assertEqual(tally(["right", "right", "unknown", "unknown"])["score"], tally(["right"] * 3 + ["wrong"])["score"])

    def test_consistency_is_all_of_those_right_once(self):
        found = consistent([["right", "right"], ["right", "unknown"], ["wrong", "wrong"]])
        self.assertEqual(found, {"right_in_one": 2, "right_in_every": 1, "share": 0.5})

    def test_the_gap_is_between_told_and_right(self):
        self.assertEqual(reliability([(0.8, True)] * 4 + [(0.8, False)])["gap"], 0.0)
        self.assertEqual(reliability([(0.9, False)] * 3)["gap"], 0.9)
        self.assertIsNone(reliability([])["gap"])


class Baseline(unittest.TestCase):
    def test_it_quotes_the_best_or_does_not_know(self):
        self.assertEqual(Quoter(NOTES, 1).ask("Where is the ladder?")["answer"], "“The ladder is in the shed.”")
        self.assertTrue(Quoter(NOTES, 3).ask("Where is the violin?")["abstained"])
        self.assertTrue(Quoter([], 1).ask("Where is the violin?")["abstained"])

    def test_of_equals_the_newer(self):
        notes = [{"at": f"2026-11-0{day} 09:00", "text": text} for day, text in ((2, "A cat here."), (3, "A cat there."))]
        self.assertEqual(Quoter(notes, 1).ask("cat?")["answer"], "“A cat there.”")


class Variants(unittest.TestCase):
    def texts(self, questions):
        return [question["question"] for question in questions]

    def test_contractions(self):
        for whole, short in (
            ("Where is the ladder?", "Where's the ladder?"),
            ("Who has the kite?", "Who has the kite?"),
            ("Who has been here?", "Who's been here?"),
            ("Who did not come?", "Who didn't come?"),
        ):
            self.assertEqual(variants.contracted(whole), short)

    def test_strangers_stand_in_for_the_told(self):
        questions = [{"question": "What did Nora lend?"}, {"question": "Where is it?"}, {"question": "Who besides Nora?"}]
        made = variants.strangers(questions, PEOPLE, STRANGERS)
        self.assertEqual(self.texts(made), ["What did Zora lend?"])
        self.assertFalse(made[0]["answerable"])

    def test_two_change_places(self):
        story = {"notes": NOTES, "questions": [{"question": "What did Nora lend to Paul?"}, {"question": "Is Nora with Paul?"}]}
        self.assertEqual(
            self.texts(variants.roles(story, PEOPLE)),
            ["What did Paul lend to Nora?", "Is it true that Paul lent the kite to Nora?"],
        )

    def test_the_note_an_answer_rests_on_is_negated(self):
        questions = [{"question": "Where is the ladder?", "want": [["shed"]]}, {"question": "Who lent the kite?", "want": [["Nora"]]}]
        story = variants.negated({"notes": NOTES, "questions": questions}, PEOPLE)
        self.assertEqual(
            [note["text"] for note in story["notes"][:2]], ["The ladder is not in the shed.", "Nora never lent the kite to Paul."]
        )
        self.assertEqual([question["of"] for question in story["questions"]], [0, 1])

    def test_dates_move_by_a_day(self):
        for then, now in (
            ("on 25 November", "on 26 November"),
            ("the 30th of September", "the 1st of October"),
            ("December 3rd", "December 4th"),
            ("until the 20th", "until the 21st"),
            ("between 17 and 21 November", "between 18 and 22 November"),
            ("Class 4b at 9 o'clock", "Class 4b at 9 o'clock"),
            ("2026-11-03", "2025-11-04"),
        ):
            self.assertEqual(variants.moved(then, 2026), now)


class Paraphrases(unittest.TestCase):
    def test_each_question_has_three_of_its_own(self):
        folder = Path(__file__).resolve().parent / "told"
        for written in sorted((folder / "paraphrases").glob("*.json")):
            asked = {question["question"] for question in json.loads((folder / written.name).read_text())["questions"]}
            ways = json.loads(written.read_text())
            self.assertLessEqual(set(ways), asked, written.name)
            for question, three in ways.items():
                self.assertEqual(len({question, *three}), 4, question)


if __name__ == "__main__":
    unittest.main()
