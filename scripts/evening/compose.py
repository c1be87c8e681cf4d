#!/usr/bin/env python3
"""Lays the spoken evening out in time, and writes it clean, with babble, and in a room, with everything that is known of it.

    evening.wav            clean: near voices over a faint noise floor, the television through a small loudspeaker
    evening_babble.wav     the same with eight other voices at once, 10 dB below what is said
    evening_room.wav       the same in a room that reverberates for 0.4 s
    NAME.truth.json        engram-truth/1 of each
    NAME.rttm              who speaks when (the television's people, too)

All are 16 kHz, mono, 16 bits, and alike in time: reverberation begins with the direct sound. Times of turns are those of
the samples that are laid in, and so are those of phrases (sentences, long ones parted at commas); within a phrase words
have the times that the network planned, which the sound keeps to about 0.1 s.
"""

import argparse
import datetime
import json
import wave

import numpy as np
import speech

RATE = 16000
LEVEL = 0.07  # root mean square of a turn, of full scale; each speaker a little nearer or farther
FLOOR = 0.0004  # a room is never quite silent
MEDIA_DB = -10.0  # the television below people
BABBLE_DB = -10.0
ROOM_SECS = 0.4  # time in which reverberation falls by 60 dB
DIRECT_DB = 3.0  # energy of the direct sound above the reverberation's
BETWEEN_SENTENCES, AT_COMMAS = 0.3, 0.12  # seconds of silence in a turn
BETWEEN_TURNS = (0.3, 0.9)
EARLY = 0.6  # seconds by which an interruption begins before the other's end


# ---------------------------------------------------------------- sound


def resample(samples):
    """24 kHz to 16 kHz: up by 2, a windowed sinc that passes 7.4 kHz, down by 3."""
    taps = np.arange(-120, 121)
    kernel = 2 * np.sinc(2 * 7700 / 48000 * taps) * (2 * 7700 / 48000) * np.kaiser(len(taps), 8)
    up = np.zeros(2 * len(samples))
    up[::2] = samples
    return np.convolve(up, kernel, "same")[::3]


def rms(samples):
    """Root mean square of what is loud enough to be speech: steps of 20 ms within 30 dB of the loudest."""
    count = len(samples) // 320
    power = np.mean(samples[: count * 320].reshape(count, 320) ** 2, axis=1)
    return float(np.sqrt(power[power > power.max() / 1000].mean()))


def convolved(samples, response):
    """Linear convolution by FFT, as long as the samples."""
    size = 1 << int(np.ceil(np.log2(len(samples) + len(response))))
    return np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(response, size), size)[: len(samples)]


def loudspeaker(samples):
    """A television's: 250 Hz to 4.5 kHz, slopes of an octave."""
    spectrum, hertz = np.fft.rfft(samples), np.fft.rfftfreq(len(samples), 1 / RATE)
    low = np.clip(np.log2(np.maximum(hertz, 1) / 180), 0, 1)
    high = np.clip(np.log2(7000 / np.maximum(hertz, 1)), 0, 1)
    return np.fft.irfft(spectrum * low * high, len(samples))


def room(generator):
    """An impulse response: direct sound, and noise that decays exponentially behind it (a statistical model of a
    room beyond its first reflections, after Polack 1988)."""
    t = np.arange(round(1.2 * ROOM_SECS * RATE)) / RATE
    tail = generator.normal(size=len(t)) * 10 ** (-3 * t / ROOM_SECS)
    tail[: round(0.003 * RATE)] = 0
    tail /= np.sqrt(np.sum(tail**2)) * 10 ** (DIRECT_DB / 20)
    tail[0] = 1.0
    return tail / np.sqrt(1 + 10 ** (-DIRECT_DB / 10))


def write_wave(path, samples):
    """Mono, 16 kHz, 16 bits."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


# ---------------------------------------------------------------- time


def lay_out(plan, turns, tail):
    """Turns with their times, and a track of sound for each person; everything drawn is the same each time."""
    generator = np.random.default_rng(26)
    near = {person: 10 ** (generator.uniform(-2, 2) / 20) for person in plan["people"]}
    at, laid, sounds = 0.0, [], []
    for turn in turns:
        drawn = float(generator.uniform(*BETWEEN_TURNS))
        gap = -EARLY if turn.early else drawn if turn.gap is None else turn.gap
        start = round((max(at + gap, 0.0)) * RATE) / RATE
        pieces, words, t = [], [], 0.0
        for index, (text, samples, spoken) in enumerate(turn.phrases):
            samples = resample(samples)
            words += [{"w": w, "start": start + t + a, "end": start + t + b} for w, a, b in spoken]
            pieces.append((t, text, samples))
            t += len(samples) / RATE
            if index + 1 < len(turn.phrases):
                t += AT_COMMAS if text.endswith(",") else BETWEEN_SENTENCES
        sound = np.zeros(round(t * RATE) + 1)
        for begin, _, samples in pieces:
            first = round(begin * RATE)
            sound[first : first + len(samples)] += samples[: len(sound) - first]
        sound *= LEVEL * near[turn.person] / rms(sound)
        if plan["people"][turn.person].get("media"):
            sound = loudspeaker(sound) * 10 ** (MEDIA_DB / 20)
        sounds.append((turn.person, start, sound))
        laid.append({
            "start": start, "end": start + t, "speaker": turn.person, "text": turn.text,
            "media": bool(plan["people"][turn.person].get("media")),
            "phrases": [{"text": text, "start": start + a, "end": start + a + len(s) / RATE} for a, text, s in pieces],
            "words": words,
        })
        at = max(at, start + t)
    length = at + tail
    tracks = {person: np.zeros(round(length * RATE) + 1) for person in plan["people"]}
    for person, start, sound in sounds:
        first = round(start * RATE)
        tracks[person][first : first + len(sound)] += sound
    return laid, tracks, length


def babble(stems, length, generator):
    """All the voices of the babble at once, each over and over from somewhere else."""
    mix = np.zeros(length)
    for voice, text in speech.BABBLE.items():
        samples = resample(stems.get(text, voice)[0])
        samples = np.concatenate([samples / rms(samples), np.zeros(round(generator.uniform(0.3, 0.8) * RATE))])
        mix += np.resize(np.roll(samples, int(generator.integers(len(samples)))), length)
    return mix


# ---------------------------------------------------------------- what is known


def speaking(phrases):
    """Stretches of speech: phrases, gaps under 0.25 s closed."""
    spans = []
    for phrase in phrases:
        if spans and phrase["start"] - spans[-1]["end"] < 0.25:
            spans[-1]["end"] = phrase["end"]
        else:
            spans.append({"start": phrase["start"], "end": phrase["end"], "mode": "off_screen"})
    return spans


def rounded(value):
    """Times to the millisecond, everywhere."""
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list) else value


def truth(plan, name, laid, length):
    """engram-truth/1 of the whole."""
    start = datetime.datetime.fromisoformat(plan["start"].replace("Z", "+00:00"))
    said = " ".join(turn["text"] for turn in laid)
    identities = []
    for person, facts in plan["people"].items():
        turns = [turn for turn in laid if turn["speaker"] == person]
        spans = speaking([phrase for turn in turns for phrase in turn["phrases"]])
        if turns:
            identities.append({
                "id": person, "label": facts["label"], "on_screen": False, "appearances": 0, "visible_secs": 0.0,
                "media": bool(facts.get("media")), "speaking_secs": sum(s["end"] - s["start"] for s in spans),
                "visible": [], "speaking": spans,
            })
    return rounded({
        "format": "engram-truth/1", "recording": f"{name}.wav",
        "start": start.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "start_unix_ns": int(start.timestamp()) * 10**9,
        "duration_secs": length, "audio": {"rate": RATE, "channels": 1},
        "units": "seconds from the recording's start",
        "names": [name for name in plan["names"] if name in said],
        "identities": identities, "turns": laid,
    })


def rttm(name, known):
    """Lines of NIST's Rich Transcription Time Marked."""
    spans = [(s["start"], s["end"], person["id"]) for person in known["identities"] for s in person["speaking"]]
    return "".join(
        f"SPEAKER {name} 1 {start:.3f} {end - start:.3f} <NA> <NA> {person} <NA> <NA>\n"
        for start, end, person in sorted(spans)
    )


def versions(stems, tracks):
    """Yields each version's name and sound."""
    clean = sum(tracks.values())
    noise = np.random.default_rng(1).normal(0, FLOOR, len(clean))
    yield "evening", clean + noise
    voices = babble(stems, len(clean), np.random.default_rng(2))
    yield "evening_babble", clean + noise + voices * (rms(clean) / rms(voices)) * 10 ** (BABBLE_DB / 20)
    places = np.random.default_rng(3)  # everybody stands somewhere else
    yield "evening_room", sum(convolved(track, room(places)) for track in tracks.values()) + noise


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    speech.arguments(parser)
    parser.add_argument("--out", type=speech.Path, required=True, help="folder of what is made")
    chosen = parser.parse_args()
    plan, stems = speech.opened(chosen)
    speech.speak(plan, stems)
    laid, tracks, length = lay_out(plan, plan["turns"], plan["tail"])
    for name, sound in versions(stems, tracks):
        known = truth(plan, name, laid, length)
        write_wave(chosen.out / f"{name}.wav", sound)
        (chosen.out / f"{name}.truth.json").write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
        (chosen.out / f"{name}.rttm").write_text(rttm(name, known))
        print(f"{chosen.out / name}.wav: {length:.1f} s, {len(laid)} turns")


if __name__ == "__main__":
    main()
