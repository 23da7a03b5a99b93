"""From texts to spans, given any model that makes logits of windows: the session at run time, torch while training.

Boundaries are snapped to words, and each span gets a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.detectors import PASSED, TAKEN
from incognote.detectors.encoder.bundle import Exit, behind_title, classes, is_none, type_of
from incognote.detectors.encoder.units import Encoded, Pieces, Units
from incognote.detectors.encoder.viterbi import Decoder
from incognote.detectors.encoder.windows import Stitches, Window, batch, cut, log_odds, stitched
from incognote.nouns import Span, Text

LEAST = 0.02
"""What is less probable than this is no doubt: most words of a note lie far below."""
_ENDLESS = 1_000
"""Characters: no identifier is longer."""
Floats = NDArray[np.float32]
Run = Callable[[NDArray[np.int64], Floats], Floats]
"""ids (windows × pieces) and features (windows × pieces × 64) in, logits (windows × pieces × tags) out."""


def runs(path: NDArray[Any]) -> Iterator[tuple[int, int, int]]:
    """The spans that a legal path draws: (first unit, unit behind the last, class)."""
    begins = np.flatnonzero(path % 2 == 1)
    for begin in begins.tolist():
        kind = (int(path[begin]) - 1) // 2
        end = begin + 1
        while end < len(path) and path[end] == 2 + 2 * kind:
            end += 1
        yield begin, end, kind


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


@dataclass(frozen=True, slots=True)
class Cutting:
    """How texts become windows: the pieces, the size of a window and what neighbours share."""

    pieces: Pieces
    window: int
    overlap: int


def logits_of(texts: Sequence[str], cutting: Cutting, run: Run, tags: int) -> tuple[list[Encoded], list[Floats]]:
    """The pieces of each text and the logits of its units (units × tags).

    Every window runs alone. int8 activations are scaled by the largest of a batch, so what stands beside a text would
    move its last digits, and a worker would answer otherwise than a notebook; nothing needs padding, so that attention
    needs no mask; and a window stays in the cache, which is as fast as a batch.
    """
    encoded = [cutting.pieces(text) for text in texts]
    stitches = Stitches(encoded, tags)
    for i, one in enumerate(encoded):
        for window in cut(i, one, cutting.window, cutting.overlap):
            alone = batch(encoded, [window], cutting.pieces.special)
            stitches.add(alone, run(alone.ids, alone.features))
    return encoded, stitches.texts()


def blocks_of(one: Encoded, cutting: Cutting, run: Run, tags: int) -> Iterator[Floats]:
    """As `logits_of`, of one text and in blocks: of a large text, all logits take some 60 bytes a character."""

    def ran() -> Iterator[tuple[Window, Floats]]:
        for window in cut(0, one, cutting.window, cutting.overlap):
            alone = batch([one], [window], cutting.pieces.special)
            yield window, run(alone.ids, alone.features)[0][alone.at[0]]

    return stitched(ran(), tags)


@dataclass(frozen=True, slots=True)
class EncoderReading:
    """What the encoder makes of one text.

    Attributes:
        spans: by offset, disjoint.
        doubts: stretches outside them that may hold an identifier, see `doubtful`.
    """

    spans: list[Span]
    doubts: list[Span]
    _units: Units
    _odds: Floats

    def sure(self, start: int, end: int) -> float:
        """How probable it is that the surest word of a stretch is part of an identifier; 0 where there is no word."""
        first = int(np.searchsorted(self._units.ends, start, side="right"))
        behind = int(np.searchsorted(self._units.starts, end, side="left"))
        return float(self._odds[first:behind].max(initial=0.0))


class Finder:
    """Spans from logits.

    Args:
        way: the exit whose logits they are.
        bias: what is added to the logit of O; scores move with it.
        source: stands in each span's `sources`.
    """

    def __init__(self, way: Exit, bias: float, source: str) -> None:
        self._bias, self._source, self._temperatures = bias, source, way.temperatures
        self._decode = Decoder(way.transitions)

    def __call__(
        self, texts: Sequence[Text], encoded: Sequence[Encoded], logits: Sequence[Floats]
    ) -> list[EncoderReading]:
        """One reading per text."""
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
        """The reading of one text, the same, from its logits in blocks; of each block no more is kept than is asked."""
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
