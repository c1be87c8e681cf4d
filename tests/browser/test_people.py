"""Who is who is put right in the page: names, merging, taking apart, "not Eileen", forgetting."""

from playwright.sync_api import expect

import rig
from rig import PageTest


class Naming(PageTest):
    def test_a_name_is_given_in_place_and_holds_everywhere(self):
        self.go("#/people")
        self.page.locator("#name-person_4").click()
        self.page.keyboard.type("Niamh")
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#name-person_4")).to_contain_text("Niamh")
        self.go("#/day")
        self.sees("Niamh", ".chart")
        self.go("#/ask?q=Who was there%3F&c=named")
        self.sees("Niamh", ".answer")

    def test_escape_leaves_the_name(self):
        self.go("#/people")
        self.page.locator("#name-person_1").click()
        self.page.keyboard.type("Nobody")
        self.page.keyboard.press("Escape")
        expect(self.page.locator("#name-person_1")).to_contain_text("Eileen")


class Merging(PageTest):
    def test_two_are_merged_and_taken_apart_again(self):
        self.go("#/people")
        for id_ in ("person_1", "person_4"):
            self.page.locator(f"#pick-{id_}").check()
        self.assertIn("pick=", self.page.url)
        self.page.get_by_role("button", name="They are one person").click()
        self.page.get_by_role("button", name="Merge", exact=True).click()
        expect(self.page.locator(".person")).to_have_count(3)
        self.go("#/people?who=person_1")
        self.sees("Voice 3")
        self.page.get_by_role("button", name="Take apart").click()
        expect(self.page.get_by_text("Merged", exact=True)).to_have_count(0)
        self.go("#/people")
        expect(self.page.locator(".person")).to_have_count(4)


class NotThem(PageTest):
    def test_a_voice_is_somebody_elses_and_is_not_suggested_again(self):
        self.go("#/people?who=person_1")
        voice = self.page.locator(".part").filter(has_text="Voice 1")
        voice.get_by_role("button", name="Not Eileen").click()
        self.page.locator("dialog").get_by_role("button", name="This is not Eileen").click()
        expect(self.page.locator(".part").filter(has_text="Voice 1").get_by_role("button")).to_have_count(0)
        self.go("#/people")
        expect(self.page.locator(".person")).to_have_count(5)
        expect(self.page.locator(".pair")).to_have_count(0)


class Suggesting(PageTest):
    @classmethod
    def setUpClass(cls):
        # After the first half minute Joe's face and his voice are two persons still.
        cls.robot = rig.Robot(rig.options(), rig.fresh_folder()).start("--duration", "30")

    def test_who_may_be_the_same_is_suggested_with_the_reason(self):
        self.go("#/people")
        expect(self.page.locator(".person")).to_have_count(4)
        pair = self.page.locator(".pair")
        expect(pair).to_have_count(1)
        expect(pair).to_contain_text("Joe")
        expect(pair).to_contain_text("the voice was heard for")
        pair.get_by_role("button", name="The same", exact=True).click()
        self.page.get_by_role("button", name="Merge", exact=True).click()
        expect(self.page.locator(".person")).to_have_count(3)
        expect(pair).to_have_count(0)


class Forgetting(PageTest):
    def test_a_person_is_forgotten_in_two_steps(self):
        self.go("#/people?who=person_3")
        self.page.locator("#forget").click()
        dialog = self.page.locator("dialog")
        expect(dialog).to_contain_text("2 appearances in view")
        for goes in ["1 person", "1 face", "remembered sentence", "pictures and sounds of"]:
            expect(dialog).to_contain_text(goes)
        erase = dialog.get_by_role("button", name="Erase for good")
        expect(erase).to_be_disabled()
        dialog.get_by_label("Yes, erase Joe").check()
        erase.click()
        self.page.wait_for_selector(".in-people .grid")
        expect(self.page.locator(".person")).to_have_count(3)
        self.assertNotIn("Joe", self.page.locator("main").inner_text())
        self.go("#/day")
        self.assertNotIn("Joe", self.page.locator("main").inner_text())
        self.go("#/system")
        expect(self.page.get_by_role("region", name="What was erased, when").locator("tbody tr")).not_to_have_count(0)

    def test_keeping_changes_nothing(self):
        self.go("#/people?who=person_5")
        self.page.locator("#forget").click()
        self.page.get_by_role("button", name="Keep").click()
        expect(self.page.locator("dialog")).to_have_count(0)
        self.sees("Barack")

    def test_a_memory_is_pinned_let_go_again_and_forgotten(self):
        self.go("#/memory?memory=memory_19")
        self.page.get_by_role("button", name="Pin", exact=True).click()
        self.sees("yes, it is pinned", "dialog")
        self.page.get_by_role("button", name="Unpin", exact=True).click()
        expect(self.page.locator("dialog")).not_to_contain_text("yes, it is pinned")
        self.page.locator("dialog").get_by_role("button", name="Forget …").click()
        self.sees("1 remembered sentence", "dialog")
        self.page.get_by_label("Yes, erase this memory").check()
        self.page.get_by_role("button", name="Erase for good").click()
        expect(self.page.locator("dialog")).to_have_count(0)
        self.go("#/memory?memory=memory_19")
        self.sees("there is no memory_19", "dialog")
