"""A camera and a microphone that show what was recorded, for live measurements: each is served over TCP at its own pace,
can be unplugged and be silent, and counts what was not taken from it in time. Linux, GStreamer's tools, standard library.
"""

import json
import random
import socket
import subprocess
import threading
import time
from array import array
from pathlib import Path

SOUND_HZ, SAMPLE_BYTES = 16_000, 2
BLOCKS_PER_SEC = 50
# Labels of an empty room may be off by so much at both ends.
EDGE_SECS = 0.5
# What a microphone hears where nothing is: about -60 dBFS.
NOISE = 30
CAMERA = (
    "tcpclientsrc host=127.0.0.1 port={port} ! multipartdemux boundary=frame single-stream=true ! "
    "image/jpeg,framerate={fps}/1 ! jpegdec ! appsink name=video sync=false max-buffers=8"
)
MICROPHONE = (
    "tcpclientsrc host=127.0.0.1 port={port} ! rawaudioparse use-sink-caps=false format=pcm pcm-format=s16le "
    "sample-rate=16000 num-channels=1 ! audioconvert ! "
    "audio/x-raw,format=F32LE,rate=16000,channels=1,layout=interleaved ! appsink name=audio sync=false"
)


class Programme:
    """Recordings with an empty room after each, round after round: pictures at `fps`, and the sound beside them.

    The empty room is the longest stretch of the `room` recording's labels in which nobody is seen or heard, to and fro."""

    def __init__(self, folder, recordings, room, empty_secs, fps):
        self.fps, self.frames, self.stretches = fps, [], []
        sound = array("h")
        pictures, heard = decoded(folder, room, fps)
        first, last = (round(fps * second) for second in longest_empty(room))
        there = list(range(first, last))
        back_and_forth = there + there[::-1]
        for recording in recordings:
            frames, samples = decoded(folder, recording, fps)
            self.add(sound, "people", frames, samples)
            count = round(fps * empty_secs)
            numbers = (back_and_forth * (count // len(back_and_forth) + 1))[:count]
            silence = b"".join(bytes(heard[self.at(n) : self.at(n + 1)]) for n in numbers)
            self.add(sound, "empty", [pictures[n] for n in numbers], array("h", silence))
        noise = random.Random(1)
        for n, value in enumerate(sound):
            sound[n] = max(-32768, min(32767, value + noise.randint(-NOISE, NOISE)))
        self.sound = sound.tobytes()

    def at(self, frame):
        """Where in the sound, in samples, a picture's moment is."""
        return frame * SOUND_HZ // self.fps

    def add(self, sound, kind, frames, samples):
        first = len(self.frames)
        self.frames += frames
        self.stretches.append((kind, first, len(self.frames)))
        wanted = self.at(len(self.frames)) - self.at(first)
        sound.extend(samples[:wanted])
        sound.extend([0] * (wanted - min(wanted, len(samples))))

    @property
    def secs(self):
        return len(self.frames) / self.fps

    def now(self, secs):
        """What is shown so many seconds after the beginning: number of the round, kind of stretch, seconds since it began,
        seconds that it lasts."""
        number, frame = divmod(int(secs * self.fps), len(self.frames))
        kind, first, last = next(one for one in self.stretches if one[1] <= frame < one[2])
        return number, kind, (frame - first) / self.fps, (last - first) / self.fps

    def picture(self, number):
        return self.frames[number % len(self.frames)].read_bytes()

    def block(self, number):
        size = SOUND_HZ * SAMPLE_BYTES // BLOCKS_PER_SEC
        start = number * size % len(self.sound)
        return self.sound[start : start + size]


def decoded(folder, recording, fps):
    """Files of its pictures, and its samples; decoded at the first time."""
    place = Path(folder, f"{Path(recording).stem}-{fps}")
    if not place.joinpath("done").exists():
        place.mkdir(parents=True, exist_ok=True)
        launch = (
            f"filesrc location={recording} ! decodebin name=file "
            f"file. ! queue ! videoconvert ! videorate ! video/x-raw,framerate={fps}/1 ! jpegenc quality=90 ! "
            f"multifilesink location={place}/%06d.jpg "
            f"file. ! queue ! audioconvert ! audioresample ! audio/x-raw,format=S16LE,rate={SOUND_HZ},channels=1 ! "
            f"filesink location={place}/sound.pcm"
        )
        subprocess.run(["gst-launch-1.0", "-q", *launch.split()], check=True)
        place.joinpath("done").touch()
    return sorted(place.glob("*.jpg")), array("h", place.joinpath("sound.pcm").read_bytes())


def longest_empty(recording):
    labels = json.loads(Path(recording).with_suffix(".json").read_text())
    both = (
        (max(seen[0], heard[0]), min(seen[1], heard[1]))
        for seen in labels["nobody_visible"]
        for heard in labels["nobody_speaking"]
    )
    first, last = max(both, key=lambda span: span[1] - span[0])
    return first + EDGE_SECS, last - EDGE_SECS


class Device(threading.Thread):
    """Serves one client at a time with what its clock says is due; `missed` counts what the client did not take in time."""

    def __init__(self, port, began, per_sec, item):
        super().__init__(daemon=True)
        self.port, self.began, self.per_sec, self.item = port, began, per_sec, item
        self.plugged, self.silent = True, False
        self.sent = self.missed = 0
        self.start()

    def run(self):
        while True:
            while not self.plugged:
                time.sleep(0.02)
            with socket.create_server(("127.0.0.1", self.port)) as listener:
                listener.settimeout(0.1)
                while self.plugged:
                    try:
                        client, _ = listener.accept()
                    except TimeoutError:
                        continue
                    with client:
                        self.serve(client)

    def serve(self, client):
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.settimeout(0.2)
        number = int((time.monotonic() - self.began) * self.per_sec)
        while self.plugged:
            number += 1
            time.sleep(max(0.0, self.began + number / self.per_sec - time.monotonic()))
            late = int((time.monotonic() - self.began) * self.per_sec) - number
            # A second of it lies ready in the device, as in a driver's ring.
            if late > self.per_sec:
                self.missed += late
                number += late
            if self.silent:
                continue
            try:
                self.send(client, self.item(number))
            except OSError:
                return
            self.sent += 1

    def send(self, client, data):
        """All of it, however long that takes, unless it is unplugged meanwhile."""
        view = memoryview(data)
        while view and self.plugged:
            try:
                view = view[client.send(view) :]
            except TimeoutError:
                pass


def camera(port, began, programme):
    def part(number):
        picture = programme.picture(number)
        head = f"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n"
        return head.encode() + picture + b"\r\n"

    return Device(port, began, programme.fps, part)


def microphone(port, began, programme):
    return Device(port, began, BLOCKS_PER_SEC, programme.block)
