"""Split a text into overlapping chunks of ω words, cut where sentences or lines end (RedactOR §A.4, Algorithm 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

WORDS = 256
"""ω of RedactOR §A.3."""

_WORD = re.compile(r"\S+")
# In characters. A longer run without a space (base64, Chinese, a binary file) counts as words of this length. Otherwise
# a chunk of 256 "words" would not fit into any model's context, and servers that cut such a prompt do not report it.
_LONGEST_WORD = 64
_SHARED = 8  # words that the halves of a chunk share
# The places for a cut, best first: a blank line, a line's end, a sentence's end; otherwise between words.
_CUTS = (re.compile(r"\n[ \t\r]*\n\s*"), re.compile(r"\n\s*"), re.compile(r"(?<=[.!?;:])\s+"))


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of a text, in code points of the text, end exclusive."""

    start: int
    end: int


def chunks(text: str, words: int = WORDS, overlap: int | None = None) -> list[Chunk]:
    """Split the text into chunks that together cover every character. Each shares some words with the previous one.

    Args:
        words: the maximum number of words of one chunk, at least 2.
        overlap: the minimum number of words that neighbors share, up to a natural boundary if there is one. An eighth
            of `words` by default. Through the overlap, a mention that a cut divides is still found whole.

    Returns:
        The chunks in order; empty for a text without a word.
    """
    if words < 2:
        raise ValueError("a chunk holds at least two words")
    shared = words // 8 if overlap is None else overlap
    if not 0 <= shared < words:
        raise ValueError("the overlap is shorter than a chunk")
    spans = list(_words(text))
    parts: list[Chunk] = []
    first = 0
    while first < len(spans):
        last = min(first + words, len(spans))
        if last < len(spans):
            last = _cut(text, spans, first + max(shared + 1, words * 3 // 4), last)
        parts.append(Chunk(spans[first][0] if parts else 0, spans[last - 1][1] if last < len(spans) else len(text)))
        if last == len(spans):
            break
        first = max(first + 1, _cut(text, spans, max(first + 1, last - 2 * shared), last - shared) if shared else last)
    return parts


def length(text: str) -> int:
    """Return the number of words of a text, as chunks count them: a long run without a space counts as several."""
    return sum(1 for _ in _words(text))


def halves(text: str, chunk: Chunk) -> tuple[Chunk, ...]:
    """Split a chunk into two that share a few words. Return none if it has fewer than four times as many words."""
    inner = text[chunk.start : chunk.end]
    count = length(inner)
    if count < 4 * _SHARED:
        return ()
    parts = chunks(inner, count // 2 + _SHARED, _SHARED)
    first, last = parts[0], parts[-1]
    cut = Chunk(min(b.start for _, b in pairwise(parts)), last.end)
    return tuple(Chunk(c.start + chunk.start, c.end + chunk.start) for c in (first, cut))


def _words(text: str) -> Iterator[tuple[int, int]]:
    for match in _WORD.finditer(text):
        start, end = match.span()
        while end - start > _LONGEST_WORD:
            yield start, start + _LONGEST_WORD
            start += _LONGEST_WORD
        yield start, end


def _cut(text: str, spans: list[tuple[int, int]], least: int, most: int) -> int:
    """Return the index of the word to cut before, from `least` to `most`: the best kind of place, then the last."""
    if most >= len(spans) or least >= most:
        return most
    for kind in _CUTS:
        for at in range(most, least - 1, -1):
            if kind.match(text, spans[at - 1][1], spans[at][0]):
                return at
    return most


LIGHT = 64
"""The maximum number of words of a text that shares a request."""
MOST = 24
"""The maximum number of texts in one request. In longer lists, models confuse the numbers."""


def grouped(sizes: Sequence[tuple[int, int]], room: int) -> list[list[int]]:
    """Pack chunks into requests: large ones alone, small ones with similar ones.

    Small chunks are sorted by complexity and size, so that one dense text does not draw attention from sparse ones.
    They are packed in that order, as many as have `room` words together.

    Args:
        sizes: for each chunk its words and its complexity (findings of the embedded detectors).
        room: the number of words that one request may hold.

    Returns:
        Indices, each once. Those of a group are in the order of the chunks.
    """
    light = [i for i, (words, _) in enumerate(sizes) if words <= min(LIGHT, room)]
    groups: list[list[int]] = [[i] for i in range(len(sizes)) if i not in set(light)]
    group: list[int] = []
    filled = 0
    for i in sorted(light, key=lambda i: (sizes[i][1], sizes[i][0], i)):
        if group and (filled + sizes[i][0] > room or len(group) == MOST):
            groups.append(sorted(group))
            group, filled = [], 0
        group.append(i)
        filled += sizes[i][0]
    if group:
        groups.append(sorted(group))
    return sorted(groups)


def room(chunk_words: int, context_tokens: int, prompt_tokens: int, reply_tokens: int) -> int:
    """Return how many words of text a request may hold: at most ω, and what the context leaves beside prompt and reply.

    Clinical text has about two tokens per word. Three leave some room for fences and unusual words.
    """
    return max(0, min(chunk_words, (context_tokens - prompt_tokens - reply_tokens) // 3))
