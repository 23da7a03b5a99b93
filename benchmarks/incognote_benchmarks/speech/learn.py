"""Fit the weights with which the embedded judge doubts the words of a recognizer.

    python -m incognote_benchmarks.speech.learn tests/data/speech/dev --only a --remember HEARD --out doubt.json

`doubt.json` belongs into the folder `speech` of the language bundle. The recordings are synthetic, in clean sound.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incognote import Deidentifier
from incognote.evaluation.recordings.measures import GoldRecording
from incognote.formats.audio.document import BLOCK
from incognote.formats.audio.evidence import Evidence, evidence
from incognote.formats.audio.hearing import Hearing
from incognote.formats.audio.transcript import transcript
from incognote.speech.files import SoundFile
from incognote.speech.intervals import intersection, seconds, union
from incognote.speech.nouns import Heard, HeardWord, Interval
from incognote_benchmarks.speech.recording import CASTS, recordings
from incognote_benchmarks.speech.run import Listener, Options, bytes_of, ran

Floats = npt.NDArray[np.float64]
LANGUAGE = "en"
LEAST = 6
"""The words that a fact must be known of."""
RIDGE = 100.0
FOUND, FACT = 0.3, 3.0
"""The weights of words that the detectors of texts find, and of clinical facts; that of others is 1."""
_SPREAD = 0.3  # of facts about single words such as "+1 street", which are rare
_ITERATIONS = 25


@dataclass(frozen=True, slots=True)
class Example:
    """The words of a recording.

    Args:
        facts: the evidence of each.
        shares: how much of the time of each belongs to an identifier.
        weights: of each.
    """

    facts: list[Evidence] = field(repr=False)
    shares: Floats = field(repr=False)
    weights: Floats = field(repr=False)


def example(heard: Heard, gold: GoldRecording, found: Sequence[Interval]) -> Example:
    """Return the words of a recording, to learn from.

    Args:
        found: the parts that are muted without the judge.
    """
    lengths = np.array([min(1.0, word.end - word.start) for word in heard.words])
    shares, facts, muted = (
        np.array([_share(word, union(times)) for word in heard.words]) for times in (gold.private, gold.facts, found)
    )
    weights = lengths * np.where(muted > 0.8, FOUND, 1.0) * np.where(facts > 0.5, FACT, 1.0)
    return Example(evidence(transcript(heard, LANGUAGE), LANGUAGE), shares, weights)


def _share(word: HeardWord, times: Sequence[Interval]) -> float:
    return seconds(intersection([word.interval], times)) / max(0.01, word.end - word.start)


def fitted(examples: Sequence[Example]) -> tuple[float, dict[str, float]]:
    """Return the bias and the weights of a logistic regression, by the names of facts (Newton's method)."""
    every = [facts for each in examples for facts in each.facts]
    counts = Counter(name for facts in every for name in facts)
    names = sorted(name for name, count in counts.items() if count >= LEAST)
    columns = {name: at for at, name in enumerate(names)}
    matrix = np.zeros((len(every), len(names) + 1))
    matrix[:, -1] = 1
    for row, facts in enumerate(every):
        for name, value in facts.items():
            if name in columns:
                matrix[row, columns[name]] = value
    target = np.concatenate([each.shares for each in examples])
    weights = np.concatenate([each.weights for each in examples])
    weights /= weights.mean()
    single = np.array([name[0] in "+-" and " " in name for name in names])
    scales = np.append(np.where(single, _SPREAD, matrix[:, :-1].std(0) + 1e-6), 1.0)
    shifts = np.append(np.where(single, 0.0, matrix[:, :-1].mean(0)), 0.0)
    matrix = (matrix - shifts) / scales
    ridge = np.append(np.full(len(names), RIDGE), 1e-6)
    found = np.zeros(len(names) + 1)
    for _ in range(_ITERATIONS):
        likely = 1 / (1 + np.exp(-(matrix @ found)))
        slope = matrix.T @ (weights * (likely - target)) + ridge * found
        curve = (matrix * (weights * np.maximum(likely * (1 - likely), 1e-4))[:, None]).T @ matrix + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-4:
            break
    own = found / scales
    return float(own[-1] - own[:-1] @ shifts[:-1]), dict(zip(names, own[:-1].tolist(), strict=True))


def text_of(bias: float, facts: dict[str, float]) -> str:
    """Return the file of weights."""
    rounded = {name: round(weight, 3) for name, weight in facts.items()}
    kept = {name: weight for name, weight in rounded.items() if weight}
    return json.dumps({"bias": round(bias, 3), "facts": kept}, indent=0) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit the weights and write them."""
    ask = argparse.ArgumentParser()
    ask.add_argument("scripts", type=Path)
    ask.add_argument("--only", default="", help="a part of the names of scripts")
    ask.add_argument("--remember", type=Path, help="a folder for what was heard")
    ask.add_argument("--out", type=Path, required=True)
    said = ask.parse_args(arguments)
    deid, listener = Deidentifier(), Listener(said.remember)
    examples = []
    for name, condition, recording in recordings(said.scripts, CASTS["legible"], ["clean"], said.only):
        sound = bytes_of(recording, condition)
        heard = listener.hear(SoundFile(sound).blocks(BLOCK), Hearing())
        row = ran(deid, name, recording, sound, "step1", Options(said.remember, quick=True))
        examples.append(example(heard, row.gold, row.muted.muted))
    said.out.write_text(text_of(*fitted(examples)), encoding="utf-8")


if __name__ == "__main__":
    main()
