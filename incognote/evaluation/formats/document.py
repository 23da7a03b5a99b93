"""What readers yield and writers take: a document with its marks, as its source wrote it, and as it stands in its text.

A reader gives a `CorpusDocument`: offsets in the source's own units, types under the source's own names, and the words
that the source says it marked. `CorpusDocument.on(text)` turns the marks into labels of a text, offsets in code points;
where a mark does not fit, or other words stand there, that is an error: nothing is moved to where it might have been
meant.
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
    """A stretch and the name a corpus or a system gives its kind, which need not be one of our catalogue."""

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
    """A document that could not be used as it is: its id (or line), what is wrong, and whether it was scored."""

    id: str
    what: str
    scored: bool = False


class SourceMark(NamedTuple):
    """What a source marks: one piece or several, its own name for the kind, and the words it says stand there.

    `score` is how sure a system says it is, where it says that as a number between 0 and 1.
    """

    pieces: tuple[tuple[int, int], ...]
    type: str
    words: str | None = None
    score: float | None = None

    def __repr__(self) -> str:
        return f"Mark({self.pieces}, {self.type!r})"


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """One document of a file, as the file has it.

    Attributes:
        id: its name; where the file has none, its number in the file, and `numbered` is true.
        place: where it stands in the file, for messages.
        text: None where the format carries none (a service's answer).
        marks: None where nothing is said about what is in the text, which is not the same as nothing being in it.
        fault: what makes the marks unusable.
        unit: of the offsets.
        others: the text under other line ends or without a byte order mark, in which the offsets may count.
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
        """The text and its labels. Of several readings of the line ends, the first in which every mark fits.

        Raises:
            MalformedRecord: there is no text or nothing said of it, or a mark does not fit.
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
        """The labels of a text that this document is about.

        Raises:
            MalformedRecord: a mark lies outside the text, or its words are not what stands there.
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
        """One per label, in their order; none where a mark has no score or is in several pieces."""
        known = tuple(mark.score for mark in self.marks or () if mark.score is not None and len(mark.pieces) == 1)
        return known if len(known) == len(self.marks or ()) else ()

    def against(self, text: str) -> tuple[LabeledSpan, ...]:
        """The labels of another's text, which may differ from this document's own in white space only.

        Raises:
            MalformedRecord: a mark does not fit, or the two texts are not the same.
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
    """Marks from a list of JSON objects.

    Args:
        start, end, type_, words: the members' names; of several names for the type, the first that is there.
        inclusive: the end is that of the last character.

    Raises:
        MalformedRecord: no list, or an object without a start, an end and a type.
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
            raise MalformedRecord(f"span {number} needs a start, an end and a type")
        said, sure = span.get(words), span.get("score")
        score = float(sure) if isinstance(sure, (int, float)) and 0 <= sure <= 1 else None
        made.append(SourceMark(((first, last + inclusive),), kind, said if isinstance(said, str) else None, score))
    return tuple(made)


def _whole(offset: object) -> int | None:
    """A whole number, also where it is written as a string; no boolean."""
    if type(offset) is int:
        return offset
    if isinstance(offset, str) and offset.isascii() and offset.isdigit():
        return int(offset[:18])
    return None


def _points(text: str, unit: Unit) -> Callable[[int], int]:
    """From the source's offsets to code points; -1 for one that falls inside a character."""
    if unit == "code point" or text.isascii():
        return lambda offset: offset
    ends = [0, *accumulate(2 if character > "\uffff" else 1 for character in text)]

    def carried(offset: int) -> int:
        at = bisect_left(ends, offset)
        return at if at < len(ends) and ends[at] == offset else -1

    return carried


def _fitted(mark: SourceMark, text: str, carried: Callable[[int], int]) -> list[LabeledSpan]:
    """The pieces of a mark in the text; two that only a line end parts are one, as annotation tools part them."""
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
    """White space of any kind as spaces, one for one: formats write a line end in an attribute or a column as one."""
    return "".join(" " if character.isspace() else character for character in words)


def _over(labels: tuple[LabeledSpan, ...], own: str, text: str) -> tuple[LabeledSpan, ...]:
    """Labels of one text as labels of another that differs in white space only."""
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
