"""The language-model baselines of RedactOR (section A.3): the model repeats the text with marks for censored parts.

An echo shows what was censored but not where, so it is aligned to the text. An exact echo matches as a pattern whose
gaps are the marks. Any other echo is compared token by token (Ratcliff and Obershelp's matching, `difflib`), and each
stretch of the text for which the echo has a mark is a span. Text that an echo leaves out without a mark is counted
separately: it is missing from the output, but was not called an identifier.
"""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files

from incognote.errors import ModelProblem, UnknownName
from incognote.evaluation.formats.document import LabeledSpan
from incognote.llm.base import LanguageModel, Message, Request
from incognote.prompts import sendable
from incognote_benchmarks.peers.base import Detected

Stretch = tuple[int, int]
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
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
        lost: the number of letters and digits that the echo leaves out without a mark.
        exact: whether the echo equals the text except for its marks.
    """

    spans: tuple[Stretch, ...]
    lost: int = 0
    exact: bool = True


def aligned(text: str, echo: str, mark: str) -> Aligned:
    """Align an echo to its text. If an exact echo fits in several ways, each mark covers as little as possible.

    Args:
        mark: the replacement of a censored stretch, in any case.
    """
    pieces = re.split(re.escape(mark), echo, flags=re.IGNORECASE)
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
    places = [(found.start(), found.end()) for found in _TOKEN.finditer(text)]
    tokens = [text[start:end] for start, end in places]
    repeated: list[str | None] = []  # None is a mark: it equals no token
    for number, piece in enumerate(pieces):
        repeated += [None] if number else []
        repeated += _TOKEN.findall(piece)
    spans: list[Stretch] = []
    lost = 0
    for how, i, j, k, m in SequenceMatcher(None, tokens, repeated, autojunk=False).get_opcodes():
        if how == "equal" or i == j:
            continue
        if None in repeated[k:m]:
            spans.append(_trimmed(text, places[i][0], places[j - 1][1]))
        else:
            gone = sum(map(str.isalnum, "".join(tokens[i:j])))
            lost += max(0, gone - sum(map(str.isalnum, "".join(t or "" for t in repeated[k:m]))))
    return Aligned(tuple(_worth(text, spans, mark)), lost, exact=False)


def _trimmed(text: str, start: int, end: int) -> Stretch:
    """Trim white space on both sides, unless there is nothing else."""
    words = text[start:end]
    if words.isspace():
        return start, end
    return start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())


def _worth(text: str, spans: Sequence[Stretch], mark: str) -> list[Stretch]:
    """Drop marks that were already in the text."""
    return [(start, end) for start, end in spans if text[start:end].casefold() != mark.casefold()]


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
        said = Message("system", self._baseline.system), Message("user", sendable(text))
        try:
            reply = await self._model.complete(Request(said, max_tokens=_MOST_TOKENS))
        except ModelProblem:
            return None
        if reply.finish != "stop":
            return None
        found = aligned(sendable(text), reply.text, self._baseline.mark)
        return tuple(LabeledSpan(start, end, "UNTYPED") for start, end in found.spans)
