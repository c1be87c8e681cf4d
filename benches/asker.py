"""A robot's user on MQTT, for the benchmarks beside this file: sends requests to the daemon `rob`, waits for replies."""

import json
import time

from mqtt import Client


class Asker:
    def __init__(self, port):
        self.client = Client(port, "asker", ["engram/rob/answer/+", "engram/rob/status"])
        self.replies = {}
        self.online = False

    def send(self, topic, name, document):
        self.client.publish(f"engram/rob/{topic}", json.dumps({"id": name, **document}))

    def take(self, timeout):
        message = self.client.next(timeout)
        if message is None:
            return None
        topic, payload = message
        name = topic.rsplit("/", 1)[1]
        if name == "status":
            self.online = json.loads(payload)["state"] == "online"
        else:
            self.replies[name] = (time.monotonic(), json.loads(payload))
        return name

    def wait_online(self, timeout=60):
        until = time.monotonic() + timeout
        while not self.online:
            if time.monotonic() > until:
                raise TimeoutError(f"the daemon is not online within {timeout} s")
            self.take(1)

    def reply(self, name, timeout=60):
        until = time.monotonic() + timeout
        while name not in self.replies:
            if time.monotonic() > until:
                raise TimeoutError(f"no reply to {name} within {timeout} s")
            self.take(1)
        return self.replies.pop(name)

    def request(self, topic, name, document):
        """Sends and waits: milliseconds until the reply, and the reply."""
        began = time.monotonic()
        self.send(topic, name, document)
        at, reply = self.reply(name)
        return 1000 * (at - began), reply

    def ask(self, name, **document):
        return self.request("ask", name, document)
