"""Who signs in sees what their role allows, and no button beyond it."""

import subprocess

from playwright.sync_api import expect

import rig
from rig import PageTest

PASSWORD = "a long enough password"


class Rights(PageTest):
    @classmethod
    def setUpClass(cls):
        folder = rig.fresh_folder()
        users = folder.with_suffix(".users")
        lines = [
            cls.line("viewer", "look"),
            cls.line("guest", "look,ask"),
            cls.line("caller", "ask"),
            cls.line("owner", "look,ask,operate,erase"),
        ]
        users.write_text("".join(lines))
        users.chmod(0o600)
        cls.robot = rig.base().copy(folder).start("--set", f"http.users_file={users}")

    @staticmethod
    def line(name: str, roles: str) -> str:
        command = [str(rig.options().engramd), "users", "add", name, "--role", roles]
        return subprocess.run(command, input=PASSWORD, capture_output=True, text=True, check=True).stdout

    def sign_in(self, name, password=PASSWORD):
        self.page.goto(self.robot.url)
        self.page.get_by_label("User").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()

    def test_nothing_is_shown_before_signing_in(self):
        self.page.goto(f"{self.robot.url}/#/people")
        expect(self.page.get_by_role("heading", name="Sign in")).to_be_visible()
        self.assertNotIn("Eileen", self.page.locator("body").inner_text())

    def test_a_wrong_password_is_told(self):
        self.sign_in("viewer", "something else")
        expect(self.page.get_by_role("alert").filter(has_text="User or password is wrong")).to_be_visible()

    def test_who_may_only_look_sees_no_button_to_change_anything(self):
        self.sign_in("viewer")
        self.page.wait_for_selector("main .in-now")
        self.go("#/ask")
        expect(self.page.get_by_label("Question")).to_be_disabled()
        for address in (
            "#/people",
            "#/people?who=person_1",
            "#/day?clip=s1/0",
            "#/memory?memory=memory_22",
            "#/things?what=red mug",
            "#/replay",
            "#/now",
        ):
            with self.subTest(address=address):
                self.go(address)
                self.page.wait_for_load_state("networkidle")
                for words in (
                    "Not ",
                    "Forget",
                    "Merge",
                    "They are one person",
                    "Pin",
                    "Pause",
                    "Microphones",
                    "change the name",
                ):
                    self.assertEqual(self.page.get_by_role("button", name=words).count(), 0, words)
                self.assertEqual(self.page.locator("input[type=checkbox]").count(), 0)
        self.sees("viewer", "header")

    def test_whose_login_has_ended_is_asked_again(self):
        self.sign_in("viewer")
        self.page.wait_for_selector("main .in-now")
        self.page.context.clear_cookies()
        self.page.locator("#area-people").click()
        expect(self.page.get_by_role("heading", name="Sign in")).to_be_visible()
        expect(self.page.locator("#banner")).to_be_hidden()

    def test_who_may_ask_changes_nothing(self):
        self.sign_in("guest")
        self.page.wait_for_selector("main .in-ask")
        self.go("#/ask?q=Where is the red mug%3F&c=guest")
        self.sees("In the sink", ".answer")
        self.go("#/people")
        self.assertEqual(self.page.locator("button.nameButton").count(), 0)

    def test_who_may_only_ask_is_answered_and_sees_what_is_watched_for_alone(self):
        self.sign_in("caller")
        self.page.wait_for_selector("main .in-ask")
        self.page.get_by_label("Question").fill("Where is the red mug?")
        self.page.keyboard.press("Enter")
        self.sees("In the sink", ".answer")
        expect(self.page.locator(".cards .card")).not_to_have_count(0)
        expect(self.page.locator("#areas a").filter(visible=True)).to_have_text(["Ask", "Watches"])
        expect(self.page.locator("#banner")).to_be_hidden()
        self.assertEqual(self.page.locator("main img").count(), 0)

    def test_the_owner_may_do_everything_and_signs_out(self):
        self.sign_in("owner")
        self.page.wait_for_selector("main .in-ask")
        self.go("#/people?who=person_1")
        expect(self.page.locator("#forget")).to_be_visible()
        self.page.get_by_role("button", name="Sign out").click()
        expect(self.page.get_by_role("heading", name="Sign in")).to_be_visible()
