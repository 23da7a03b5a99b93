"""How likely a word of a recognizer stands for an identifier, and which stretches are therefore muted.

A logistic regression weighs the evidence of each word. Its weights belong to the language bundle (`speech/doubt.json`);
`incognote_benchmarks.speech.learn` fits them to synthetic recordings.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import cache
from math import exp
from typing import NamedTuple

from incognote.formats.audio.evidence import Evidence, evidence
from incognote.formats.audio.transcript import Transcript
from incognote.languages import language
from incognote.speech.nouns import HeardWord

RATIO = 5.5
"""How many seconds of other speech may be muted to mute a second of identifiers."""
MARGIN = 0.3
"""Seconds before and after a stretch that are muted with it."""


class Weights(NamedTuple):
    """The weights of facts, by their names, and the bias."""

    bias: float
    facts: dict[str, float]

    def likelihood(self, facts: Evidence) -> float:
        """Return how likely a word is part of an identifier, from 0 to 1."""
        weighed = self.bias + sum(self.facts.get(name, 0.0) * value for name, value in facts.items())
        return 1 / (1 + exp(-max(-50.0, min(50.0, weighed))))


@cache
def weights(code: str) -> Weights:
    """Return the weights of a language. A language without weights has none: every word is doubted.

    Args:
        code: ISO 639-1.
    """
    file = language(code).file("speech", "doubt.json")
    if not file.is_file():
        return Weights(0.0, {})
    table = json.loads(file.read_text(encoding="utf-8"))
    return Weights(table["bias"], table["facts"])


def doubts(transcript: Transcript, language: str) -> list[float]:
    """Return for each word how likely it is part of an identifier, from 0 to 1.

    Args:
        language: ISO 639-1.
    """
    own = weights(language)
    return [own.likelihood(each) for each in evidence(transcript, language)]


def stretches(
    words: Sequence[HeardWord], likely: Sequence[float], found: Collection[int] = (), ratio: float = RATIO
) -> list[bool]:
    """Return for each word whether it is muted.

    The stretches mute the most seconds of identifiers, of which each outweighs `ratio` seconds of other speech. The
    margins around each stretch count, so there are few and long ones (Viterbi, with a state for muted and for kept).

    Args:
        likely: how likely each word is part of an identifier.
        found: the words that are muted in any case.
    """
    gains = [0.0 if at in found else ratio * each - (1 - each) for at, each in enumerate(likely)]  # of a muted second
    kept, muted = 0.0, float("-inf")
    steps: list[tuple[bool, bool]] = []  # whether the word before is muted, if this one is kept, and if it is muted
    for at, word in enumerate(words):
        pause = word.start - words[at - 1].end if at else MARGIN
        before, after = (
            min(max(0.0, MARGIN - pause), words[each].end - words[each].start) * min(0.0, gains[each])
            for each in (at - 1 if at else at, at)
        )
        begins, ends = kept + before, muted + after
        steps.append((ends > kept, muted > begins))
        kept, muted = max(kept, ends), max(begins, muted) + gains[at] * (word.end - word.start)
    is_muted = muted > kept
    backward: list[bool] = []
    for step in reversed(steps):
        backward.append(is_muted)
        is_muted = step[is_muted]
    return backward[::-1]
