"""Standing questions on the page: set in words and in parts, listed with what they told of, taken away."""

from playwright.sync_api import expect

import rig
from rig import NARROW, PageTest


class Watching(PageTest):
    def test_a_watch_is_set_in_words_and_taken_away(self):
        self.go("#/watches")
        words = self.page.get_by_label("Tell me when", exact=True)
        words.fill("tell me when somebody unknown is in the kitchen after 22:00")
        self.page.keyboard.press("Enter")
        rule = "somebody unknown comes at kitchen between 22:00 and 06:00"
        self.sees(rule)
        self.sees("Has not fired yet")
        # What is no rule is refused with what was understood of it, and stays in its field.
        words.fill("open the door when Eileen comes")
        self.page.keyboard.press("Enter")
        self.sees("is nothing that a watch does", "#toasts")
        expect(words).to_have_value("open the door when Eileen comes")
        self.page.get_by_role("button", name=f"Take away: {rule}").click()
        self.sees("No watch is set")

    def test_a_watch_is_set_in_parts_at_the_width_of_a_telephone(self):
        page = self.window(NARROW)
        self.go("#/watches", page)
        page.get_by_text("In parts").click()
        page.get_by_label("Who: a name, anybody, unknown").fill("Eileen")
        page.get_by_label("What has to happen").select_option("stays")
        page.get_by_label("minutes", exact=True).fill("10")
        page.get_by_label("What the robot says then").fill("It is late.")
        page.locator("#watch-form").get_by_role("button", name="Watch").click()
        self.sees("Eileen stays for 10 min", page=page)
        self.sees("It is late.", page=page)
        beyond = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        self.assertLessEqual(beyond, 0, "the page is wider than its window")
        page.get_by_role("button", name="Take away: Eileen stays for 10 min").click()
        self.sees("No watch is set", page=page)


class Fired(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.robot = rig.Robot(rig.options(), rig.fresh_folder()).start(rate="4", until_done=False)
        cls.robot.post("watch", {"add": {"who": "anybody", "what": "speaks", "cooldown_secs": 5}})

    def test_what_a_watch_told_of_is_shown_with_its_evidence(self):
        self.go("#/watches")
        self.sees("anybody speaks")
        first = self.page.locator(".watch .line").first
        expect(first).to_be_visible(timeout=60_000)
        first.get_by_role("link").click()
        expect(self.page.locator("dialog")).to_be_visible()
        self.assertIn("clip=s1", self.page.url)
