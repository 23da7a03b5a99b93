"""What several variants mark in the same texts: where they differ, where they agree, and what none of them marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from incognote.errors import MalformedRecord, UsageError
from incognote.evaluation.corpus import CorpusProblem, LabeledSpan
from incognote.evaluation.experiments.seal import log_opening
from incognote.evaluation.formats import documents, renamed
from incognote.extraction.chunks import chunks

STRETCH = 25
"""The maximum number of words in an unmarked stretch."""

Kind = Literal["differs", "agreed", "unmarked"]


@dataclass(frozen=True, slots=True)
class ReviewNote:
    """A text that all variants read."""

    id: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of a text that is judged as a whole.

    Args:
        note: its index among the texts.
        start, end: in code points of the text.
        kind: `differs`: a variant marks exactly this, and another does not, or under another type. `agreed`: all mark
            exactly this, under one type. `unmarked`: no variant marks any of it.
        types: for each variant, the type under which it marks exactly this, or None if it does not.
    """

    note: int
    start: int
    end: int
    kind: Kind
    types: tuple[str | None, ...]


Found = Mapping[str, Sequence[Sequence[LabeledSpan]]]
"""By variant, the marks per text. Punctuation and spaces are trimmed at the edges, and overlapping marks are merged."""


def read_notes(path: Path) -> list[ReviewNote]:
    """Read the texts. Opening a sealed file is logged.

    Raises:
        UsageError: the file cannot be read, has no texts, or has two with the same id.
    """
    log_opening(path, "review")
    _, stream = documents(path)
    notes = [
        ReviewNote(one.id, one.text) for one in stream if not isinstance(one, CorpusProblem) and one.text is not None
    ]
    if not notes:
        raise UsageError(f"{path.name} has no texts.")
    if len({note.id for note in notes}) < len(notes):
        raise UsageError(f"{path.name}: two texts have the same id.")
    return notes


def read_found(path: Path, notes: Sequence[ReviewNote]) -> list[list[LabeledSpan]]:
    """Read the marks of a variant in each text.

    Raises:
        UsageError: the file cannot be read, lacks a text, or its marks do not fit.
    """
    form, stream = documents(path)
    known = {one.id: one for one in stream if not isinstance(one, CorpusProblem)}
    made = []
    for note in notes:
        one = known.get(note.id)
        if one is None or (one.marks is None and one.fault is None):
            raise UsageError(f"{path.name}: no spans for one of the texts. Every variant must have read all texts.")
        try:
            labels = renamed(one.against(note.text), form)
        except MalformedRecord as error:
            raise UsageError(f"{path.name}, {one.place}: {error}") from None
        made.append(plain(note.text, labels))
    return made


def plain(text: str, labels: Sequence[LabeledSpan]) -> list[LabeledSpan]:
    """Disjoint marks in order, trimmed to start and end with a letter or digit. Marks without any are dropped."""
    made: list[LabeledSpan] = []
    for start, end, type_ in sorted(labels):
        while start < end and not text[start].isalnum():
            start += 1
        while end > start and not text[end - 1].isalnum():
            end -= 1
        if start == end:
            continue
        if made and start < made[-1].end:
            made[-1] = made[-1]._replace(end=max(end, made[-1].end))
        else:
            made.append(LabeledSpan(start, end, type_))
    return made


def units(notes: Sequence[ReviewNote], found: Found) -> list[Unit]:
    """All units of all texts, in order."""
    variants = list(found.values())
    return [
        unit
        for number, note in enumerate(notes)
        for unit in _of(number, note.text, [labels[number] for labels in variants])
    ]


def _of(number: int, text: str, marks: Sequence[Sequence[LabeledSpan]]) -> Iterator[Unit]:
    types = [{(start, end): type_ for start, end, type_ in labels} for labels in marks]
    for start, end in sorted({place for each in types for place in each}):
        types_ = tuple(each.get((start, end)) for each in types)
        yield Unit(number, start, end, "agreed" if None not in types_ and len(set(types_)) == 1 else "differs", types_)
    at = 0
    for start, end in [
        *sorted((label.start, label.end) for labels in marks for label in labels),
        (len(text), len(text)),
    ]:
        for chunk in chunks(text[at:start], STRETCH, 0) if start > at else []:
            first, last = at + chunk.start, at + chunk.end
            if any(map(str.isalnum, text[first:last])):
                yield Unit(number, first, last, "unmarked", tuple(None for _ in marks))
        at = max(at, end)
