"""A question gets its answer with evidence; what follows belongs to it."""

from playwright.sync_api import expect

from rig import PageTest


class Asking(PageTest):
    def ask(self, text):
        self.page.get_by_label("Question").fill(text)
        self.page.keyboard.press("Enter")

    def test_an_answer_comes_with_pictures_and_sound(self):
        self.go("#/ask")
        self.ask("Where is the red mug?")
        self.sees("In the sink", ".answer")
        self.sees("sure", ".answer")
        self.sees("nothing left this machine", ".answer")
        card = self.page.locator(".cards .card").first
        expect(card).to_contain_text("And I put the red mug in the sink")
        self.loaded(".cards .card img")
        play = card.get_by_role("button", name="Play what was said")
        play.click()
        expect(play).to_have_attribute("aria-pressed", "true")
        card.get_by_role("link", name="Open the clip").click()
        expect(self.page.locator("dialog")).to_contain_text("spare keys")

    def test_a_follow_up_leaves_out_what_was_named(self):
        self.go("#/ask")
        self.ask("Where is the red mug?")
        self.sees("In the sink", ".answer")
        self.ask("And the spare keys?")
        self.sees("drawer", ".answer")
        self.sees("Understood as", ".answer")
        self.sees("Where is the red mug?", ".earlier")
        self.page.go_back()
        self.sees("In the sink", ".answer")
        self.page.get_by_role("link", name="New conversation").click()
        self.sees("Try")

    def test_an_answer_is_judged(self):
        self.go("#/ask?q=Who was there%3F&c=judged")
        self.page.get_by_role("button", name="Wrong").click()
        self.page.get_by_label("In a sentence").fill("Niamh was there, too.")
        self.page.get_by_role("button", name="Send").click()
        self.sees("You said: wrong")
        self.go("#/memory?q=kind:lesson")
        self.sees("Niamh was there, too.")

    def test_what_is_not_known_is_said_so(self):
        self.go("#/ask?q=What is the capital of Peru%3F&c=peru")
        self.sees("not known", ".answer")

    def test_what_was_told_is_text_and_nothing_else(self):
        told = 'The <img src=x onerror="document.title=1"> box is <b>blue</b>.'
        self.robot.post("remember", {"text": told})
        self.go("#/memory")
        self.sees(told)
        self.assertEqual(self.page.locator("main b, main img[src=x]").count(), 0)
        self.go("#/ask?q=Where is the <script>alert(1)</script> box%3F&c=x")
        self.sees("Where is the <script>alert(1)</script> box?")
