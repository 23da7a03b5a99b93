"""From texts to spans, with any model that computes the logits of windows: a session at run time, torch in training.

Span boundaries are moved to word boundaries, and each span gets a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.detectors import PASSED, TAKEN
from incognote.detectors.encoder.bundle import Exit, behind_title, classes, is_none, type_of
from incognote.detectors.encoder.units import Encoded, Numbering, Units
from incognote.detectors.encoder.viterbi import Decoder
from incognote.detectors.encoder.windows import Stitches, Window, batch, cut, log_odds, stitched
from incognote.nouns import Span, Text

LEAST = 0.02
"""The minimum probability of a doubt. Most words of a note are far below it."""
_ENDLESS = 1_000
"""The maximum length of an identifier, in characters."""
Floats = NDArray[np.float32]
Run = Callable[[NDArray[np.int64], Floats], Floats]
"""Takes ids and features, returns logits (windows × pieces × tags).

Shapes: ids are windows × pieces, or windows × words × `words.WIDTH`. Features are windows × pieces × 64.
"""


def runs(path: NDArray[Any]) -> Iterator[tuple[int, int, int]]:
    """Yield the spans of a legal path as (first unit, last unit + 1, class)."""
    begins = np.flatnonzero(path % 2 == 1)
    for begin in begins.tolist():
        kind = (int(path[begin]) - 1) // 2
        end = begin + 1
        while end < len(path) and path[end] == 2 + 2 * kind:
            end += 1
        yield begin, end, kind


def sureness(logits: Floats, temperatures: Floats) -> Floats:
    """The probability of each unit to be part of an identifier of any class.

    This is the logistic function of `log_odds` divided by the temperature. It is not a softmax with a temperature: with
    48 tags against one, a high temperature would make every word an identifier.

    Args:
        logits: units × tags.
        temperatures: for each unit, the temperature of its class.
    """
    probable: Floats = 1 / (1 + np.exp(np.clip(-log_odds(logits) / temperatures, -60, 60)))
    return probable


def read_off(
    text: Text, units: Units, path: NDArray[np.int64], logits: Floats, temperatures: Floats, source: str
) -> list[Span]:
    """Return the disjoint spans of one text, ordered by offset.

    A span's score is the mean `sureness` of its units, and at least `TAKEN`. Its boundaries move outward to the end of
    the run of letters and digits, so that no span cuts a word, and inward over titles. Spans that overlap after this
    are merged and take the type of the one with the higher score.
    """
    return drawn(text, units, path, sure_of(path, logits, temperatures), source)


def sure_of(path: NDArray[np.int64], logits: Floats, temperatures: Floats) -> Floats:
    """The `sureness` of each unit that is part of a span of a legal path, by its class."""
    picked = np.flatnonzero(path)
    return sureness(logits[picked], temperatures[(path[picked] - 1) // 2])


def drawn(text: Text, units: Units, path: NDArray[Any], sure: Floats, source: str) -> list[Span]:
    """Like `read_off`, but takes the result of `sure_of` for the path."""
    spans: list[Span] = []
    sources = (source,)
    at = 0
    for a, b, kind in runs(path):
        score = float(np.clip(sure[at : at + b - a].mean(), TAKEN, 1))
        at += b - a
        if spans and len(spans[-1]) > _ENDLESS and units.ends[b - 1] <= spans[-1].end:
            spans[-1] = replace(spans[-1], score=max(score, spans[-1].score))
            continue  # widening thousands of units to the same run would take quadratic time
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
    """Yield possible identifiers that the path missed: runs of units outside all spans with at least `LEAST` sureness.

    Their scores show a router where to ask a language model.

    Args:
        odds: the `sureness` of each unit.
        likeliest: the most probable class of each unit.
        found: the spans of the path, ordered by offset.
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
    """Widen a stretch of text to whole runs of letters and digits."""
    while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _name(kind: int, text: Text, start: int, end: int) -> str:
    return type_of(classes()[kind], text.content[start:end])


@dataclass(frozen=True, slots=True)
class Cutting:
    """How texts are cut into windows: the tokenizer, the window size, and the overlap of neighboring windows."""

    pieces: Numbering
    window: int
    overlap: int


def logits_of(texts: Sequence[str], cutting: Cutting, run: Run, tags: int) -> tuple[list[Encoded], list[Floats]]:
    """Return the pieces of each text and the logits of its units (units × tags).

    Each window runs alone. int8 activations are scaled by the largest value of a batch. In a batch, other texts would
    therefore change the last digits of a text's logits, and a worker and a notebook would give different results. A
    single window also needs no padding, so attention needs no mask. It fits in the cache, which is as fast as a batch.
    """
    encoded = [cutting.pieces(text) for text in texts]
    stitches = Stitches(encoded, tags)
    for i, one in enumerate(encoded):
        for window in cut(i, one, cutting.window, cutting.overlap):
            alone = batch(encoded, [window], cutting.pieces.special)
            stitches.add(alone, run(alone.ids, alone.features))
    return encoded, stitches.texts()


def blocks_of(one: Encoded, cutting: Cutting, run: Run, tags: int) -> Iterator[Floats]:
    """Like `logits_of`, but for one text, in blocks. All logits of a large text take about 60 bytes per character."""

    def ran() -> Iterator[tuple[Window, Floats]]:
        for window in cut(0, one, cutting.window, cutting.overlap):
            alone = batch([one], [window], cutting.pieces.special)
            yield window, run(alone.ids, alone.features)[0][alone.at[0]]

    return stitched(ran(), tags)


@dataclass(frozen=True, slots=True)
class EncoderReading:
    """The encoder's result for one text.

    Attributes:
        spans: disjoint spans, ordered by offset.
        doubts: places outside the spans that may hold an identifier, see `doubtful`.
    """

    spans: list[Span]
    doubts: list[Span]
    _units: Units
    _odds: Floats

    def sure(self, start: int, end: int) -> float:
        """The highest probability of a word in this range to be part of an identifier; 0 if it contains no word."""
        first = int(np.searchsorted(self._units.ends, start, side="right"))
        behind = int(np.searchsorted(self._units.starts, end, side="left"))
        return float(self._odds[first:behind].max(initial=0.0))


class Finder:
    """Decodes logits to spans.

    Args:
        way: the exit that computed the logits.
        bias: added to the logit of O; scores move with it.
        source: the entry in each span's `sources`.
    """

    def __init__(self, way: Exit, bias: float, source: str) -> None:
        self._bias, self._source, self._temperatures = bias, source, way.temperatures
        self._decode = Decoder(way.transitions)

    def __call__(
        self, texts: Sequence[Text], encoded: Sequence[Encoded], logits: Sequence[Floats]
    ) -> list[EncoderReading]:
        """Return one reading per text."""
        moved = [self._moved(each) for each in logits]
        made = []
        for text, one, path, each in zip(texts, encoded, self._decode(moved), moved, strict=True):
            spans = read_off(text, one.units, path, each, self._temperatures, self._source)
            likeliest = each[:, 1:].argmax(axis=1) // 2 if len(each) else np.zeros(0, np.int64)
            odds = sureness(each, self._temperatures[likeliest])
            doubts = doubtful(text, one.units, odds, likeliest, spans, self._source)
            made.append(EncoderReading(spans, [*doubts], one.units, odds))
        return made

    def large(self, text: Text, one: Encoded, blocks: Iterator[Floats]) -> EncoderReading:
        """Return the same reading for one text from its logits in blocks. Only the needed part of a block is kept."""
        n, at = len(one.units), 0
        path, likeliest, odds = np.zeros(n, np.int8), np.zeros(n, np.int8), np.zeros(n, np.float32)
        sure: list[Floats] = []
        held: Floats | None = self._moved(next(blocks))
        while held is not None:
            block = next(blocks, None)
            rows = held if block is None else np.concatenate([held, self._moved(block)])
            stop = len(rows) if block is None else self._decode.part(rows)
            (tags,) = self._decode([rows[: stop + 1]])
            done, tags = rows[:stop], tags[:stop]
            sure.append(sure_of(tags, done, self._temperatures))
            kinds = done[:, 1:].argmax(axis=1) // 2
            path[at : at + stop], likeliest[at : at + stop] = tags, kinds
            odds[at : at + stop] = sureness(done, self._temperatures[kinds])
            at += stop
            held = None if block is None else rows[stop:]
        spans = drawn(text, one.units, path, np.concatenate(sure), self._source)
        doubts = [*doubtful(text, one.units, odds, likeliest, spans, self._source)]
        return EncoderReading(spans, doubts, one.units, odds)

    def _moved(self, logits: Floats) -> Floats:
        moved = logits.copy()
        moved[:, 0] += self._bias
        return moved
