"""A model that knows its notes: whichever part of one it is shown, it names what it was told to find there."""

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
"""A type, the phrase to answer (identifier and hint words), and where in the note the identifier stands: start, end."""

Writer = Callable[[Sequence[Mention], Request], str]
"""How mentions become the text of a reply."""

_MASK = re.compile(r"\[[A-Z][A-Z0-9_]*\]")


def contract_1(mentions: Sequence[Mention], request: Request) -> str:
    """A JSON object with every type of the request's schema as key and its phrases as list."""
    said: dict[str, list[str]] = {name: [] for name in (request.schema or {}).get("properties", ())}
    for mention in mentions:
        said.setdefault(mention.type, []).append(mention.phrase)
    return json.dumps(said, ensure_ascii=False)


def contract_2(mentions: Sequence[Mention], request: Request) -> str:
    """A JSON object with the types that were found, the identifier in each phrase between the text's marks."""
    opening, closing = marks(text_of(request))
    said: dict[str, list[str]] = {}
    for m in mentions:
        marked = m.phrase[: m.start] + opening + m.words + closing + m.phrase[m.end :]
        said.setdefault(m.type, []).append(marked)
    return json.dumps(said, ensure_ascii=False)


def as_asked(mentions: Sequence[Mention], request: Request) -> str:
    """Contract 1 where the request's schema requires its types, else contract 2."""
    write = contract_1 if (request.schema or {}).get("required") else contract_2
    return write(mentions, request)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a note that stands unmasked in a shown text: the same words at both places."""

    note: int
    shown: int
    length: int


@dataclass(frozen=True, slots=True)
class _Placed:
    """A finding, and where in the note its phrase stands."""

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

    The phrase is quoted as it stands in the text shown: hint words that were masked are quoted as their mask, hint
    words beyond a chunk's edge are left out. What is masked or not wholly shown is not mentioned. Of several notes
    that hold a shown text the first is meant.

    Args:
        notes: each note's text and its findings, the most obvious first.
        write: how mentions become a reply; by default the contract that the request's schema belongs to.
        at_most: how many findings one reply names, the first ones that are visible; None for all.

    Raises:
        UsageError: a finding's phrase does not stand around its identifier.
        ModelRejected (when called): no note holds the text shown.
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
        """The mentions whose identifiers stand unmasked in a shown text, the most obvious first."""
        note, pieces = self._located(shown)
        for finding in note.findings:
            start = _seen(pieces, finding.start, finding.end)
            if start is None:
                continue
            begin, end = _widest(pieces, finding.phrase, len(shown))
            length = finding.end - finding.start
            yield Mention(finding.type, shown[begin:end], start - begin, start - begin + length)

    def _located(self, shown: str) -> tuple[_Note, list[_Piece]]:
        """The note that holds a shown text, and which of its stretches are unmasked."""
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
        raise ModelRejected("the script knows no note that holds the text shown")


def _placed(text: str, finding: Finding) -> _Placed:
    kind, phrase, start, end = finding
    for begin in range(max(0, end - len(phrase)), start + 1):
        if text.startswith(phrase, begin) and start < end:
            return _Placed(kind, (begin, begin + len(phrase)), start, end)
    raise UsageError("a finding's phrase must stand in its note around start..end, the place of the identifier")


def _laid(stretches: Sequence[tuple[int, str]], text: str) -> list[_Piece]:
    """Where a note's unmasked stretches stand, the longest as anchor and each other as near to it as it goes.

    Between two of them stands what was masked: at least one character. Empty where they do not fit the note.
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
    """Where in the shown text a stretch of the note begins; None where it is not wholly visible."""
    at = bisect_right([piece.note for piece in pieces], start) - 1
    if at < 0 or end > pieces[at].note + pieces[at].length:
        return None
    return pieces[at].shown + start - pieces[at].note


def _widest(pieces: Sequence[_Piece], phrase: tuple[int, int], length: int) -> tuple[int, int]:
    """Where in the shown text a phrase of the note stands, masks in it whole, cut at the ends of what is shown."""
    note = [piece.note for piece in pieces]
    first, last = bisect_right(note, phrase[0]) - 1, bisect_right(note, phrase[1] - 1) - 1
    begin = 0 if first < 0 else pieces[first].shown + min(phrase[0] - pieces[first].note, pieces[first].length)
    if phrase[1] - pieces[last].note <= pieces[last].length:
        return begin, pieces[last].shown + phrase[1] - pieces[last].note
    return begin, pieces[last + 1].shown if last + 1 < len(pieces) else length
