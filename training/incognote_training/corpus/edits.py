"""Edits of an annotated text that move its spans exactly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from incognote.evaluation.formats.document import LabeledSpan


class Edit(NamedTuple):
    """Replace text[start:end]. If start == end, insert before `start`."""

    start: int
    end: int
    words: str


def edited(text: str, spans: Sequence[LabeledSpan], edits: Iterable[Edit]) -> tuple[str, tuple[LabeledSpan, ...]]:
    """Apply edits. Return the new text, and the spans at their new places.

    An edit is skipped if it overlaps an earlier one or would cross a span's edge. Text inserted at an edge stays
    outside the span. A span keeps its words if the edits would leave only white space.

    Args:
        spans: in order and disjoint.
    """
    taken = _emptying_none(text, spans, list(_fitting(spans, sorted(edits))))
    out: list[str] = []
    marks: list[tuple[int, int]] = []  # (old offset of an edit's end, shift of the text after it)
    at = shift = 0
    for start, end, words in taken:
        out += (text[at:start], words)
        at = end
        shift += len(words) - (end - start)
        marks.append((end, shift))
    out.append(text[at:])
    ends = [end for end, _ in marks]
    inserted = {edit.start: len(edit.words) for edit in taken if edit.start == edit.end}

    def moved(offset: int) -> int:
        number = bisect_right(ends, offset)
        return offset + (marks[number - 1][1] if number else 0)

    made = [LabeledSpan(moved(s), moved(e) - inserted.get(e, 0), kind) for s, e, kind in spans]
    return "".join(out), tuple(made)


def _fitting(spans: Sequence[LabeledSpan], edits: Iterable[Edit]) -> Iterable[Edit]:
    starts = [span.start for span in spans]
    before = 0
    last = Edit(-1, -1, "")
    for edit in edits:
        start, end, _ = edit
        if start < before or (start == end == last.start) or (start == end == last.end and last.start < last.end):
            continue
        number = bisect_right(starts, max(start, end - 1)) - 1
        inside = number >= 0 and start < spans[number].end
        if inside and start < end and not (spans[number].start <= start and end <= spans[number].end):
            continue
        if start < end and number >= 0 and start < spans[number].start < end:
            continue
        yield edit
        before, last = end, edit


def _emptying_none(text: str, spans: Sequence[LabeledSpan], edits: list[Edit]) -> list[Edit]:
    kept: list[Edit] = []
    at = 0
    for start, end, _ in spans:
        while at < len(edits) and edits[at].end <= start:
            kept.append(edits[at])
            at += 1
        inside: list[Edit] = []
        while at < len(edits) and edits[at].start < end:
            inside.append(edits[at])
            at += 1
        if inside and within(text, LabeledSpan(start, end, ""), inside).strip():
            kept += inside
    return kept + edits[at:]


def within(text: str, span: LabeledSpan, edits: Iterable[Edit]) -> str:
    """The words of a span after edits inside it."""
    out: list[str] = []
    at = span.start
    for start, end, words in sorted(edits):
        out += (text[at:start], words)
        at = end
    return "".join((*out, text[at : span.end]))
