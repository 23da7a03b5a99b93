"""Does a disguise hide who speaks? A speaker verifier that was trained on disguised speech of the same voices.

    python -m incognote_benchmarks.speech.voices tests/data/speech/dev --out docs/measured/voices.json

All voices are synthetic: those of flite, Festival, and eSpeak NG. Two voices from the recordings of one person are not
compared. The verifier is simple: linear discriminants of the mean and deviation of log-mel bands. The score of a trial
is the cosine of two embeddings. The attacker knows the voices, the program, and its settings, but no seed: the verifier
learned each of the voices, from other sentences. That is more than an attacker of real recordings has. But a stronger
verifier finds more, and the voices are fewer and further apart than people's, so figures say nothing of people.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import soundfile

from incognote.evaluation.intervals import interval
from incognote.evaluation.metrics.tally import RESAMPLES
from incognote.speech.asr.registry import recognizer_of
from incognote.speech.disguise import disguised
from incognote.speech.nouns import RATE
from incognote_benchmarks.speech import espeak, festival, flite
from incognote_benchmarks.speech.measures import word_errors
from incognote_benchmarks.speech.recording import CASTS, SYNTHESIZERS, Voice
from incognote_benchmarks.speech.script import parsed, sayable
from incognote_benchmarks.speech.spoken import Spoken
from incognote_benchmarks.speech.spoken import spoken as leveled

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

    Floats = npt.NDArray[np.float64]

_TIMBRES = ("", "+f1", "+f2", "+f4", "+f5", "+m1", "+m3", "+m4", "+m7", "+klatt")
VOICES: tuple[Voice, ...] = (
    *(("flite", name) for name in flite.VOICES),
    *(("festival", name) for name in festival.VOICES),
    *(("espeak", f"{espeak.VOICES[0]}{timbre}") for timbre in _TIMBRES),
)
"""All voices. Those of eSpeak NG are one voice with other parameters of its formants and pitch."""
_PERSONS = {"cmu_us_slt_arctic_hts": "slt", "kal_diphone": "kal16"}
_WORDS = 12  # of a recording, at least
_BANDS, _FRAME, _HOP = 40, 400, 160
ARMS = {"original, original": ("plain", "plain"), "original, disguised": ("plain", "hidden"),
        "disguised, disguised": ("hidden", "hidden")}  # fmt: skip
"""The two recordings of a trial. Each disguise has a seed of its own."""

Disguise = Callable[["Samples", bytes], "Samples"]
"""Disguises a sound with a seed."""


@dataclass(frozen=True, slots=True)
class Said:
    """A recording of one voice.

    Args:
        person: who spoke it, as a number.
        words: what was said.
        plain: the sound. hidden: the sound in disguises, each with its own seed.
    """

    person: int
    words: tuple[str, ...] = field(repr=False)
    plain: Samples = field(repr=False)
    hidden: tuple[Samples, ...] = field(repr=False)


def ours(sound: Samples, seed: bytes) -> Samples:
    """Return the sound as `incognote.speech.disguise` disguises it."""
    return np.concatenate(list(disguised([sound[:, None]], RATE, seed)))[:, 0]


def lines(folder: Path) -> list[tuple[str, ...]]:
    """Return what is said in the scripts of a folder, as stretches of at least 12 words."""
    made: list[tuple[str, ...]] = []
    for path in sorted(folder.glob("*.txt")):
        held: list[str] = []
        for utterance in parsed(path.read_text(encoding="utf-8")).utterances:
            held += sayable(utterance.words)
            if len(held) >= _WORDS:
                made.append(tuple(held[: 2 * _WORDS]))
                held = []
    return made


def spoken(voices: Sequence[Voice], said: Sequence[Sequence[str]], disguise: Disguise, seeds: int) -> Iterator[Said]:
    """Yield the lines as each of the voices says them.

    Args:
        seeds: the number of disguises of each recording.

    Raises:
        OSError, subprocess.CalledProcessError: a synthesizer or a voice is not installed.
    """
    persons = sorted({_person(voice) for voice in voices})
    for engine, name in voices:
        person = persons.index(_person((engine, name)))
        sounds = _by_program(said, name) if engine == "espeak" else SYNTHESIZERS[engine].say(said, name)
        for line, made in zip(said, sounds, strict=True):
            plain = np.clip(np.rint(made.sound * 32_767), -32_768, 32_767).astype(np.int16)
            own = zlib.crc32(" ".join(line).encode())
            hidden = (disguise(plain, f"{engine} {name} {own} {at}".encode()) for at in range(seeds))
            yield Said(person, tuple(line), plain, tuple(hidden))


def _by_program(said: Sequence[Sequence[str]], voice: str) -> Iterator[Spoken]:
    """Yield lines in a voice of eSpeak NG, without the times of words. Its program starts faster than the library."""
    for line in said:
        command = ["espeak-ng", "--stdout", "-v", voice, " ".join(line)]
        ran = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 -- words of our own scripts
        samples, rate = soundfile.read(io.BytesIO(ran.stdout), dtype="int16")
        yield leveled(samples, rate, [(0.0, len(samples) / rate)])


def _person(voice: Voice) -> str:
    return _PERSONS.get(voice[1], voice[1])


def bands(sound: Samples) -> npt.NDArray[np.float32]:
    """Return the log energies of 40 mel bands, of shape (40, frames of 10 ms)."""
    edges = 700 * (np.exp(np.linspace(0, np.log(1 + RATE / 2 / 700), _BANDS + 2)) - 1)
    bins = np.fft.rfftfreq(512, 1 / RATE)
    low, mid, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    filters = np.clip(np.minimum((bins - low) / (mid - low), (high - bins) / (high - mid)), 0, None)
    frames = np.lib.stride_tricks.sliding_window_view(sound / 32_768, _FRAME)[::_HOP] * np.hamming(_FRAME)
    power = np.abs(np.fft.rfft(frames, 512)) ** 2
    found: npt.NDArray[np.float32] = (np.log(filters @ power.T + 1e-6) / 4 + 1).astype(np.float32)
    return found


def statistics(sound: Samples) -> Floats:
    """Return the mean and deviation of each band and of its change, in frames that are not silent, of shape (160,)."""
    found = bands(sound).T.astype(float)
    loudness = found.mean(1)
    change = np.gradient(found, axis=0)
    spoken_in = loudness > np.quantile(loudness, 0.3)
    parts = (found[spoken_in], change[spoken_in])
    return np.concatenate([each for part in parts for each in (part.mean(0), part.std(0))])


class Verifier:
    """Linear discriminants of statistics over a recording, which learned to tell voices.

    Args:
        sounds: by number of the person, each longer than 50 ms.
    """

    def __init__(self, sounds: Sequence[tuple[int, Samples]]) -> None:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # type: ignore[import-untyped,unused-ignore]  # no types
        from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped,unused-ignore]  # no types
        from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped,unused-ignore]  # no types

        self._model = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.2))
        self._model.fit(np.stack([statistics(sound) for _, sound in sounds]), [person for person, _ in sounds])

    def embedding(self, sound: Samples) -> Floats:
        """Return the embedding of a sound, of length 1 and shape (persons - 1,)."""
        found = self._model.transform(statistics(sound)[None])[0]
        unit: Floats = found / max(1e-9, float(np.linalg.norm(found)))
        return unit


def equal_error(same: Floats, other: Floats) -> float:
    """Return the rate at which as many trials of one person are rejected as of two persons accepted."""
    scores = np.concatenate((same, other))
    order = np.argsort(scores, kind="stable")
    is_same = np.concatenate((np.ones(len(same)), np.zeros(len(other))))[order]
    rejected = np.cumsum(is_same) / len(same)
    accepted = 1 - np.cumsum(1 - is_same) / len(other)
    at = int(np.argmin(np.abs(rejected - accepted)))
    return float((rejected[at] + accepted[at]) / 2)


def trials(one: Mapping[int, Floats], two: Mapping[int, Floats], resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return the equal error rate of all trials of two different recordings, with its 95% interval over persons.

    Args:
        one, two: embeddings of each person's recordings, of shape (recordings, size), in the same order.
    """
    scores = {(a, b): one[a] @ two[b].T for a in one for b in two}
    apart = ~np.eye(len(next(iter(one.values()))), dtype=bool)  # never the same words

    def rate(persons: Sequence[int]) -> float:
        same = np.concatenate([scores[a, a][apart] for a in persons])
        other = np.concatenate([scores[a, b][apart] for a in persons for b in persons if a != b])
        return equal_error(same, other)

    persons = sorted(one)
    random = np.random.default_rng(0)
    drawn = (random.choice(persons, len(persons)).tolist() for _ in range(resamples))
    low, high = interval(np.array([rate(each) for each in drawn if len(set(each)) > 1]))
    count = sum(int(apart.sum()) for _ in persons) * len(persons)
    return {"value": rate(persons), "low": low, "high": high, "of": count}


def rates(verifier: Verifier, heard: Sequence[Said], resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return the equal error rates of each of `ARMS`. A person has as many recordings as any other."""
    made: dict[str, dict[int, Floats]] = {}
    persons = sorted({each.person for each in heard})
    for kind in ("plain", "hidden"):
        for person in persons:
            own = [each for each in heard if each.person == person]
            sounds = [each.plain if kind == "plain" else each.hidden[0] for each in own]
            made.setdefault(kind, {})[person] = np.stack([verifier.embedding(sound) for sound in sounds])
    return {arm: trials(made[one], made[two], resamples) for arm, (one, two) in ARMS.items()}


def errors(heard: Sequence[Said], resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return the word error rates of PocketSphinx, with their 95% intervals over recordings."""
    recognizer = recognizer_of()
    found: dict[str, Any] = {}
    counts = np.array([len(each.words) for each in heard], float)
    for name in ("original", "disguised"):
        wrong = []
        for each in heard:
            sound = each.plain if name == "original" else each.hidden[0]
            wrong.append(word_errors(each.words, [word.text for word in recognizer.hear(sound, "en")]))
        drawn = np.random.default_rng(0).integers(len(wrong), size=(resamples, len(wrong)))
        low, high = interval(np.array(wrong, float)[drawn].sum(1) / counts[drawn].sum(1))
        found[name] = {"value": sum(wrong) / counts.sum(), "low": low, "high": high, "of": int(counts.sum())}
    return found


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: recordings of a voice to learn from and to try, disguises of each"""

    learned: int = 10
    tried: int = 6
    seeds: int = 2
    heard: int = 5
    resamples: int = RESAMPLES


def measured(
    voices: Sequence[Voice], said: Sequence[Sequence[str]], size: Size, disguise: Disguise = ours
) -> dict[str, Any]:
    """Return the equal error rates of a verifier that never heard a disguise, and of an informed one, and word errors.

    Args:
        said: lines, at least `size.learned + size.tried`, of which the last ones are tried.

    Raises:
        ValueError: there are not enough lines.
    """
    if len(said) < size.learned + size.tried:
        raise ValueError("there are not enough lines")
    rest = said[size.learned : size.learned + size.tried]
    learned = list(spoken(voices, said[: size.learned], disguise, size.seeds))
    firsts = {_person(voice): voice for voice in reversed(voices)}  # one voice of a person is tried
    tried = list(spoken(sorted(firsts.values()), rest, disguise, 1))
    plain = [(each.person, each.plain) for each in learned]
    hidden = [(each.person, sound) for each in learned for sound in each.hidden]
    legible = [voice for voice in voices if voice in CASTS["legible"]]
    heard = list(spoken(legible, rest[: size.heard], disguise, 1))
    return {
        "persons": len(firsts),
        "equal error rates": {
            "ignorant": rates(Verifier(plain), tried, size.resamples),
            "informed": rates(Verifier(plain + hidden), tried, size.resamples),
        },
        "word errors": errors(heard, size.resamples) if heard else {},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print and write the figures."""
    ask = argparse.ArgumentParser()
    ask.add_argument("scripts", type=Path)
    ask.add_argument("--out", type=Path)
    said = ask.parse_args(arguments)
    made = measured(VOICES, lines(said.scripts), Size())
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True)  # noqa: S607 -- ours
    made["about"] = {
        "voices": f"{len(VOICES)} synthetic voices of {made['persons']} persons or settings; no person was recorded",
        "attacker": "learned the same voices from other sentences; informed: from disguises with other seeds, too",
        "interval": "bootstrap over voices (word errors: over recordings), 95%",
        "commit": commit.stdout.strip(),
        "date": str(datetime.datetime.now(datetime.UTC).date()),
        "machine": f"{os.cpu_count()} cores, shared",
        "command": "python -m incognote_benchmarks.speech.voices tests/data/speech/dev",
    }
    for attacker, arms in made["equal error rates"].items():
        for arm, each in arms.items():
            sys.stdout.write(f"{attacker:9} {arm:22} EER {_shown(each)}\n")
    for name, each in made["word errors"].items():
        sys.stdout.write(f"word error {name:10} {_shown(each)}\n")
    if said.out:
        said.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _shown(each: Mapping[str, Any]) -> str:
    return f"{each['value']:.3f} [{each['low']:.3f}, {each['high']:.3f}] of {each['of']:,}"


if __name__ == "__main__":
    main()
