"""A language model that thinks: its rounds are told while it does, and who answered. The model is a script behind a real socket."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import expect

import rig
from rig import PageTest

ANSWER = {"answer": "Barack put it in the sink.", "known": True, "confidence": 0.8}


class Model(BaseHTTPRequestHandler):
    """Searches once, then answers; the answer waits until the page has shown the search."""

    may_answer = threading.Event()

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = [str(message["content"]) for message in asked["messages"] if message["role"] == "tool"]
        if found:
            self.may_answer.wait(30)
            cited = re.findall(r"memory_\d+", found[0])[:1]
            said = {"role": "assistant", "content": json.dumps({**ANSWER, "evidence": cited})}
        else:
            call = {"name": "search", "arguments": json.dumps({"text": "red mug"})}
            said = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": call}]}
        body = json.dumps({"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Thinking(PageTest):
    @classmethod
    def setUpClass(cls):
        cls.server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{cls.server.server_port}/v1"
        sets = [f"llm.base_url={url}", "llm.model=scripted", "answerer.kind=model"]
        cls.robot = rig.base().copy(rig.fresh_folder()).start(*(word for one in sets for word in ("--set", one)))

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.server.shutdown()

    def test_rounds_are_told_while_it_thinks(self):
        self.go("#/ask")
        expect(self.page.locator("#local")).to_contain_text("Uses a model server")
        self.page.get_by_label("Question").fill("Who put the red mug away?")
        self.page.get_by_label("Think longer").check()
        self.page.get_by_role("button", name="Ask", exact=True).click()
        self.sees("search “red mug”", ".rounds")
        Model.may_answer.set()
        self.sees("Barack put it in the sink.", ".answer")
        self.sees("scripted", ".answer")
        expect(self.page.locator(".cards .card")).to_have_count(1)
