"""Recordings of scripts: who speaks with which voice, when, and under which condition.

    python -m incognote_benchmarks.speech.recording tests/data/speech/dev build/speech/dev --conditions clean telephone

writes `NAME.CONDITION.wav`, and `gold.jsonl` with the times of identifiers and words, as `incognote evaluate` reads it.
The same scripts give the same sound.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import soundfile

from incognote.evaluation.recordings.measures import GoldRecording, SpokenIdentifier
from incognote.speech.nouns import RATE, Interval
from incognote_benchmarks.speech import conditions, espeak, festival, flite
from incognote_benchmarks.speech.conditions import CONDITIONS
from incognote_benchmarks.speech.script import Script, ScriptWord, parsed, sayable
from incognote_benchmarks.speech.spoken import Sound, Spoken

Voice = tuple[str, str]
"""The synthesizer and the name of its voice."""
SYNTHESIZERS = {"flite": flite, "festival": festival, "espeak": espeak}
CASTS: dict[str, tuple[Voice, ...]] = {
    "legible": (*(("flite", name) for name in flite.VOICES), ("festival", festival.VOICES[0])),
    "espeak": tuple(("espeak", name) for name in espeak.VOICES),
}
"""The voices of a cast. PocketSphinx cannot read the voices of `espeak`."""
_PAUSE = (0.25, 0.7)  # seconds between two utterances
_NOISE = 0.5  # seconds of a noise that the script marks
_CROSSED = 0.6  # seconds before the end of an utterance at which an interrupting one starts


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word with its time in the recording, and its speaker."""

    word: ScriptWord
    speaker: str
    time: Interval


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording whose words are known.

    Args:
        sound: samples at `RATE`.
        words: in the order of the script.
        voices: by speaker.
    """

    sound: Sound = field(repr=False)
    words: tuple[TimedWord, ...] = field(repr=False)
    voices: dict[str, Voice]

    def gold(self, name: str) -> GoldRecording:
        """Return its identifiers, speech and clinical facts."""
        phrases: dict[int, list[TimedWord]] = {}
        for each in self.words:
            if each.word.phrase is not None:
                phrases.setdefault(each.word.phrase, []).append(each)
        return GoldRecording(
            name,
            tuple(SpokenIdentifier(own[0].word.type, tuple(w.time for w in own)) for own in phrases.values()),
            tuple(each.time for each in self.words),
            tuple(each.time for each in self.words if each.word.fact),
        )


def cast(script: Script, voices: Sequence[Voice], name: str) -> dict[str, Voice]:
    """Return a voice for each speaker. Speakers differ if there are enough voices."""
    first = zlib.crc32(name.encode())
    return {speaker: voices[(first + i) % len(voices)] for i, speaker in enumerate(script.speakers)}


def recorded(script: Script, voices: dict[str, Voice], name: str, condition: str = "clean") -> Recording:
    """Return the recording of a script.

    Args:
        voices: by speaker.
        name: decides pauses and noises.
        condition: one of `CONDITIONS`. Only under `overlap` do speakers start before the one before them has ended.

    Raises:
        OSError, subprocess.CalledProcessError: a synthesizer or a voice is not installed.
    """
    random = np.random.default_rng(zlib.crc32(f"{name} pauses".encode()))
    parts: list[tuple[int, Sound]] = []
    words: list[TimedWord] = []
    at = 0.2
    crossing: float | None = None
    for utterance, said in zip(script.utterances, _said(script, voices), strict=True):
        pause = random.uniform(*_PAUSE)
        if any(word.noisy for word in utterance.words):
            parts.append((round((at + pause) * RATE), conditions.rustle(_NOISE, random)))
            pause += _NOISE + 0.2
        begin = at + pause
        if condition == "overlap":
            if crossing is not None:
                begin = crossing
            elif utterance.interrupts and words:
                begin = max(0.0, at - _CROSSED)
        parts.append((round(begin * RATE), said.sound))
        for word, (start, end) in zip(utterance.words, said.times, strict=True):
            words.append(TimedWord(word, utterance.speaker, Interval(begin + start, begin + end)))
        crosses = [begin + start for word, (start, _) in zip(utterance.words, said.times, strict=True) if word.crossed]
        crossing = crosses[-1] if crosses else None
        at = max(at, begin + len(said.sound) / RATE)
    sound = np.zeros(round((at + 0.3) * RATE))
    for start, part in parts:
        sound[start : start + len(part)] += part[: len(sound) - start]
    return Recording(conditions.applied(condition, sound, name), tuple(words), voices)


def _said(script: Script, voices: dict[str, Voice]) -> list[Spoken]:
    """Return the sound of every utterance. Each voice speaks all of its lines at once."""
    made: dict[int, Spoken] = {}
    for voice in sorted(set(voices.values())):
        own = [i for i, each in enumerate(script.utterances) if voices[each.speaker] == voice]
        engine, name = voice
        spoken = SYNTHESIZERS[engine].say([sayable(script.utterances[i].words) for i in own], name)
        made.update(zip(own, spoken, strict=True))
    return [made[i] for i in range(len(script.utterances))]


def line_of(recording: Recording, name: str) -> dict[str, Any]:
    """Return the line of a gold file for `incognote evaluate`, with the words that were said."""

    def time(each: TimedWord) -> dict[str, Any]:
        return {"start": round(each.time.start, 3), "end": round(each.time.end, 3)}

    private = [w for w in recording.words if w.word.phrase is not None]
    return {
        "id": name,
        "intervals": [{**time(w), "type": w.word.type, "phrase": w.word.phrase} for w in private],
        "speech": [{**time(w), "text": w.word.text, "fact": w.word.fact} for w in recording.words],
        "voices": {speaker: "/".join(voice) for speaker, voice in recording.voices.items()},
    }


def recordings(
    folder: Path, voices: Sequence[Voice], wanted: Sequence[str], only: str = ""
) -> Iterator[tuple[str, str, Recording]]:
    """Yield the name, condition, and recording of every script of a folder.

    Raises:
        ValueError: a script does not fit the format.
    """
    for path in sorted(folder.glob("*.txt")):
        if only in path.stem:
            script = parsed(path.read_text(encoding="utf-8"))
            for condition in wanted:
                yield path.stem, condition, recorded(script, cast(script, voices, path.stem), path.stem, condition)


def write(path: Path | BinaryIO, recording: Recording, condition: str) -> None:
    """Write the sound: 16 bits at `RATE`, or 8 kHz mu-law for a telephone."""
    rate, subtype = (RATE // 2, "ULAW") if condition == "telephone" else (RATE, "PCM_16")
    sound = recording.sound[::2] if condition == "telephone" else recording.sound
    soundfile.write(path, sound, rate, format="WAV", subtype=subtype)


def main() -> None:
    """Write recordings and their gold."""
    ask = argparse.ArgumentParser()
    ask.add_argument("scripts", type=Path)
    ask.add_argument("out", type=Path)
    ask.add_argument("--conditions", nargs="*", choices=CONDITIONS, default=list(CONDITIONS))
    ask.add_argument("--cast", choices=CASTS, default="legible")
    ask.add_argument("--only", default="")
    said = ask.parse_args()
    said.out.mkdir(parents=True, exist_ok=True)
    with (said.out / "gold.jsonl").open("w", encoding="utf-8") as gold:
        for name, condition, recording in recordings(said.scripts, CASTS[said.cast], said.conditions, said.only):
            file = f"{name}.{condition}.wav"
            write(said.out / file, recording, condition)
            gold.write(json.dumps(line_of(recording, file)) + "\n")


if __name__ == "__main__":
    main()
