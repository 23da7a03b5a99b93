"""Presidio's ad hoc recognizers: patterns and word lists that come with a request, searched for with a time limit."""

from __future__ import annotations

import importlib
import re
import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from incognote.errors import MissingExtra, UsageError
from incognote.service.api.problems import Refused

_SECONDS = 1.0
"""The limit for all patterns and lists of a request together, in all of its texts.

A pattern can be made to search forever.
"""
_MOST_FOUND = 10_000
_HEAVIEST = 100_000
"""The limit for all patterns of a request together, about 270 bytes each. A compiler cannot be stopped halfway."""
_LONGEST = 250_000
"""The maximum number of characters of all texts of a request. The memory of a failing search grows with them."""
_MOST_DENIED, _DENIED = 10_000, 200_000
"""Limits for all deny lists of a request: the number of entries, and of their characters."""
_NEAR = 5
_TOKEN, _WORD = re.compile(r"\w+|\W"), re.compile(r"\w")
_LOOKS = 64  # entries that are compared between two checks of the clock
_BETTER, _AT_LEAST = 0.35, 0.4
"""How much a context word adds, and the minimum score after that. These are Presidio's own defaults."""
_turn = threading.Semaphore(2)
"""Limits how many requests compile and search patterns at once. So the load of one and of all requests is bounded."""


class Pattern(BaseModel):
    """One pattern and its score."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    name: str = Field(default="pattern", max_length=200)
    regex: str = Field(min_length=1, max_length=2000)
    score: float = Field(ge=0, le=1)


class AdHoc(BaseModel):
    """A recognizer for one request only."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    name: str = Field("ad hoc", max_length=200)
    supported_entity: str = Field(min_length=1, max_length=64, pattern="^[A-Z][A-Z0-9_]*$")
    supported_language: str = "en"
    patterns: list[Pattern] = Field([], max_length=50)
    deny_list: list[Annotated[str, Field(max_length=1000)]] = Field([], max_length=_MOST_DENIED)
    context: list[str] = Field([], max_length=200)


def found_in(texts: Sequence[str], recognizers: Sequence[AdHoc]) -> list[list[dict[str, Any]]]:
    """Return what the recognizers find in each text, in the form of /analyze.

    Raises:
        UsageError: a pattern is malformed, or the recognizers are too large, search too long or too much text, or find
            too much.
        Refused: other requests are searching (503).
        MissingExtra: `regex` is not installed.
    """
    if not recognizers:
        return [[] for _ in texts]
    if sum(map(len, texts)) > _LONGEST:
        raise UsageError(f"ad_hoc_recognizers: they search at most {_LONGEST:,} characters in one request")
    denied = [entry for one in recognizers for entry in one.deny_list]
    if len(denied) > _MOST_DENIED or sum(map(len, denied)) > _DENIED:
        raise UsageError(f"ad_hoc_recognizers: deny lists have {_MOST_DENIED:,} entries, {_DENIED:,} letters at most")
    if not _turn.acquire(timeout=_SECONDS):
        raise Refused(503, "ad_hoc_recognizers: other requests are using them; try again")
    try:
        until = time.monotonic() + _SECONDS
        total = 0
        for one in recognizers:
            for pattern in one.patterns:
                total += weight(pattern.regex)
                if total > _HEAVIEST:
                    raise UsageError("ad_hoc_recognizers: the patterns have too many repetitions")
        sought = [(one, _searches(one, until)) for one in recognizers]
        each: list[list[dict[str, Any]]] = []
        left = _MOST_FOUND
        for text in texts:
            each.append(list(islice(_found(text, sought), left + 1)))
            left -= len(each[-1])
            if left < 0:
                raise UsageError(f"ad_hoc_recognizers: they find more than {_MOST_FOUND:,}")
        return each
    finally:
        _turn.release()


class _Search(ABC):
    """One pattern or one deny list, and the score of what it finds."""

    def __init__(self, score: float, until: float) -> None:
        self.score, self.until = score, until

    @abstractmethod
    def matches(self, text: str) -> Iterator[tuple[int, int]]: ...


class _Regex(_Search):
    def __init__(self, pattern: Pattern, until: float) -> None:
        super().__init__(pattern.score, until)
        regex = _regex()
        flags = regex.DOTALL | regex.MULTILINE | regex.IGNORECASE
        try:
            # not cached, or hundreds of patterns from strangers would stay in memory
            self._made = regex.compile(pattern.regex, flags, cache_pattern=False)
        except (regex.error, OverflowError, RecursionError, MemoryError, ValueError):
            raise _malformed() from None

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        try:
            left = max(0.001, self.until - time.monotonic())
            for match in self._made.finditer(text, timeout=left, concurrent=True):
                if match.start() < match.end():
                    yield match.start(), match.end()
        except TimeoutError:
            raise _too_long() from None
        except (RecursionError, MemoryError):
            raise _malformed() from None


class _Listed(_Search):
    """Words of a deny list as whole words, case-insensitive. The longest wins if several match at one place."""

    def __init__(self, words: Iterable[str], until: float) -> None:
        super().__init__(1.0, until)
        self._by_first: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for word in words:
            if first := _TOKEN.match(word):
                self._by_first[first[0].casefold()][len(word)].add(word.casefold())

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        done = compared = 0
        for token in _TOKEN.finditer(text):
            start = token.start()
            listed = self._by_first.get(token[0].casefold())
            if listed is None or start < done or _WORD.match(text[start - 1 : start]):
                continue
            for length in sorted(listed, reverse=True):
                compared += 1
                if compared % _LOOKS == 0 and time.monotonic() > self.until:
                    raise _too_long()
                end = start + length
                if not _WORD.match(text[end : end + 1]) and text[start:end].casefold() in listed[length]:
                    yield start, end
                    done = end
                    break


def weight(pattern: str) -> int:
    """Return how many nodes the compiler writes for a pattern: those of `regex`'s own parse tree.

    A repeated part counts as often as its minimum, since the compiler writes it out.

    Raises:
        UsageError: it is malformed, or calls its own groups, for which the memory of a search has no limit.
        MissingExtra: `regex` is not installed.
    """
    regex = _regex()
    core: Any = importlib.import_module("regex._regex_core")
    flags = int(regex.DOTALL | regex.MULTILINE | regex.IGNORECASE)
    try:
        for _ in range(len(pattern) + 1):  # as `regex` does: a flag for the whole pattern restarts the parsing
            source = core.Source(pattern)
            info = core.Info(flags, source.char_type, {})
            info.guess_encoding = core.UNICODE
            source.ignore_space = bool(info.flags & core.VERBOSE)
            try:
                return _nodes(core._parse_pattern(source, info), core)
            except core._UnscopedFlagSet:
                if info.global_flags == flags:
                    break
                flags = info.global_flags
        raise _malformed()
    except (regex.error, OverflowError, RecursionError, MemoryError, ValueError):
        raise _malformed() from None


def _nodes(node: Any, core: Any) -> int:
    if isinstance(node, core.CallGroup):
        raise UsageError("ad_hoc_recognizers: patterns must not call their own groups")
    if isinstance(node, core.RegexBase):
        times = max(1, getattr(node, "min_count", 1))
        parts = sum(_nodes(own, core) for own in vars(node).values())
        return times * (1 + len(getattr(node, "characters", ())) + parts)
    if isinstance(node, Mapping):
        return sum(_nodes(own, core) for own in node.values())
    if isinstance(node, list | tuple | set | frozenset):
        return sum(_nodes(own, core) for own in node)
    return 0


def _searches(one: AdHoc, until: float) -> list[_Search]:
    made: list[_Search] = []
    for pattern in one.patterns:
        if time.monotonic() > until:
            raise _too_long()
        made.append(_Regex(pattern, until))
    return [*made, _Listed(one.deny_list, until)] if any(one.deny_list) else made


def _found(text: str, sought: Sequence[tuple[AdHoc, Sequence[_Search]]]) -> Iterator[dict[str, Any]]:
    for one, searches in sought:
        for search in searches:
            for start, end in search.matches(text):
                if time.monotonic() > search.until:
                    raise _too_long()
                score = search.score
                if one.context and _near(text, start, one.context):
                    score = min(1.0, max(_AT_LEAST, score + _BETTER))
                yield {"entity_type": one.supported_entity, "start": start, "end": end, "score": score}


def _regex() -> Any:
    try:
        import regex
    except ImportError:
        raise MissingExtra("service", "ad hoc recognizers") from None
    return regex


def _malformed() -> UsageError:
    return UsageError("ad_hoc_recognizers: a pattern is malformed")


def _too_long() -> UsageError:
    return UsageError("ad_hoc_recognizers: the search takes too long. Use simpler patterns or a shorter text")


def _near(text: str, start: int, context: Sequence[str]) -> bool:
    before = re.findall(r"\w+", text[max(0, start - 200) : start].lower())[-_NEAR:]
    return any(word.lower() in said for word in context if word for said in before)
