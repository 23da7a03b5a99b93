"""From texts to spans, given any model that makes logits of windows: the session at run time, torch while training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.encoder.bundle import Exit
from incognote.detectors.encoder.pieces import Encoded, Pieces
from incognote.detectors.encoder.spans import doubtful, drawn, read_off, sure_of, sureness
from incognote.detectors.encoder.units import Units
from incognote.detectors.encoder.viterbi import Decoder
from incognote.detectors.encoder.windows import Stitches, Window, batch, cut, stitched
from incognote.nouns import Span, Text

Floats = NDArray[np.float32]
Run = Callable[[NDArray[np.int64], Floats], Floats]
"""ids (windows × pieces) and features (windows × pieces × 64) in, logits (windows × pieces × tags) out."""


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
class Reading:
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

    def __call__(self, texts: Sequence[Text], encoded: Sequence[Encoded], logits: Sequence[Floats]) -> list[Reading]:
        """One reading per text."""
        moved = [self._moved(each) for each in logits]
        made = []
        for text, one, path, each in zip(texts, encoded, self._decode(moved), moved, strict=True):
            spans = read_off(text, one.units, path, each, self._temperatures, self._source)
            likeliest = each[:, 1:].argmax(axis=1) // 2 if len(each) else np.zeros(0, np.int64)
            odds = sureness(each, self._temperatures[likeliest])
            doubts = doubtful(text, one.units, odds, likeliest, spans, self._source)
            made.append(Reading(spans, [*doubts], one.units, odds))
        return made

    def large(self, text: Text, one: Encoded, blocks: Iterator[Floats]) -> Reading:
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
        return Reading(spans, [*doubtful(text, one.units, odds, likeliest, spans, self._source)], one.units, odds)

    def _moved(self, logits: Floats) -> Floats:
        moved = logits.copy()
        moved[:, 0] += self._bias
        return moved
