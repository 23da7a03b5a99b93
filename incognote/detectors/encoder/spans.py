"""From tags to spans: boundaries snapped to words, and what each span is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.base import PASSED, TAKEN
from incognote.detectors.encoder.labels import behind_title, classes, is_none, type_of
from incognote.detectors.encoder.units import Units
from incognote.nouns import Span, Text

Floats = NDArray[np.float32]
LEAST = 0.02
"""What is less probable than this is no doubt: most words of a note lie far below."""
_ENDLESS = 1_000
"""Characters: no identifier is longer."""


def runs(path: NDArray[Any]) -> Iterator[tuple[int, int, int]]:
    """The spans that a legal path draws: (first unit, unit behind the last, class)."""
    begins = np.flatnonzero(path % 2 == 1)
    for begin in begins.tolist():
        kind = (int(path[begin]) - 1) // 2
        end = begin + 1
        while end < len(path) and path[end] == 2 + 2 * kind:
            end += 1
        yield begin, end, kind


def log_odds(logits: Floats) -> Floats:
    """Per row of logits (units or pieces × tags), the log-odds of all other tags together against O."""
    top = logits[:, 1:].max(axis=1)
    odds: Floats = top + np.log(np.exp(logits[:, 1:] - top[:, None]).sum(axis=1)) - logits[:, 0]
    return odds


def sureness(logits: Floats, temperatures: Floats) -> Floats:
    """Per unit, how probable it is that it is part of an identifier, whatever kind.

    The logistic function of `log_odds` over the temperature. Not a softmax at a
    temperature: with 48 tags against one, a high one would make every word an identifier.

    Args:
        logits: units × tags.
        temperatures: per unit, that of the class it was given.
    """
    probable: Floats = 1 / (1 + np.exp(np.clip(-log_odds(logits) / temperatures, -60, 60)))
    return probable


def read_off(
    text: Text, units: Units, path: NDArray[np.int64], logits: Floats, temperatures: Floats, source: str
) -> list[Span]:
    """The spans of one text, disjoint, by offset.

    A span's score is the mean `sureness` of its units, at least `TAKEN`. Its boundaries move outwards to where the run
    of letters and digits ends, so that no finding cuts a word, and inwards over titles; spans that
    come to overlap thereby unite under the surer one's type.
    """
    return drawn(text, units, path, sure_of(path, logits, temperatures), source)


def sure_of(path: NDArray[np.int64], logits: Floats, temperatures: Floats) -> Floats:
    """The `sureness` of each unit that is part of a span of a legal path, by its class."""
    picked = np.flatnonzero(path)
    return sureness(logits[picked], temperatures[(path[picked] - 1) // 2])


def drawn(text: Text, units: Units, path: NDArray[Any], sure: Floats, source: str) -> list[Span]:
    """As `read_off`, with what `sure_of` says of the path."""
    spans: list[Span] = []
    sources = (source,)
    at = 0
    for a, b, kind in runs(path):
        score = float(np.clip(sure[at : at + b - a].mean(), TAKEN, 1))
        at += b - a
        if spans and len(spans[-1]) > _ENDLESS and units.ends[b - 1] <= spans[-1].end:
            spans[-1] = replace(spans[-1], score=max(score, spans[-1].score))
            continue  # to widen each of thousands of units to the same run would take quadratic time
        start, end = snapped(text.content, int(units.starts[a]), int(units.ends[b - 1]))
        start = behind_title(classes()[kind], text.content, start, end)
        if is_none(classes()[kind], text.content[start:end]):
            continue
        if spans and start < spans[-1].end:
            last = spans.pop()
            start, end = last.start, max(end, last.end)
            type_, score = max((last.type, last.score), (_name(kind, text, start, end), score), key=lambda x: x[1])
        else:
            type_ = _name(kind, text, start, end)
        spans.append(Span(text, start, end, type_, score, sources))
    return spans


def doubtful(
    text: Text, units: Units, odds: Floats, likeliest: NDArray[Any], found: Sequence[Span], source: str
) -> Iterator[Span]:
    """What the path passed over though it may be an identifier: runs of units outside all spans, at least `LEAST` sure.

    Their scores tell a router where to ask a language model.

    Args:
        odds: per unit, its `sureness`.
        likeliest: per unit, the likeliest class.
        found: the spans of the path, by offset.
    """
    sources = (source,)
    taken = np.zeros(len(units), bool)
    for span in found:
        taken[np.searchsorted(units.ends, span.start, "right") : np.searchsorted(units.starts, span.end, "left")] = True
    places = np.flatnonzero((odds >= LEAST) & ~taken)
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        if len(run):
            start, end = int(units.starts[run[0]]), int(units.ends[run[-1]])
            surest = run[odds[run].argmax()]
            kind = _name(int(likeliest[surest]), text, start, end)
            yield Span(text, start, end, kind, float(np.clip(odds[surest], 0, PASSED)), sources)


def snapped(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch, widened to whole runs of letters and digits."""
    while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _name(kind: int, text: Text, start: int, end: int) -> str:
    return type_of(classes()[kind], text.content[start:end])
