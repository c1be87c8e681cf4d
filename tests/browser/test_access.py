"""Whoever uses a keyboard or a screen reader can use all of it; the page is light."""

from playwright.sync_api import expect

import rig
from rig import NARROW, WIDE, PageTest

ADDRESSES = [
    "#/ask",
    "#/ask?q=Where is the red mug%3F&c=axe",
    "#/now",
    "#/day",
    "#/people",
    "#/people?who=person_1",
    "#/people?pick=person_1,person_3",
    "#/things?what=red mug",
    "#/memory",
    "#/graph?of=person_1",
    "#/replay",
    "#/system",
    "#/day?clip=s1/0",
    "#/memory?memory=memory_22",
]
MOST_BYTES = 300_000


class Access(PageTest):
    def test_axe_finds_nothing_serious(self):
        axe = rig.options().axe.read_text()
        for size, scheme in ((WIDE, "light"), (NARROW, "dark"), (NARROW, "light"), (WIDE, "dark")):
            page = self.window(size, scheme)
            for address in ADDRESSES:
                with self.subTest(address=address, width=size["width"], scheme=scheme):
                    self.go(address, page)
                    page.reload()
                    page.wait_for_load_state("networkidle") if "now" not in address else page.wait_for_selector(".tile.shown")
                    page.evaluate(axe)
                    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
                    serious = [
                        f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
                        for one in found
                        if one["impact"] in ("serious", "critical")
                    ]
                    self.assertEqual(serious, [])

    def test_the_keyboard_reaches_everything(self):
        self.go("#/day")
        self.page.evaluate("document.activeElement.blur()")
        self.page.keyboard.press("Tab")
        expect(self.page.locator("#skip")).to_be_focused()
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#main")).to_be_focused()
        self.page.locator("a.block").first.focus()
        self.page.keyboard.press("Enter")
        expect(self.page.locator("dialog")).to_be_visible()
        self.page.wait_for_selector("dialog .turn")
        self.page.keyboard.press("Escape")
        expect(self.page.locator("dialog")).to_have_count(0)
        expect(self.page.locator("a.block").first).to_be_focused()

    def test_the_page_is_light(self):
        loaded = []
        self.page.on("response", lambda response: loaded.append(response))
        self.page.goto(f"{self.robot.url}/")
        self.page.wait_for_selector("main .in-ask")
        own = [one for one in loaded if "/api/" not in one.url]
        self.assertTrue(all(one.url.startswith(self.robot.url) or one.url.startswith("data:") for one in loaded))
        size = sum(len(one.body()) for one in own if one.url.startswith("http"))
        self.assertLess(size, MOST_BYTES)
        paint = self.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        print(f"page: {size} bytes in {len(own)} files, first paint after {paint:.0f} ms", flush=True)
