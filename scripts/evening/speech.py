#!/usr/bin/env python3
"""Reads the evening's text and has it spoken, phrase by phrase, into a folder of clean stems.

A phrase lies in `<hash>.wav` (16 bits, 24 kHz, mono, as the network made it) with `<hash>.json` beside it: its text, voice,
speed, when sound begins and ends in it, and its words with their times. The hash is of everything that it is made from, sign for sign:
what is there is not made again.
"""

import argparse
import hashlib
import json
import re
import time
import tomllib
import wave
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from kokoro import Kokoro

RATE = 24000
CLAUSE = 4  # words that both sides of a comma need to be spoken one by one
DEMO = "==== demo"

# What the babble of other voices says. It means nothing to anybody.
BABBLE = {
    "af_bella": "The market opens early, and most of the stalls are gone before the shops have raised their shutters.",
    "am_fenrir": "He counted the boxes twice, wrote the number on a card, and sent the driver around to the other gate.",
    "bf_alice": "If the paint is still wet in the morning, leave the windows open and come back after the lecture.",
    "bm_lewis": "There were more people on the platform than I had expected, and hardly any of them carried a bag.",
    "af_nova": "My neighbour keeps bees on the roof, so nobody is surprised when the hallway smells of honey.",
    "am_eric": "We walked along the canal for an hour, talking about nothing much, until the rain drove us inside.",
    "bf_lily": "You could hear the band from the far end of the square, though they had only just begun to play.",
    "bm_daniel": "The third drawing is better than the others, but the roof is too steep and the doors are too small.",
}


@dataclass
class Turn:
    """What somebody says in one go. `gap`: seconds of silence before it, None where one is to be drawn."""

    person: str
    text: str
    gap: float | None = None
    early: bool = False
    demo: bool = False
    phrases: list = field(default_factory=list)


def read(path):
    """The plan of a file like evening.toml: its people, names and turns; `tail` is the silence behind the last one."""
    plan = tomllib.loads(Path(path).read_text())
    turns, gap, demo_turns, demo_tail = [], None, None, 0.0
    for number, line in enumerate(plan["text"]["lines"].splitlines()):
        line = line.strip()
        if not line:
            continue
        if line == DEMO:
            demo_turns, demo_tail = len(turns), gap or 0.0
        elif pause := re.fullmatch(r"\(([\d.]+)\)", line):
            gap = (gap or 0.0) + float(pause[1])
        elif said := re.fullmatch(r"(\+ )?(\w+): (.+)", line):
            if said[2] not in plan["people"]:
                raise SystemExit(f"{path}, line {number} of the text: nobody is called {said[2]}")
            turns.append(Turn(said[2], said[3], gap, bool(said[1])))
            gap = None
        else:
            raise SystemExit(f"{path}, line {number} of the text is no turn, pause or mark: {line}")
    for turn in turns[: demo_turns or 0]:
        turn.demo = True
    plan["turns"], plan["tail"], plan["demo_tail"] = turns, gap or 0.0, demo_tail
    return plan


def phrases(text):
    """A turn's sentences, long ones parted at commas with a few words on both sides."""
    out = []
    for sentence in re.findall(r"[^.?!]+[.?!]+", text):
        parts = [part.strip() for part in re.split(r"(?<=,)\s", sentence.strip())]
        joined = [parts[0]]
        for part in parts[1:]:
            if len(joined[-1].split()) >= CLAUSE and len(part.split()) >= CLAUSE:
                joined.append(part)
            else:
                joined[-1] += " " + part
        out += joined
    if "".join(out).replace(" ", "") != text.replace(" ", ""):
        raise SystemExit(f"`{text}` does not end like a sentence")
    return out


class OutOfTime(Exception):
    """A phrase is missing, and the time that making them may take is over."""


class Stems:
    """Spoken phrases on disk, made on demand."""

    def __init__(self, folder, kokoro):
        self.folder, self.kokoro = Path(folder), kokoro
        self.made, self.until = 0, None
        self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, text, voice, speed=1.0):
        """Samples f32 of 24 kHz between first and last sound, and the words' [text, start, end] in them."""
        spelled = self.kokoro.spell(text, voice)
        source = json.dumps([1, spelled, voice, speed], ensure_ascii=False)
        stem = self.folder / hashlib.sha256(source.encode()).hexdigest()[:16]
        sound, facts = stem.with_suffix(".wav"), stem.with_suffix(".json")
        if not (sound.exists() and facts.exists()):
            self._make(text, spelled, voice, speed, sound, facts)
        told = json.loads(facts.read_text())
        with wave.open(str(sound)) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
        start, end = told["start"], told["end"]
        # The first word begins with the sound and the last one ends with it; every word lasts at least two frames.
        words, at = [], 0.0
        for index, (word, begin, past) in enumerate(told["words"]):
            begin = max(begin - start, at) if index else 0.0
            at = end - start if index + 1 == len(told["words"]) else max(past - start, begin + 0.05)
            words.append([word, min(begin, end - start), min(at, end - start)])
        return samples[round(start * RATE) : round(end * RATE)], words

    def _make(self, text, spelled, voice, speed, sound, facts):
        if self.until and time.monotonic() > self.until:
            raise OutOfTime
        samples, words = self.kokoro(spelled, voice, speed)
        step = RATE // 100
        level = np.sqrt(np.mean(samples[: len(samples) // step * step].reshape(-1, step) ** 2, axis=1))
        loud = np.flatnonzero(level > 0.02 * level.max())
        start, end = max(loud[0] - 1, 0) / 100, min((loud[-1] + 2) / 100, len(samples) / RATE)
        scratch = sound.with_suffix(".part")
        with wave.open(str(scratch), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
        scratch.replace(sound)
        facts.write_text(json.dumps({
            "text": text, "voice": voice, "speed": speed, "start": start, "end": end,
            "words": [[word.text, word.start, word.end] for word in words],
        }, ensure_ascii=False) + "\n")
        self.made += 1


def speak(plan, stems, only_demo=False):
    """Fills in each turn's phrases: (text, samples, words)."""
    turns = [turn for turn in plan["turns"] if turn.demo or not only_demo]
    for number, turn in enumerate(turns, 1):
        person = plan["people"][turn.person]
        turn.phrases = [(text, *stems.get(text, person["voice"], person.get("speed", 1.0))) for text in phrases(turn.text)]
        if number % 20 == 0:
            print(f"{number} of {len(turns)} turns spoken", flush=True)


def arguments(parser):
    """The three files of Kokoro and the folder of stems."""
    parser.add_argument("--text", type=Path, default=Path(__file__).with_name("evening.toml"))
    parser.add_argument("--kokoro", type=Path, required=True, help="folder with kokoro.onnx, vocab.json and voices/")
    parser.add_argument("--stems", type=Path, required=True, help="folder for spoken phrases, kept")


def opened(chosen):
    """The plan and the stems of parsed arguments."""
    plan, files = read(chosen.text), chosen.kokoro
    kokoro = Kokoro(files / "kokoro.onnx", files / "voices", files / "vocab.json", plan["names"])
    return plan, Stems(chosen.stems, kokoro)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    parser.add_argument("--only-demo", action="store_true", help="what is said before the mark `==== demo` alone")
    parser.add_argument("--babble", action="store_true", help="the sentences of the babble, too")
    parser.add_argument("--secs", type=float, help="begin no phrase after so many seconds")
    chosen = parser.parse_args()
    plan, stems = opened(chosen)
    stems.until = time.monotonic() + chosen.secs if chosen.secs else None
    try:
        speak(plan, stems, chosen.only_demo)
        if chosen.babble:
            for voice, text in BABBLE.items():
                stems.get(text, voice)
    except OutOfTime:
        print("more is missing; run this again")
    print(f"{stems.made} phrases were made", flush=True)


if __name__ == "__main__":
    main()
