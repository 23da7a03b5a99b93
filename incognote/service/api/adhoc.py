"""Presidio's ad hoc recognizers: patterns and word lists that come with a request, sought for so long and no longer."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from incognote.errors import MissingExtra, UsageError

_SECONDS = 1.0
"""For all patterns of a request together: a pattern can be made to search for ever."""
_MOST_FOUND = 10_000
_HEAVIEST = 100_000
"""Of all patterns of a request together: compiling writes out what is repeated, and nobody can stop it half-way."""
_NEAR = 5
_REPEAT = re.compile(r"\{(\d{0,18})(?:,(\d{0,18}))?\}")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_ESCAPE_OR_SET = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_COMMENTED = re.compile(r"\(\?(?:#|[a-zA-Z0-9]*x)")
"""In comments stands what a reader of repetitions takes for what it is not."""
_BETTER, _AT_LEAST = 0.35, 0.4
"""How much a context word adds, and the least score it leaves: Presidio's own defaults."""


class Pattern(BaseModel):
    """One pattern and how sure it is."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    name: str = Field(default="pattern", max_length=200)
    regex: str = Field(min_length=1, max_length=2000)
    score: float = Field(ge=0, le=1)


class AdHoc(BaseModel):
    """A recognizer for one request."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    name: str = Field("ad hoc", max_length=200)
    supported_entity: str = Field(min_length=1, max_length=64, pattern="^[A-Z][A-Z0-9_]*$")
    supported_language: str = "en"
    patterns: list[Pattern] = Field([], max_length=50)
    deny_list: list[str] = Field([], max_length=10_000)
    context: list[str] = Field([], max_length=200)


def found_by(text: str, recognizers: Sequence[AdHoc]) -> Iterator[dict[str, Any]]:
    """What they find, as /analyze tells it.

    Raises:
        UsageError: a pattern is malformed, or searches for too long or too much.
        MissingExtra: `regex` is not installed.
    """
    patterns = [pattern.regex for one in recognizers for pattern in one.patterns]
    if any(_COMMENTED.search(pattern) for pattern in patterns):
        raise UsageError("ad_hoc_recognizers: patterns have no comments")
    if sum(map(weight, patterns)) > _HEAVIEST:
        raise UsageError("ad_hoc_recognizers: the patterns repeat too much")
    until = time.monotonic() + _SECONDS
    count = 0
    for one in recognizers:
        listed = [Pattern.model_construct(regex=_listed(one.deny_list), score=1.0)] if any(one.deny_list) else []
        for pattern in [*one.patterns, *listed]:
            for start, end in _matches(pattern.regex, text, until):
                count += 1
                if count > _MOST_FOUND:
                    raise UsageError(f"ad_hoc_recognizers: they find more than {_MOST_FOUND}")
                score = pattern.score
                if one.context and _near(text, start, one.context):
                    score = min(1.0, max(_AT_LEAST, score + _BETTER))
                yield {"entity_type": one.supported_entity, "start": start, "end": end, "score": score}


def weight(pattern: str) -> int:
    """How long a pattern is once what it repeats is written out; an estimate that is rather too high."""
    return max(_written_out(pattern, _ESCAPE_OR_SET), _written_out(pattern, _ESCAPE))  # what is a set can be disguised


def _written_out(pattern: str, tokens: re.Pattern[str]) -> int:
    total = [0]  # of each group that is open
    last = at = 0
    while at < len(pattern) and sum(total) <= _HEAVIEST:
        repeat, token = _REPEAT.match(pattern, at), tokens.match(pattern, at)
        if repeat:
            times = max([1, *(int(number) for number in repeat.groups() if number)])
            total[-1] += last * (times - 1)
            last, at = last * times, repeat.end()
            continue
        at = token.end() if token else at + 1
        if not token and pattern[at - 1] == "(":
            total.append(1)
            continue
        closes = not token and pattern[at - 1] == ")" and len(total) > 1
        last = total.pop() if closes else 1
        total[-1] += last
    return sum(total)


def _matches(pattern: str, text: str, until: float) -> Iterator[tuple[int, int]]:
    try:
        import regex
    except ImportError:
        raise MissingExtra("service", "ad hoc recognizers") from None
    try:
        made = regex.compile(pattern, regex.DOTALL | regex.MULTILINE | regex.IGNORECASE)
        for match in made.finditer(text, timeout=max(0.001, until - time.monotonic()), concurrent=True):
            if match.start() < match.end():
                yield match.start(), match.end()
    except TimeoutError:
        raise UsageError("ad_hoc_recognizers: a pattern searches for too long") from None
    except (regex.error, OverflowError, RecursionError, MemoryError):
        raise UsageError("ad_hoc_recognizers: a pattern is malformed") from None


def _listed(words: Sequence[str]) -> str:
    ordered = sorted((word for word in words if word), key=len, reverse=True)
    return rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)"


def _near(text: str, start: int, context: Sequence[str]) -> bool:
    before = re.findall(r"\w+", text[max(0, start - 200) : start].lower())[-_NEAR:]
    return any(word.lower() in said for word in context if word for said in before)
