"""A scripted model that knows its notes: it names the scripted findings in whatever part of a note it is shown."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from incognote.errors import ModelRejected, UsageError
from incognote.llm.base import Request
from incognote.nouns import Mention
from incognote.prompts import marks, sendable
from incognote.testing.trouble import text_of

Finding = tuple[str, str, int, int]
"""A type, the phrase to answer (identifier and hint words), and the identifier's start and end in the note."""

Writer = Callable[[Sequence[Mention], Request], str]
"""Turns mentions into the text of a reply."""

_MASK = re.compile(r"\[[A-Z][A-Z0-9_]*\]")


def contract_1(mentions: Sequence[Mention], request: Request) -> str:
    """A JSON object with every type of the request's schema as a key, and a list of its phrases."""
    phrases: dict[str, list[str]] = {name: [] for name in (request.schema or {}).get("properties", ())}
    for mention in mentions:
        phrases.setdefault(mention.type, []).append(mention.phrase)
    return json.dumps(phrases, ensure_ascii=False)


def contract_2(mentions: Sequence[Mention], request: Request) -> str:
    """A JSON object with the types found. The identifier in each phrase is between the text's marks."""
    opening, closing = marks(text_of(request))
    phrases: dict[str, list[str]] = {}
    for m in mentions:
        marked = m.phrase[: m.start] + opening + m.words + closing + m.phrase[m.end :]
        phrases.setdefault(m.type, []).append(marked)
    return json.dumps(phrases, ensure_ascii=False)


def as_asked(mentions: Sequence[Mention], request: Request) -> str:
    """Contract 1 if the request's schema requires its types, otherwise contract 2."""
    write = contract_1 if (request.schema or {}).get("required") else contract_2
    return write(mentions, request)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a note that is unmasked in a shown text. The words are the same in both places."""

    note: int
    shown: int
    length: int


@dataclass(frozen=True, slots=True)
class _Placed:
    """A finding, and the place of its phrase in the note."""

    type: str
    phrase: tuple[int, int]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Note:
    text: str = field(repr=False)
    findings: tuple[_Placed, ...] = field(repr=False)


class Script:
    """Answers requests about notes it knows, about chunks of them, and about either with findings masked by type.

    A phrase is quoted as it appears in the text shown. Masked hint words are quoted as their mask, and hint words
    outside the chunk are left out. An identifier that is masked or not completely shown is not mentioned. If several
    notes contain a shown text, the first one is used.

    Args:
        notes: each note's text and its findings, the most obvious first.
        write: turns mentions into a reply; by default by the contract of the request's schema.
        at_most: the maximum number of findings in one reply, which are the first visible ones; None for all.

    Raises:
        UsageError: a finding's phrase does not contain its identifier at the given place.
        ModelRejected (when called): no note contains the text shown.
    """

    def __init__(
        self,
        notes: Mapping[str, Iterable[Finding]],
        *,
        write: Writer = as_asked,
        at_most: int | None = None,
    ) -> None:
        self._notes = {
            sendable(text): _Note(sendable(text), tuple(_placed(text, finding) for finding in findings))
            for text, findings in notes.items()
        }
        self._write, self._at_most = write, at_most

    def __repr__(self) -> str:
        return f"Script({len(self._notes)} notes)"

    def __call__(self, request: Request) -> str:
        shown = text_of(request)
        return self._write(list(self.visible(shown))[: self._at_most], request)

    def visible(self, shown: str) -> Iterator[Mention]:
        """The mentions whose identifiers are unmasked in a shown text, the most obvious first."""
        note, pieces = self._located(shown)
        for finding in note.findings:
            start = _seen(pieces, finding.start, finding.end)
            if start is None:
                continue
            begin, end = _widest(pieces, finding.phrase, len(shown))
            length = finding.end - finding.start
            yield Mention(finding.type, shown[begin:end], start - begin, start - begin + length)

    def _located(self, shown: str) -> tuple[_Note, list[_Piece]]:
        """The note that contains a shown text, and the unmasked stretches."""
        if (whole := self._notes.get(shown)) is not None:
            return whole, [_Piece(0, 0, len(shown))]
        cuts = [0, *(edge for mask in _MASK.finditer(shown) for edge in mask.span()), len(shown)]
        stretches = [(a, shown[a:b]) for a, b in zip(cuts[::2], cuts[1::2], strict=True) if a < b]
        for note in self._notes.values():
            at = note.text.find(shown)
            if at >= 0:
                return note, [_Piece(at, 0, len(shown))]
            if stretches and (pieces := _laid(stretches, note.text)):
                return note, pieces
        if not stretches:
            return _Note("", ()), []
        raise ModelRejected("no note of the script contains the text shown")


def _placed(text: str, finding: Finding) -> _Placed:
    kind, phrase, start, end = finding
    for begin in range(max(0, end - len(phrase)), start + 1):
        if text.startswith(phrase, begin) and start < end:
            return _Placed(kind, (begin, begin + len(phrase)), start, end)
    raise UsageError("a finding's phrase must occur in its note around start..end, the place of the identifier")


def _laid(stretches: Sequence[tuple[int, str]], text: str) -> list[_Piece]:
    """Find the places of a note's unmasked stretches. The longest is the anchor, the others as near as possible.

    Between two of them is masked text of at least one character. Returns an empty list if they do not fit the note.
    """
    anchor = max(range(len(stretches)), key=lambda i: len(stretches[i][1]))
    at = text.find(stretches[anchor][1])
    while at >= 0:
        starts = {anchor: at}
        for i in range(anchor + 1, len(stretches)):
            starts[i] = text.find(stretches[i][1], starts[i - 1] + len(stretches[i - 1][1]) + 1)
            if starts[i] < 0:
                break
        for i in range(anchor - 1, -1, -1):
            starts[i] = text.rfind(stretches[i][1], 0, max(0, starts[i + 1] - 1))
            if starts[i] < 0:
                break
        if len(starts) == len(stretches) and min(starts.values()) >= 0:
            return [_Piece(starts[i], shown, len(words)) for i, (shown, words) in enumerate(stretches)]
        at = text.find(stretches[anchor][1], at + 1)
    return []


def _seen(pieces: Sequence[_Piece], start: int, end: int) -> int | None:
    """The place in the shown text where a stretch of the note begins; None if it is not completely visible."""
    at = bisect_right([piece.note for piece in pieces], start) - 1
    if at < 0 or end > pieces[at].note + pieces[at].length:
        return None
    return pieces[at].shown + start - pieces[at].note


def _widest(pieces: Sequence[_Piece], phrase: tuple[int, int], length: int) -> tuple[int, int]:
    """The place of a phrase of the note in the shown text, with whole masks, cut at the ends of the shown text."""
    note = [piece.note for piece in pieces]
    first, last = bisect_right(note, phrase[0]) - 1, bisect_right(note, phrase[1] - 1) - 1
    begin = 0 if first < 0 else pieces[first].shown + min(phrase[0] - pieces[first].note, pieces[first].length)
    if phrase[1] - pieces[last].note <= pieces[last].length:
        return begin, pieces[last].shown + phrase[1] - pieces[last].note
    return begin, pieces[last + 1].shown if last + 1 < len(pieces) else length
