"""The pictures of the documents, out of the running page."""

import io
import unittest

import rig
from rig import NARROW, PageTest

MOST_BYTES = 150_000


class Screens(PageTest):
    def test_pictures_for_the_documents(self):
        folder = rig.options().screens
        if not folder:
            raise unittest.SkipTest("only with --screens")
        from PIL import Image

        folder.mkdir(parents=True, exist_ok=True)
        self.robot.post("name", {"entity": "person_4", "name": "Niamh"})
        size = {"width": 1180, "height": 780}
        for name, address, window, ready in (
            ("page-ask", "#/ask?q=Where is the red mug%3F&c=screens", size, ".cards .card img"),
            ("page-day", "#/day?t=1778265040500", size, ".moment img"),
            ("page-people-phone", "#/people", NARROW, ".person img"),
        ):
            page = self.window(window)
            self.go(address, page)
            self.loaded(ready, page)
            page.wait_for_load_state("networkidle")
            picture = Image.open(io.BytesIO(page.screenshot()))
            file = folder / f"{name}.webp"
            picture.save(file, quality=82, method=6)
            self.assertLess(file.stat().st_size, MOST_BYTES)
