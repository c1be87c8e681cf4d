"""The Wyoming package, as Home Assistant uses it: an utterance comes back as words, with whose voice it is."""

import asyncio
import io
import unittest
import urllib.request
import wave
from concurrent.futures import ThreadPoolExecutor

from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong

from rig import base, fresh_folder
from robot import free_port

CHUNK_BYTES = 2048


class WyomingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.robot = base().copy(fresh_folder()).start("--set", f"wyoming.listen=127.0.0.1:{cls.port}")

    @classmethod
    def tearDownClass(cls):
        cls.robot.stop()

    def test_words_and_speaker_come_back(self):
        """The longest utterance of somebody with a name is sent again."""
        query = (
            "SELECT p.name, u.clip || '/' || u.turn, u.words FROM utterances u JOIN people p ON p.id = u.person "
            "WHERE p.name IS NOT NULL AND u.words IS NOT NULL ORDER BY u.\"end\" - u.start DESC LIMIT 1"
        )
        [[name, turn, words]] = self.robot.post("query/sql", {"query": query})["rows"]
        with urllib.request.urlopen(f"{self.robot.url}/api/media/{turn}", timeout=30) as sound:
            wav = wave.open(io.BytesIO(sound.read()))
        before = self.robot.post("query/sql", {"query": "SELECT count(*) FROM utterances"})["rows"]
        with ThreadPoolExecutor(1) as pool:
            transcript, refused = pool.submit(lambda: asyncio.run(self.talk(wav))).result()
        said = {word.strip(".,!?").lower() for word in words.split()}
        heard = {word.strip(".,!?").lower() for word in transcript.text.split()}
        self.assertGreaterEqual(len(said & heard), 0.7 * len(said), (words, transcript.text))
        self.assertEqual(transcript.context["speaker"]["name"], name)
        self.assertIn("16000 Hz", refused.text)
        after = self.robot.post("query/sql", {"query": "SELECT count(*) FROM utterances"})["rows"]
        self.assertEqual(before, after, "nothing of it is kept")

    async def talk(self, wav) -> tuple[Transcript, Error]:
        async with AsyncTcpClient("127.0.0.1", self.port) as client:
            await client.write_event(Describe().event())
            info = Info.from_event(await client.read_event())
            self.assertEqual(info.asr[0].name, "engramd")
            self.assertTrue(info.asr[0].models[0].installed)
            await client.write_event(Ping(text="here").event())
            self.assertEqual(Pong.from_event(await client.read_event()).text, "here")
            form = {"rate": wav.getframerate(), "width": wav.getsampwidth(), "channels": wav.getnchannels()}
            frames = wav.readframes(wav.getnframes())
            transcript = await self.utterance(client, frames, form)
            refused = await self.utterance(client, frames, {**form, "rate": 44100})
            return Transcript.from_event(transcript), Error.from_event(refused)

    @staticmethod
    async def utterance(client, frames: bytes, form: dict):
        await client.write_event(Transcribe(language="en").event())
        await client.write_event(AudioStart(**form).event())
        for at in range(0, len(frames), CHUNK_BYTES):
            await client.write_event(AudioChunk(audio=frames[at : at + CHUNK_BYTES], **form).event())
        await client.write_event(AudioStop().event())
        return await client.read_event()
