"""The official Python client of the Model Context Protocol, over HTTP and on standard input and output."""

import asyncio
import os
import unittest
from concurrent.futures import ThreadPoolExecutor

from mcp import Client, StdioServerParameters

from rig import base, fresh_folder, options

READS = ["ask", "search", "person", "people", "timeline", "where_is", "clip", "look", "sql"]
CHANGES = ["remember", "name", "feedback", "forget"]


def told(result) -> str:
    return " ".join(one.text for one in result.content if one.type == "text")


class AssistantTest(unittest.TestCase):
    """Every tool is called, over each way."""

    @classmethod
    def setUpClass(cls):
        cls.robot = base().copy(fresh_folder()).start("--set", "http.mcp=change")

    @classmethod
    def tearDownClass(cls):
        cls.robot.stop()

    def engramd(self, *more: str) -> StdioServerParameters:
        sets = ["--set", f"models.dir={options().models}", "--set", "models.set=edge"]
        return StdioServerParameters(command=str(options().engramd), args=[*sets, *more], env=dict(os.environ))

    def test_over_http(self):
        self.run_beside(f"{self.robot.url}/mcp", READS + CHANGES)

    def test_on_standard_input_and_output(self):
        self.run_beside(self.engramd("--http", self.robot.url, "mcp", "--changes"), READS + CHANGES)

    def test_without_a_daemon(self):
        self.run_beside(self.engramd("--data-dir", str(base().data), "mcp"), READS)

    def run_beside(self, server, tools: list[str]) -> None:
        """On a thread of its own: the browser's loop has this one."""
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: asyncio.run(self.uses(server, tools))).result()

    async def uses(self, server, tools: list[str]) -> None:
        async with Client(server) as client:
            listed = (await client.list_tools()).tools
            self.assertEqual([tool.name for tool in listed], tools)
            people = (await client.call_tool("people", {})).structured_content["people"]
            self.assertTrue(people)
            who = people[0]["id"]
            answer = await client.call_tool("ask", {"question": "Who was here?"})
            self.assertFalse(answer.is_error, told(answer))
            self.assertIn("memory_", told(answer))
            found = (await client.call_tool("search", {"query": "hello", "limit": 2})).structured_content
            self.assertLessEqual(len(found["hits"]), 2)
            clip = next(hit["clip"] for hit in found["hits"] if hit["clip"])
            self.assertFalse((await client.call_tool("clip", {"what": clip})).is_error)
            for name, arguments in (("person", {"who": who}), ("timeline", {}), ("where_is", {"what": who}),
                                    ("sql", {"query": "SELECT count(*) FROM memories"})):
                result = await client.call_tool(name, arguments)
                self.assertFalse(result.is_error, f"{name}: {told(result)}")
            seen = next(one["id"] for one in people if one.get("seen_secs"))
            picture = (await client.call_tool("look", {"what": seen})).content[0]
            self.assertEqual((picture.type, picture.mime_type), ("image", "image/jpeg"))
            wrong = await client.call_tool("person", {"who": "nobody at all"})
            self.assertTrue(wrong.is_error)
            self.assertIn("nobody at all", told(wrong))
            resources = (await client.list_resources()).resources
            self.assertIn(f"engram://person/{who}", [str(one.uri) for one in resources])
            read = await client.read_resource(f"engram://person/{who}")
            self.assertIn(who, read.contents[0].text)
            if "remember" in tools:
                note = await client.call_tool("remember", {"text": "The spare key is in the blue box."})
                memory = note.structured_content["memory"]
                where = await client.call_tool("ask", {"question": "Where is the spare key?"})
                self.assertIn("blue box", told(where))
                self.assertFalse((await client.call_tool("forget", {"memory": memory})).is_error)


if __name__ == "__main__":
    unittest.main()
