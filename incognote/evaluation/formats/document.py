"""The document that readers yield, with its marks as the source wrote them and as labels of its text.

A reader yields a `CorpusDocument`: offsets in the source's own units, types under the source's own names, and the words
that the source claims to have marked. `CorpusDocument.on(text)` turns the marks into labels of a text, with offsets in
code points. A mark that does not fit, or whose words differ from the text, is an error. Marks are never moved to where
they might have been meant.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple

from incognote.errors import MalformedRecord

Unit = Literal["code point", "utf-16"]


class LabeledSpan(NamedTuple):
    """A span with the name that a corpus or a system gives its type, which need not be in our catalogue."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class Gold:
    """One annotated text."""

    id: str
    text: str = field(repr=False)
    labels: tuple[LabeledSpan, ...]


@dataclass(frozen=True, slots=True)
class CorpusProblem:
    """A document with a problem: its id (or line), what is wrong, and whether it was still scored."""

    id: str
    what: str
    scored: bool = False


class SourceMark(NamedTuple):
    """A mark of the source: one or more pieces, the source's name for the type, and the words it claims to mark.

    `score` is the system's confidence, if it gives one between 0 and 1.
    """

    pieces: tuple[tuple[int, int], ...]
    type: str
    words: str | None = None
    score: float | None = None

    def __repr__(self) -> str:
        return f"Mark({self.pieces}, {self.type!r})"


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """One document of a file, in the file's own terms.

    Attributes:
        id: its name. If the file gives none, its number in the file, and `numbered` is true.
        place: its position in the file, for messages.
        text: None if the format carries no text (a service's answer).
        marks: None if the file says nothing about what is in the text, which differs from saying that nothing is.
        fault: the reason why the marks are unusable.
        unit: of the offsets.
        others: variants of the text, with other line breaks or without a byte order mark, that offsets may refer to.
    """

    id: str
    place: str
    text: str | None = field(default=None, repr=False)
    marks: tuple[SourceMark, ...] | None = None
    fault: str | None = None
    unit: Unit = "code point"
    others: tuple[str, ...] = field(default=(), repr=False)
    numbered: bool = False

    def gold(self) -> tuple[str, tuple[LabeledSpan, ...]]:
        """The text and its labels. Of several variants of the text, the first in which every mark fits.

        Raises:
            MalformedRecord: there is no text, there are no marks, or a mark does not fit.
        """
        if self.text is None:
            raise MalformedRecord("no text")
        if self.marks is None and self.fault is None:
            raise MalformedRecord("no gold: the document has no `spans`. An empty list means that nothing is marked")
        try:
            return self.text, self.on(self.text)
        except MalformedRecord as error:
            for other in self.others:
                try:
                    return other, self.on(other)
                except MalformedRecord:
                    continue
            raise error from None

    def on(self, text: str) -> tuple[LabeledSpan, ...]:
        """The marks as labels of a text.

        Raises:
            MalformedRecord: a mark extends beyond the text, or the text at its place differs from its words.
        """
        if self.fault is not None:
            raise MalformedRecord(self.fault)
        labels: list[LabeledSpan] = []
        wrong: list[str] = []
        carried = _points(text, self.unit)
        for number, mark in enumerate(self.marks or (), 1):
            try:
                labels.extend(_fitted(mark, text, carried))
            except MalformedRecord as error:
                wrong.append(f"span {number} {error}")
        if wrong:
            more = f"; {len(wrong)} of {len(self.marks or ())} spans do not fit" if len(wrong) > 1 else ""
            raise MalformedRecord(wrong[0] + more)
        return tuple(labels)

    def scores(self) -> tuple[float, ...]:
        """One score per label, in order. Empty if a mark has no score or has several pieces."""
        known = tuple(mark.score for mark in self.marks or () if mark.score is not None and len(mark.pieces) == 1)
        return known if len(known) == len(self.marks or ()) else ()

    def against(self, text: str) -> tuple[LabeledSpan, ...]:
        """The marks as labels of another text, which may differ from this document's own text in white space only.

        Raises:
            MalformedRecord: a mark does not fit, or the two texts differ.
        """
        if self.text is None or text in (self.text, *self.others):
            return self.on(text)
        own, labels = self.gold()
        return _over(labels, own, text)


def marks(
    spans: object,
    *,
    start: str = "start",
    end: str = "end",
    type_: str | Sequence[str] = "type",
    words: str = "text",
    inclusive: bool = False,
) -> tuple[SourceMark, ...]:
    """Read marks from a list of JSON objects.

    Args:
        start, end, type_, words: the keys; if several are given for the type, the first that is present.
        inclusive: the end is the offset of the last character.

    Raises:
        MalformedRecord: it is not a list, or an object has no start, end, or type.
    """
    if not isinstance(spans, list):
        raise MalformedRecord("`spans` is not a list")
    made = []
    names = (type_,) if isinstance(type_, str) else type_
    for number, span in enumerate(spans, 1):
        if not isinstance(span, Mapping):
            raise MalformedRecord(f"span {number} is not an object")
        kind = span.get(names[0])
        if not isinstance(kind, str):
            kind = next((span[name] for name in names if isinstance(span.get(name), str)), None)
        first, last = span.get(start), span.get(end)
        if type(first) is not int or type(last) is not int:
            first, last = _whole(first), _whole(last)
        if first is None or last is None or not kind:
            raise MalformedRecord(f"span {number} needs a start, an end, and a type")
        shown, given = span.get(words), span.get("score")
        score = float(given) if isinstance(given, (int, float)) and 0 <= given <= 1 else None
        made.append(SourceMark(((first, last + inclusive),), kind, shown if isinstance(shown, str) else None, score))
    return tuple(made)


def _whole(offset: object) -> int | None:
    """An integer, also if written as a string; None for anything else, including booleans."""
    if type(offset) is int:
        return offset
    if isinstance(offset, str) and offset.isascii() and offset.isdigit():
        return int(offset[:18])
    return None


def _points(text: str, unit: Unit) -> Callable[[int], int]:
    """A function from the source's offsets to code points. It returns -1 for an offset inside a character."""
    if unit == "code point" or text.isascii():
        return lambda offset: offset
    ends = [0, *accumulate(2 if character > "\uffff" else 1 for character in text)]

    def carried(offset: int) -> int:
        at = bisect_left(ends, offset)
        return at if at < len(ends) and ends[at] == offset else -1

    return carried


def _fitted(mark: SourceMark, text: str, carried: Callable[[int], int]) -> list[LabeledSpan]:
    """The pieces of a mark in the text. Pieces split only by a line break, as annotation tools do, are joined."""
    labels: list[LabeledSpan] = []
    for first, last in mark.pieces:
        start, end = carried(first), carried(last)
        if not 0 <= start < end <= len(text):
            raise MalformedRecord(f"of {first}..{last} does not fit a text of {len(text)} characters")
        labels.append(LabeledSpan(start, end, mark.type))
    if mark.words is not None and _plain(mark.words) != _plain(" ".join(text[a:b] for a, b, _ in labels)):
        where = ", ".join(f"{first}..{last}" for first, last in mark.pieces)
        raise MalformedRecord(f"does not match the text at {where}")
    if len(labels) == 1:
        return labels
    joined: list[LabeledSpan] = []
    for label in labels:
        if joined and joined[-1].end <= label.start and not text[joined[-1].end : label.start].strip("\r\n"):
            joined[-1] = joined[-1]._replace(end=label.end)
        else:
            joined.append(label)
    return joined


def _plain(words: str) -> str:
    """Replace each white space character by a space, because formats write line breaks in attributes that way."""
    return "".join(" " if character.isspace() else character for character in words)


def _over(labels: tuple[LabeledSpan, ...], own: str, text: str) -> tuple[LabeledSpan, ...]:
    """Map labels of one text to another that differs in white space only."""
    here = [at for at, character in enumerate(own) if not character.isspace()]
    there = [at for at, character in enumerate(text) if not character.isspace()]
    if len(here) != len(there) or any(own[a] != text[b] for a, b in zip(here, there, strict=True)):
        raise MalformedRecord("its text differs from the gold text")
    carried = []
    for start, end, type_ in labels:
        first, last = bisect_left(here, start), bisect_left(here, end)
        if first == last:
            raise MalformedRecord(f"the span {start}..{end} covers only white space")
        carried.append(LabeledSpan(there[first], there[last - 1] + 1, type_))
    return tuple(carried)
