"""The page follows the daemon: changes by others, a restart, a recording that plays."""

import re

from playwright.sync_api import expect

import rig
from rig import PageTest


class Line(PageTest):
    def test_it_comes_back_after_the_daemon_was_killed(self):
        self.go("#/people")
        self.robot.kill()
        banner = self.page.locator("#banner")
        expect(banner).to_contain_text("The daemon is away")
        self.page.locator("#area-things").click()
        self.sees("The daemon is away")
        self.robot.start()
        expect(banner).to_be_hidden()
        self.sees("red mug")
        expect(self.page.locator("#state")).to_contain_text("online")

    def test_what_another_client_changes_is_shown(self):
        self.go("#/people")
        expect(self.page.locator("#name-person_4")).to_contain_text("Person 4")
        self.robot.post("name", {"entity": "person_4", "name": "Niamh"})
        expect(self.page.locator("#name-person_4")).to_contain_text("Niamh")


class Choosing(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.robot = rig.Robot(rig.options(), rig.fresh_folder()).idle()

    def test_a_recording_is_chosen_sought_through_and_told_of(self):
        self.go("#/replay")
        self.robot.post("replay/rate", {"rate": 1})
        self.page.get_by_role("button", name="Play demo.mp4", exact=True).click()
        self.sees("demo.mp4 is played")
        bar = self.page.get_by_label("Seek to")
        expect(bar).to_have_attribute("aria-valuetext", re.compile(r"18:3\d:\d\d"))
        expect(self.page.get_by_role("button", name="Play demo.mp4", exact=True)).to_be_disabled()
        far = float(bar.get_attribute("max"))
        bar.fill(str(round(far * 0.9, 1)))
        self.sees("It plays from there.", ".toasts")
        self.page.get_by_role("button", name="As fast as it can").click()
        # (However long its last words take.)
        expect(self.page.locator("main").get_by_text("The recording is over").first).to_be_visible(timeout=90_000)
        self.sees("Who was there")
        self.sees("Eileen", ".terms")
        expect(self.page.get_by_role("button", name="Play again demo.mp4")).to_be_enabled()


class Living(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.robot = rig.Robot(rig.options(), rig.fresh_folder()).live()

    def test_a_live_robot_is_watched_and_its_microphones_are_switched_off(self):
        self.go("#/now")
        self.loaded(".tile.shown img")
        expect(self.page.locator(".tile")).to_have_count(1)
        self.sees("Eileen", ".here")
        self.sees("my name is Eileen", ".said")
        switch = self.page.locator("#microphones")
        switch.click()
        self.sees("the microphones are switched off", ".troubles")
        expect(self.page.locator("#state")).to_contain_text("impaired")
        expect(switch).to_contain_text("Microphones are off")
        switch.click()
        expect(switch).to_contain_text("Microphones are on")
        expect(self.page.locator(".troubles li")).to_have_count(0)


class Playing(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.robot = rig.Robot(rig.options(), rig.fresh_folder()).start(rate="2", until_done=False)

    def test_a_recording_is_seen_and_steered(self):
        self.go("#/now")
        self.loaded(".tile.shown img")
        expect(self.page.locator(".tile")).to_have_count(1)
        self.go("#/replay")
        self.page.get_by_role("button", name="Pause").click()
        self.sees("paused")
        position = self.page.locator(".position").inner_text()
        self.page.get_by_role("button", name="One frame").click()
        expect(self.page.locator(".position")).not_to_have_text("No clip yet,")
        self.assertRegex(position, r"8 May 2026, 18:3\d:\d\d")
        self.page.get_by_role("button", name="As fast as it can").click()
        expect(self.page.get_by_role("button", name="As fast as it can")).to_have_attribute("aria-pressed", "true")
        self.page.get_by_role("button", name="Resume").click()
        self.go("#/now")
        self.sees("And I put the red mug in the sink.", ".said")
        self.go("#/day")
        self.sees("Barack", ".chart")
