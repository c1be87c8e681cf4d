"""Speech out of Kokoro-82M (int8 ONNX), with the times of its words.

The network decides for every phoneme how many frames of 25 ms it lasts before it makes any sound. That tensor is no output
of the file, so it is made one: it tells when words are due. What sounds follows within about 0.1 s (plosives looked at in
the waveform came from 0.08 s early to 0.08 s late). There is no noise in the graph: the same text gives the same samples on
the same kind of processor.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RATE = 24000  # of the sound that comes out, mono
FRAME = 600  # samples a duration frame lasts
DURATIONS = "/encoder/Clip_output_0"  # f32 [1, T]: frames of each token

# Where Kokoro's alphabet (one sign a sound) writes what espeak-ng writes in IPA otherwise. `^` joins two signs of one sound.
EVERYWHERE = [
    ("\u0303", ""), ("a^ɪ", "I"), ("a^ʊ", "W"), ("d^ʒ", "ʤ"), ("e^ɪ", "A"), ("t^ʃ", "ʧ"), ("ɔ^ɪ", "Y"), ("ə^l", "ᵊl"),
    ("ʔˌn\u0329", "tᵊn"), ("n\u0329", "ᵊn"), ("ʔ", "t"), ("e^ə", "ɛə"), ("ɚɹ", "əɹ"), ("ɚ", "əɹ"), ("ɐ", "ə"), ("r", "ɹ"), ("x", "k"),
    ("ç", "k"), ("ɬ", "l"), ("ʲ", ""),
]
OF_ACCENT = {
    "en-us": [("o^ʊ", "O"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɪə", "iə"), ("ː", "")],
    "en-gb": [("ə^ʊ", "Q"), ("o^ʊ", "Q"), ("ɛə", "ɛː"), ("iə", "ɪə")],
}
MARKS = "ˈˌː"  # of stress and length
DIPHTHONGS = ("aɪ", "aʊ", "dʒ", "eɪ", "tʃ", "ɔɪ", "oʊ", "əʊ", "eə")


@dataclass
class Word:
    """A word as written, and when it is due: seconds from the beginning of the samples."""

    text: str
    start: float
    end: float


def espeak(text, accent):
    """What espeak-ng says of a text, in IPA, a group a word (it may join small words)."""
    told = subprocess.run(
        ["espeak-ng", "-q", "--ipa=3", "-v", accent, text], check=True, capture_output=True, text=True
    ).stdout
    return re.sub(r"\([a-z-]+\)", "", told.replace("\u200d", "^").replace("_", "")).split()


def respelt(ipa, accent):
    """IPA with `^` in Kokoro's alphabet."""
    for old, new in EVERYWHERE + OF_ACCENT[accent]:
        ipa = ipa.replace(old, new)
    return ipa.replace("^", "")


def joined(ipa):
    """IPA as people write it, with `^` in its diphthongs and affricates."""
    for pair in DIPHTHONGS:
        ipa = ipa.replace(pair, pair[0] + "^" + pair[1])
    return ipa


def bare(word):
    """A word without the punctuation around it."""
    return word.strip(".,;:!?\"")


def heard(signs):
    """How many of Kokoro's signs are sounds."""
    return sum(sign not in MARKS for sign in signs)


def shared_out(groups, words):
    """Which consecutive words each group holds, as (first, past the last), so that the numbers of sounds fit best."""
    best = {(0, 0): (0, [])}
    for g, size in enumerate(groups, 1):
        for past in range(g, len(words) + 1):
            ways = [
                (best[g - 1, first][0] + abs(size - sum(words[first:past])), best[g - 1, first][1] + [(first, past)])
                for first in range(g - 1, past)
                if (g - 1, first) in best
            ]
            if ways:
                best[g, past] = min(ways, key=lambda way: way[0])
    return best[len(groups), len(words)][1]


class Kokoro:
    """Voices of one folder, with one network."""

    def __init__(self, network, voices, vocabulary, names, threads=1):
        """`names`: IPA of names by how they are written; empty where espeak-ng knows better."""
        self.network, self.threads, self.session = network, threads, None
        self.voices = Path(voices)
        self.numbers = json.loads(Path(vocabulary).read_text())["vocab"]
        self.names = {name: joined(ipa) for name, ipa in names.items() if ipa}

    def phonemes(self, words, accent):
        """Kokoro's signs for each of the words; what espeak-ng joins is parted where the words alone would part."""
        out, run = [], []

        def flush():
            if run:
                out.extend(self._run(run, accent))
                run.clear()

        for word in words:
            name, _, ending = bare(word).partition("'")
            if name not in self.names:
                run.append(bare(word))
                continue
            flush()
            out.append(respelt(self.names[name] + {"s": "z"}.get(ending, ""), accent))
        flush()
        # Without any stress "I" is shortened until it cannot be heard.
        return ["ˌ" + signs if word[0] == "I" and signs[0] == "I" else signs for word, signs in zip(words, out, strict=True)]

    def _run(self, words, accent):
        groups = [respelt(group, accent) for group in espeak(" ".join(words), accent)]
        if len(groups) == len(words):
            return groups
        alone = [heard(respelt("".join(espeak(word, accent)), accent)) for word in words]
        out = []
        for group, (first, last) in zip(groups, shared_out(list(map(heard, groups)), alone), strict=True):
            for length in alone[first : last - 1]:
                # The first signs that hold as many sounds; marks of stress belong to the sound behind them.
                cut = next((at for at in range(len(group)) if heard(group[:at]) == length and group[at] not in MARKS), 0)
                out.append(group[:cut])
                group = group[cut:]
            out.append(group)
        return out

    def spell(self, text, voice):
        """What is spoken for a text: each word with its signs and the punctuation behind it."""
        words = text.split()
        signs = self.phonemes(words, "en-gb" if voice.startswith("b") else "en-us")
        return [[word, sounds, word[len(word.rstrip(".,;:!?")) :]] for word, sounds in zip(words, signs, strict=True)]

    def __call__(self, spelled, voice, speed=1.0):
        """What `spell` gave, spoken: samples f32 of 24 kHz (silence around it included) and its words."""
        self.session = self.session or self._open()
        tokens, places = [0], []
        for word, sounds, marks in spelled:
            if places:
                tokens.append(self.numbers[" "])
            unknown = [sign for sign in sounds if sign not in self.numbers]
            if unknown:
                raise SystemExit(f"Kokoro has no sign for {unknown} in `{word}` ({sounds})")
            begin = len(tokens)
            tokens += [self.numbers[sign] for sign in sounds]
            places.append((word, begin, len(tokens)))
            tokens += [self.numbers[sign] for sign in marks]
        tokens.append(0)
        style = np.fromfile(self.voices / f"{voice}.bin", np.float32).reshape(-1, 256)[len(tokens) - 2]
        audio, frames = self.session.run(
            [self.session.get_outputs()[0].name, DURATIONS],
            {
                "tokens": np.array([tokens], np.int64),
                "style": style[None],
                "speed": np.array([speed], np.float32),
            },
        )
        audio, ends = audio.reshape(-1), np.cumsum(frames.reshape(-1)) * FRAME / RATE
        if abs(len(audio) / RATE - ends[-1]) > 0.1:
            raise SystemExit(f"{spelled}: {len(audio) / RATE:.3f} s of sound, but its phonemes last {ends[-1]:.3f} s")
        return audio, [Word(bare(w), float(ends[a - 1]), float(ends[b - 1])) for w, a, b in places]

    def _open(self):
        import onnx
        import onnxruntime

        model = onnx.load(self.network)
        model.graph.output.append(onnx.helper.make_tensor_value_info(DURATIONS, onnx.TensorProto.FLOAT, None))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = self.threads
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
