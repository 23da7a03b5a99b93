"""Documents as windows with targets. Order and noise depend only on seed, epoch, and batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.encoder.bundle import class_of, classes
from incognote.detectors.encoder.units import Encoded, Numbering, Units, capitals, no_lexicon
from incognote.detectors.encoder.windows import Batch, Window, batch, cut
from incognote_training.training.config import Augment
from incognote_training.training.documents import Document

Floats = NDArray[np.float32]
Watch = Callable[[int, int], None]
"""Called with the number done and the total."""
_BUCKET = 64


@dataclass(frozen=True, slots=True)
class Example:
    """An encoded document.

    Attributes:
        tags: per unit, its tag.
        soft: units on which annotators differed, and their distribution over tags (units × tags).
    """

    encoded: Encoded
    tags: NDArray[np.int64]
    soft: tuple[NDArray[np.int64], Floats]


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of a batch, per unit of its windows.

    Attributes:
        at: windows × units, the position of each unit's first piece; 0 after the last.
        mask: windows × units, whether there is a unit.
        tags: windows × units, the hard targets.
        soft: windows × units × tags.
    """

    at: NDArray[np.int64]
    mask: NDArray[np.bool_]
    tags: NDArray[np.int64]
    soft: Floats


def encode(
    documents: Sequence[Document], pieces: Numbering, *, soft: bool, watch: Watch | None = None
) -> list[Example]:
    """Encode every document as an example.

    Args:
        soft: whether to keep the annotators' votes; otherwise the tag with the most votes is taken as certain.
    """
    made = []
    for i, document in enumerate(documents):
        made.append(_example(document, pieces, soft))
        if watch is not None:
            watch(i + 1, len(documents))
    return made


def tags_of(units: Units, spans: Sequence[tuple[int, int, str]]) -> NDArray[np.int64]:
    """One tag per unit. A unit that a span covers in part belongs to the span."""
    tags = np.zeros(len(units), np.int64)
    order = {name: i for i, name in enumerate(classes())}
    for start, end, type_ in spans:
        kind = class_of(type_)
        a = int(np.searchsorted(units.ends, start, side="right"))
        b = int(np.searchsorted(units.starts, end))
        if kind is not None and a < b:
            tags[a:b] = 2 + 2 * order[kind]
            tags[a] -= 1
    return tags


def _example(document: Document, pieces: Numbering, soft: bool) -> Example:
    encoded = pieces(document.text)
    tags = tags_of(encoded.units, document.spans)
    n = 1 + 2 * len(classes())
    where: list[int] = []
    shares: list[Floats] = []
    order = {name: i for i, name in enumerate(classes())}
    for vote in document.votes:
        a = int(np.searchsorted(encoded.units.starts, vote.start))
        b = int(np.searchsorted(encoded.units.starts, vote.end))
        for place in range(a, b):
            row = np.zeros(n, np.float32)
            for label, share in vote.shares.items():
                kind = None if label == "O" else class_of(label[2:])
                tag = 0 if kind is None else 1 + 2 * order[kind] + (label[0] == "I" or place > a)
                row[tag] += share
            row /= row.sum()
            tags[place] = int(row.argmax())
            if soft and row.max() < 1:
                where.append(place)
                shares.append(row)
    rows = np.stack(shares) if shares else np.zeros((0, n), np.float32)
    return Example(encoded, tags, (np.array(where, np.int64), rows))


def epoch(examples: Sequence[Example], window: int, batch_pieces: int, seed: int, number: int) -> list[list[Window]]:
    """The batches of an epoch. Documents are cut again, windows of similar length go together, batches are shuffled.

    Args:
        window: maximum pieces in a window; each document's windows have between half of that and that.
        batch_pieces: positions in a batch, including padding.
    """
    random = np.random.default_rng([seed, 2, number])
    windows: list[Window] = []
    for i, example in enumerate(examples):
        windows.extend(cut(i, example.encoded, int(random.integers(window // 2, window + 1)), 0))
    random.shuffle(windows)
    made: list[list[Window]] = []
    for at in range(0, len(windows), _BUCKET * 8):
        made.extend(_packed(sorted(windows[at : at + _BUCKET * 8], key=lambda w: -w.size), batch_pieces))
    random.shuffle(made)
    return made


def _packed(windows: Sequence[Window], batch_pieces: int) -> Iterator[list[Window]]:
    some: list[Window] = []
    for window in windows:
        if some and some[0].size * (len(some) + 1) > batch_pieces:
            yield some
            some = []
        some.append(window)
    if some:
        yield some


def targets(examples: Sequence[Example], made: Batch) -> Targets:
    """The targets of a batch."""
    most = max(len(at) for at in made.at)
    n = len(made.windows)
    at = np.zeros((n, most), np.int64)
    mask = np.zeros((n, most), bool)
    tags = np.zeros((n, most), np.int64)
    for i, (w, places) in enumerate(zip(made.windows, made.at, strict=True)):
        at[i, : len(places)] = places
        mask[i, : len(places)] = True
        tags[i, : len(places)] = examples[w.text].tags[w.begin : w.end]
    soft = np.eye(1 + 2 * len(classes()), dtype=np.float32)[tags]
    for i, w in enumerate(made.windows):
        where, rows = examples[w.text].soft
        inside = (where >= w.begin) & (where < w.end)
        soft[i, where[inside] - w.begin] = rows[inside]
    return Targets(at, mask, tags, soft)


def view(
    examples: Sequence[Example],
    encoded: Sequence[Encoded],
    windows: Sequence[Window],
    special: tuple[int, int, int],
    unknown: int,
    augment: Augment | None,
    random: np.random.Generator,
) -> Batch:
    """The arrays of a batch's windows, made harder according to `augment`; None leaves them unchanged.

    Args:
        encoded: the encoded examples, in order.
        unknown: the id of [UNK].
    """
    made = batch(encoded, windows, special)
    if augment is None:
        return made
    for i, (w, at) in enumerate(zip(made.windows, made.at, strict=True)):
        n = w.end - w.begin
        sizes = np.diff(np.append(at, w.size - 1))
        rows = slice(1, w.size - 1)
        no_lexicon(made.features[i, rows], np.repeat(random.random(n) < augment.lexicon, sizes))
        chance = random.random()
        if chance < 2 * augment.case:
            capitals(made.features[i, rows], upper=chance < augment.case)
        hidden = (random.random(n) < augment.pieces) & (examples[w.text].tags[w.begin : w.end] > 0)
        made.ids[i, rows][np.repeat(hidden, sizes)] = unknown
    return made
