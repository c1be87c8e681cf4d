"""What all tests share: the remembered recording, copied for each class, and one Chromium."""

import re
import unittest
from pathlib import Path
from urllib.parse import urlparse

from playwright.sync_api import expect, sync_playwright

from robot import Robot

WIDE = {"width": 1280, "height": 860}
NARROW = {"width": 380, "height": 800}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}

_shared = {}
expect.set_options(timeout=15_000)


def open(options, folder: Path) -> None:
    """Remembers the recording once and starts the browser."""
    base = Robot(options, folder / "base").start()
    base.stop()
    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
    _shared.update(options=options, folder=folder, base=base, playwright=playwright, browser=browser, copies=0)


def close() -> None:
    _shared["browser"].close()
    _shared["playwright"].stop()


def options():
    return _shared["options"]


def base() -> Robot:
    """The robot that has remembered the recording, and does not run."""
    return _shared["base"]


def fresh_folder() -> Path:
    _shared["copies"] += 1
    return _shared["folder"] / f"robot{_shared['copies']}"


class PageTest(unittest.TestCase):
    """A robot for the class, a browser window for each test. Errors of the page fail the test that saw them."""

    robot: Robot

    @classmethod
    def setUpClass(cls):
        cls.robot = base().copy(fresh_folder()).start()

    @classmethod
    def tearDownClass(cls):
        cls.robot.stop()

    def setUp(self):
        self.errors = []
        self.page = self.window()

    def tearDown(self):
        for context in self._contexts:
            context.close()
        self.assertEqual(self.errors, [])

    _contexts: list

    def run(self, result=None):
        self._contexts = []
        return super().run(result)

    def window(self, size=WIDE, scheme="light"):
        """A window without a past."""
        context = _shared["browser"].new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
        self._contexts.append(context)
        if options().page:
            for pattern in ("/", "/ui/**"):
                context.route(f"{self.robot.url}{pattern}", self._from_folder)
        page = context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: "Content Security Policy" in line.text and self.errors.append(line.text))
        return page

    @staticmethod
    def _from_folder(route):
        path = urlparse(route.request.url).path
        file = options().page / ("index.html" if path == "/" else path.removeprefix("/ui/"))
        route.fulfill(path=file, content_type=f"{TYPES[file.suffix]}; charset=utf-8", headers={"Content-Security-Policy": POLICY})

    def go(self, address: str, page=None):
        """Opens an address of the page and waits until its area is drawn."""
        page = page or self.page
        page.goto(f"{self.robot.url}/{address}")
        area = re.split(r"[/?]", address.removeprefix("#/"))[0]
        page.wait_for_selector(f"main .in-{area}")
        return page

    def sees(self, text, within="main", page=None):
        """The text stands there, visibly."""
        expect((page or self.page).locator(within).get_by_text(text).first).to_be_visible()

    def loaded(self, selector: str, page=None):
        """Every picture that the selector names is there and has come."""
        page = page or self.page
        expect(page.locator(selector).first).to_be_visible()
        script = "at => { const all = [...document.querySelectorAll(at)]; return all.length > 0 && all.every((one) => one.naturalWidth > 50); }"
        for _ in range(150):
            if page.evaluate(script, selector):
                return
            page.wait_for_timeout(100)
        self.fail(f"{selector}: a picture did not come")
