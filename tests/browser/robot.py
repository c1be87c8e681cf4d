"""A daemon that serves the demo recording's memory, in a folder of its own, on free ports of 127.0.0.1."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

START_SECS = 120
LIVE = """[window]
clip_secs = 5.0

[[camera]]
id = "front"
pipeline = '''
filesrc location={} ! decodebin name=file
file. ! queue ! videoconvert ! video/x-raw,format=I420 ! identity sync=true ! appsink name=video
file. ! queue ! audioconvert ! audioresample ! audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved !
identity sync=true ! appsink name=audio
'''
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Robot:
    """`data`: its folder of the store. Starts and stops, on the same port each time."""

    def __init__(self, options, data: Path):
        self.options, self.data = options, data
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None
        self.log = data.with_suffix(".log")

    def start(self, *more: str, rate: str = "max", until_done: bool = True) -> "Robot":
        """Starts `engramd replay --serve`; `until_done`: waits until the recording is remembered."""
        self._launch(["replay", str(self.options.recording), "--serve", "--json", "--rate", rate], more)
        if until_done:
            self._wait(lambda: '"done":true' in self.log.read_text())
        return self

    def idle(self, *more: str) -> "Robot":
        """Starts `engramd replay --serve` that plays nothing yet."""
        self._launch(["replay", "--serve", "--json"], more)
        return self

    def live(self, *more: str) -> "Robot":
        """Starts `engramd run`: the recording's picture and sound come as from a camera with a microphone."""
        config = self.data.with_suffix(".toml")
        config.write_text(LIVE.format(self.options.recording))
        self._launch(["run", "--config", str(config)], more)
        return self

    def _launch(self, what: list[str], more) -> None:
        sets = {
            "robot.id": "demo",
            "models.set": "edge",
            "models.dir": str(self.options.models),
            "mqtt.broker": "embedded",
            "mqtt.listen": "127.0.0.1:0",
            "mqtt.listen_v5": "127.0.0.1:0",
            "http.listen": f"127.0.0.1:{self.port}",
            "replay.folder": str(self.options.recording.parent),
        }
        command = [str(self.options.engramd), *what, "--data-dir", str(self.data)]
        for key, value in sets.items():
            command += ["--set", f"{key}={value}"]
        environment = {"ORT_DISABLE_TELEMETRY": "1", **os.environ}
        self.log.write_text("")
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command + list(more), stdout=log, stderr=log, env=environment)
        self._wait(self._answers)

    def stop(self) -> None:
        """Ends it as systemd would."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)

    def copy(self, data: Path) -> "Robot":
        """Another robot with the same memory; this one must not run."""
        shutil.copytree(self.data, data)
        return Robot(self.options, data)

    def post(self, path: str, body: dict) -> dict:
        """What another client does meanwhile."""
        request = urllib.request.Request(
            f"{self.url}/api/{path}", json.dumps(body).encode(), {"Content-Type": "application/json", "X-Engram": "1"}
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=2) as reply:
                return reply.status == 200
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False

    def _wait(self, ready) -> None:
        end = time.monotonic() + START_SECS
        while not ready():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"engramd did not get ready; its last words:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.1)
