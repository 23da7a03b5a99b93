"""The language-model baselines of RedactOR (section A.3): the model repeats the text with marks for censored parts.

An echo shows what was censored but not where, so it is aligned to the text. An exact echo matches as a pattern whose
gaps are the marks. Any other echo is aligned token by token, and each stretch of the text that a mark covers is a span.
Words that an echo changes, leaves out, or adds without a mark are counted separately: they damage the note, but the
model did not call them identifiers.
"""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from incognote.errors import ModelProblem, UnknownName
from incognote.evaluation.formats.document import LabeledSpan
from incognote.llm.base import LanguageModel, Message, Request
from incognote.prompts import sendable
from incognote_benchmarks.peers.base import Detected

Stretch = tuple[int, int]
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_NEVER = 2**30
_AT_ONCE = 8
_MOST_TOKENS = 16_384  # of a reply, because an echo is as long as its text


@dataclass(frozen=True, slots=True)
class Baseline:
    """One prompt of `echo.toml`."""

    name: str
    after: str
    mark: str
    system: str


@cache
def baselines() -> dict[str, Baseline]:
    """The baselines by name: brief, detailed, redacted."""
    written = tomllib.loads(files("incognote_benchmarks.peers").joinpath("echo.toml").read_text(encoding="utf-8"))
    return {name: Baseline(name, one["after"], one["mark"], one["system"].strip()) for name, one in written.items()}


@dataclass(frozen=True, slots=True)
class Aligned:
    """The places of an echo's marks in the text.

    Attributes:
        spans: the censored spans: disjoint, in order, half-open code points of the text.
        lost: the number of words outside the spans that the echo leaves out or changes.
        added: the number of words besides the marks that the echo has and the text does not have in that place.
        exact: whether the echo equals the text, except for its marks and for white space before and after the note.
    """

    spans: tuple[Stretch, ...]
    lost: int = 0
    added: int = 0
    exact: bool = True


def aligned(text: str, echo: str, mark: str) -> Aligned:
    """Align an echo to its text. If an exact echo fits in several ways, each mark covers as little as possible.

    Args:
        mark: the replacement of a censored stretch, in any case.
    """
    body = text.strip()
    before = text.index(body)
    for candidate in (echo, text[:before] + echo.strip() + text[before + len(body) :]):
        pieces = re.split(re.escape(mark), candidate, flags=re.IGNORECASE)
        gaps = _gaps(text, pieces)
        if gaps is not None:
            return Aligned(tuple(_worth(text, gaps, mark)))
    return _compared(text, pieces, mark)


def _gaps(text: str, pieces: Sequence[str]) -> list[Stretch] | None:
    """The gaps between the pieces, if the pieces make up the rest of the text, in order. No gap is empty."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return [] if first == text else None
    if not text.startswith(first) or not text.endswith(last) or len(first) + len(last) >= len(text):
        return None
    gaps: list[Stretch] = []
    begun, end = len(first), len(text) - len(last)
    for piece in pieces[1:-1]:
        found = text.find(piece, begun + 1, end)
        if found < 0:
            return None
        gaps.append((begun, found))
        begun = found + len(piece)
    if begun >= end:
        return None
    return [*gaps, (begun, end)]


def _compared(text: str, pieces: Sequence[str], mark: str) -> Aligned:
    """The cheapest alignment of tokens (Needleman and Wunsch), in which a mark covers any number of the text's tokens.

    If several are cheapest, each mark covers as little as possible, from left to right. It takes four bytes for each
    pair of a token of the text and a token of the echo.
    """
    places = [found.span() for found in _TOKEN.finditer(text)][::-1]  # reversed, so that it is traced from the start
    tokens = [text[start:end] for start, end in places]
    echoed: list[str | None] = []  # None is a mark
    for number, piece in enumerate(pieces):
        echoed += [None] if number else []
        echoed += _TOKEN.findall(piece)
    echoed.reverse()
    cost = np.cumsum([0, *map(_cost, tokens)], dtype=np.int32)  # of leaving out the first tokens
    same = {token: np.array([False, *(other == token for other in tokens)]) for token in {*echoed} - {None}}
    free = cost // 2  # of covering them with a mark
    rows = [cost]
    for token in echoed:
        if token is None:
            row = np.minimum.accumulate(rows[-1] - free) + free
        else:
            matched = np.where(same[token], np.roll(rows[-1], 1), _NEVER)
            row = np.minimum.accumulate(np.minimum(rows[-1] + _cost(token), matched) - cost) + cost
        rows.append(row.astype(np.int32))
    spans: list[Stretch] = []
    lost = added = 0
    at = len(tokens)
    for before, row, token in zip(rows[-2::-1], rows[:0:-1], reversed(echoed), strict=True):
        if token is None:
            start = at - int(np.argmin((before - free)[at::-1]))
            spans += [_trimmed(text, places[at - 1][0], places[start][1])] if start < at else []
            at = start
            continue
        while not (matches := same[token][at] and row[at] == before[at - 1]) and row[at] != before[at] + _cost(token):
            at -= 1
            lost += tokens[at][0].isalnum()
        at -= bool(matches)
        added += not matches and token[0].isalnum()
    lost += sum(token[0].isalnum() for token in tokens[:at])
    return Aligned(tuple(_worth(text, spans, mark)), lost, added, exact=False)


def _cost(token: str) -> int:
    """The cost of leaving a token out, or of adding it. To cover it with a mark costs half as much."""
    return 200 if token[0].isalnum() else 20 if token.isspace() else 50


def _trimmed(text: str, start: int, end: int) -> Stretch:
    """Trim white space on both sides, unless there is nothing else."""
    words = text[start:end]
    if words.isspace():
        return start, end
    return start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())


def _worth(text: str, spans: Sequence[Stretch], mark: str) -> list[Stretch]:
    """Drop marks that were already in the text."""
    return [(start, end) for start, end in spans if text[start:end].casefold() != mark.casefold()]


def echo_request(text: str, baseline: Baseline) -> Request:
    """The request for an echo of a text."""
    said = Message("system", baseline.system), Message("user", sendable(text))
    return Request(said, max_tokens=_MOST_TOKENS)


class Echo:
    """A baseline with a model.

    Args:
        model: any LanguageModel; it is not closed.
        baseline: brief, detailed or redacted.

    Raises:
        UnknownName: there is no such baseline.
    """

    def __init__(self, model: LanguageModel, baseline: str) -> None:
        if baseline not in baselines():
            raise UnknownName("baseline", baseline, baselines())
        self._model, self._baseline = model, baselines()[baseline]
        self.name, self.version = f"echo-{baseline}", model.name
        self.about = f"zero-shot echo with {self._baseline.mark}, after {self._baseline.after}; our wording"

    def detect(self, texts: Sequence[str]) -> Detected:
        """See `Peer`. The peer failed on a text whose reply is refused, cut off, or missing."""
        return Detected(tuple(asyncio.run(self._all(texts))))

    async def _all(self, texts: Sequence[str]) -> list[tuple[LabeledSpan, ...] | None]:
        slots = asyncio.Semaphore(_AT_ONCE)

        async def one(text: str) -> tuple[LabeledSpan, ...] | None:
            async with slots:
                return await self._one(text)

        return await asyncio.gather(*map(one, texts))

    async def _one(self, text: str) -> tuple[LabeledSpan, ...] | None:
        try:
            reply = await self._model.complete(echo_request(text, self._baseline))
        except ModelProblem:
            return None
        if reply.finish != "stop":
            return None
        found = aligned(sendable(text), reply.text, self._baseline.mark)
        return tuple(LabeledSpan(start, end, "UNTYPED") for start, end in found.spans)
