"""Every area shows what is remembered, at both widths, with its state in the address."""

from playwright.sync_api import expect

from rig import NARROW, WIDE, PageTest

AREAS = {
    "ask": ["Where is the red mug?", "Eileen"],
    "now": ["Here", "Being said", "See you at dinner.", "camera"],
    "day": ["Friday, 8 May 2026", "Eileen", "Barack", "Open the clip", "Visits"],
    "people": ["Eileen", "Joe", "Barack", "Person 4"],
    "things": ["red mug", "in the sink", "in the top drawer"],
    "watches": ["Set a watch", "No watch is set"],
    "memory": ["As of", "See you at dinner."],
    "graph": ["Around", "Remembered"],
    "replay": ["demo.mp4", "Remembered so far"],
    "system": ["The daemon is online", "Apache-2.0", "Nothing was erased yet."],
}


class Looking(PageTest):
    def test_every_area_shows_what_is_remembered(self):
        for size in (WIDE, NARROW):
            page = self.window(size)
            for area, texts in AREAS.items():
                with self.subTest(area=area, width=size["width"]):
                    self.go(f"#/{area}", page)
                    for text in texts:
                        self.sees(text, page=page)
                    beyond = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                    self.assertLessEqual(beyond, 0, "the page is wider than its window")

    def test_every_area_is_one_step_away(self):
        self.go("#/ask")
        for area in AREAS:
            self.page.locator(f"#area-{area}").click()
            self.page.wait_for_selector(f"main .in-{area}")
            expect(self.page.locator(f"#area-{area}")).to_have_attribute("aria-current", "page")

    def test_pictures_are_real(self):
        self.go("#/people")
        faces = self.page.locator(".person img.face")
        expect(faces).to_have_count(3)
        self.loaded(".person img.face")

    def test_a_recording_that_is_over_shows_its_last_picture(self):
        self.go("#/now")
        self.sees("last kept picture")
        self.loaded(".tile.shown img")

    def test_the_cursor_of_a_day_shows_its_moment(self):
        self.go("#/day")
        moment = self.page.locator(".moment")
        scrub = self.page.locator("#scrub")
        scrub.evaluate(
            "one => { one.value = Date.parse('2026-05-08T18:30:40.500Z'); one.dispatchEvent(new Event('input')); one.dispatchEvent(new Event('change')); }"
        )
        expect(moment).to_contain_text("Barack")
        expect(moment).to_contain_text("I put the red mug in the sink")
        self.loaded(".moment img")
        self.assertIn("t=", self.page.url)

    def test_a_block_of_a_day_opens_its_clip_with_words_and_sound(self):
        self.go("#/day")
        self.page.locator("a.block.spoke").filter(visible=True).first.click()
        dialog = self.page.locator("dialog")
        expect(dialog).to_contain_text("You must be our new robot")
        expect(dialog.locator(".turn.current")).to_have_count(1)
        self.assertIn("clip=s1", self.page.url)
        play = dialog.locator(".turn .sound").first
        play.click()
        expect(play).to_have_attribute("aria-pressed", "true")
        self.page.reload()
        expect(self.page.locator("dialog")).to_contain_text("You must be our new robot")
        self.page.keyboard.press("Escape")
        expect(self.page.locator("dialog")).to_have_count(0)
        self.assertNotIn("clip=", self.page.url)

    def test_a_day_is_zoomed_by_its_address(self):
        self.go("#/day")
        before = self.page.locator("a.block").count()
        # The address changes at once; the link of the day as it was leads to the same until the day is drawn anew.
        for _ in range(2):
            self.page.locator("main .in-day").evaluate("day => day.setAttribute('data-old', '')")
            self.page.get_by_role("link", name="Closer").click()
            expect(self.page.locator("main .in-day[data-old]")).to_have_count(0)
        expect(self.page.locator("a.block")).not_to_have_count(before)
        self.page.go_back()
        self.page.go_back()
        expect(self.page.locator("a.block")).to_have_count(before)

    def test_the_calendar_leads_to_days_that_are_remembered(self):
        self.go("#/day?day=2026-05-20")
        self.sees("Nobody was seen or heard on this day")
        self.page.get_by_text("Calendar").click()
        self.page.get_by_role("link", name="2026-05-08, remembered").click()
        self.sees("Friday, 8 May 2026")

    def test_a_fact_shows_what_it_was_before(self):
        self.go("#/things")
        self.page.get_by_role("link", name="red mug").click()
        history = self.page.locator(".history")
        expect(history.locator("strong")).to_have_text("in the sink")
        expect(history.locator("s")).to_have_text("on the kitchen table")

    def test_memory_is_searched_by_words_and_chips(self):
        self.go("#/memory")
        self.page.get_by_label("Search the memory").fill("red mug kind:utterance who:Barack")
        self.page.keyboard.press("Enter")
        first = self.page.locator(".lines .line").first
        expect(first).to_contain_text("I put the red mug in the sink")
        expect(self.page.locator(".chip.on")).to_have_count(2)
        self.go("#/memory?q=who:Joe kind:semantic")
        self.sees("Joe is father of Eileen.")
        self.assertEqual(self.page.locator(".lines .kind:not(.semantic)").count(), 0)

    def test_memory_is_shown_as_it_was_known(self):
        self.go("#/memory?q=red mug kind:semantic")
        self.sees("The red mug is in the sink")
        slider = self.page.get_by_label("As of")
        slider.evaluate(
            "one => { one.value = 1; one.dispatchEvent(new Event('input')); one.dispatchEvent(new Event('change')); }"
        )
        self.page.wait_for_url("**as_of=seq*")
        self.sees("as it was known after commit 1")
        expect(self.page.locator(".lines")).not_to_contain_text("sink")
        self.sees("The red mug is on the kitchen table")
        self.page.get_by_role("link", name="Back to now").click()
        self.sees("The red mug is in the sink")

    def test_a_memory_says_what_it_rests_on(self):
        self.go("#/memory?q=red mug kind:semantic")
        self.page.get_by_role("link", name="The red mug is in the sink").click()
        dialog = self.page.locator("dialog")
        expect(dialog).to_contain_text("Rests on")
        expect(dialog.locator(".history s")).to_have_text("on the kitchen table")
        dialog.get_by_role("link", name="turn 8").click()
        expect(self.page.locator("dialog")).to_contain_text("And I put the red mug in the sink")

    def test_the_graph_is_walked_from_one_to_the_next(self):
        self.go("#/graph?of=person_1")
        graph = self.page.locator("svg.graph")
        expect(graph.locator("a.node.person")).not_to_have_count(0)
        graph.get_by_role("link", name="father of Eileen").click()
        self.sees("What hangs together with Joe")
        self.page.get_by_label("Whom or what").select_option(label="Barack")
        self.sees("What hangs together with Barack")
        expect(graph.get_by_role("link", name="spare keys, in the top drawer")).to_be_visible()

    def test_dark_and_light_are_switched_and_kept(self):
        self.go("#/ask")
        self.page.locator("#theme").click()
        expect(self.page.locator("html")).to_have_attribute("data-theme", "dark")
        self.page.reload()
        expect(self.page.locator("html")).to_have_attribute("data-theme", "dark")

    def test_what_is_not_there_is_said(self):
        self.go("#/people?who=person_99")
        self.sees("there is no person_99 in the memory")
        self.go("#/memory?q=zebra who:Joe kind:note")
        self.sees("Nothing remembered fits")
