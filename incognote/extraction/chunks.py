"""Split a text into overlapping chunks of about ω words, cut where sentences or lines end (RedactOR §A.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from incognote.languages import language
from incognote.nouns import Text
from incognote.settings import CHUNK_WORDS

_WORD = re.compile(r"\S+")
# In characters. A longer run without a space (base64, Chinese, a binary file) counts as words of this length. Otherwise
# a chunk of 256 "words" would not fit into any model's context, and servers that cut such a prompt do not report it.
_LONGEST_WORD = 64
_NEAR = 115
"""In percent of the size: a text up to this long is not split. Two calls would cost nearly twice as much as one."""
_SPARE = 16  # one in this many words of a chunk is kept free, so that cuts can move to the end of a sentence
_SHARED = 8  # words that neighbors share: the halves of a chunk, and small chunks by default
_SENTENCE = re.compile(r"[.!?;؟؛][\"')\]’”]*\Z")
_INITIAL = re.compile(r"[^\W\d_]\.")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a text that a language model reads at once: a range in code points of the text, end exclusive."""

    start: int
    end: int

    def of(self, text: Text) -> Text:
        """Return this part of a text: the text itself if the chunk is all of it."""
        if self.end - self.start == len(text):
            return text
        return Text(text.content[self.start : self.end], text.field)


def chunks(
    text: str, words: int = CHUNK_WORDS, overlap: int | None = None, languages: frozenset[str] = frozenset()
) -> list[Chunk]:
    """Split the text into chunks of about equal length. Together they cover every character.

    A text of up to 1.15 times `words` stays whole. In a longer text, no chunk has more than `words` words, and no chunk
    has more than 1.6 times as many as another. A chunk starts and ends, if possible, at a blank line, a line break, or
    the end of a sentence, and not after an abbreviation such as "Dr.".

    Args:
        words: the size of a chunk, at least 2.
        overlap: the minimum number of words that neighbors share. The default is a sixteenth of `words`, but at least 8
            words, or a quarter of a small chunk. Neighbors share a mention that a cut divides, so it is read whole.
        languages: of the text, besides English. Their abbreviations count, too.

    Returns:
        The chunks in order; empty for a text without a word.
    """
    if words < 2:
        raise ValueError("a chunk holds at least two words")
    shared = min(max(words // 16, _SHARED), words // 4) if overlap is None else overlap
    if not 0 <= shared < words:
        raise ValueError("the overlap is shorter than a chunk")
    spans = list(_words(text))
    if not spans:
        return []
    if 100 * len(spans) <= _NEAR * words:
        return [Chunk(0, len(text))]
    count = -(-(len(spans) - shared) // max(1, words - shared - words // _SPARE))
    return _divided(text, spans, count, shared, words, languages)


def length(text: str) -> int:
    """Return the number of words of a text, as chunks count them: a long run without a space counts as several."""
    return sum(1 for _ in _words(text))


def halves(text: str, chunk: Chunk, languages: frozenset[str] = frozenset()) -> tuple[Chunk, ...]:
    """Split a chunk into two that share a few words. Return none if it has fewer than four times as many words."""
    inner = text[chunk.start : chunk.end]
    spans = list(_words(inner))
    if len(spans) < 4 * _SHARED:
        return ()
    parts = _divided(inner, spans, 2, _SHARED, len(spans), languages)
    return tuple(Chunk(part.start + chunk.start, part.end + chunk.start) for part in parts)


def _words(text: str) -> Iterator[tuple[int, int]]:
    for match in _WORD.finditer(text):
        start, end = match.span()
        while end - start > _LONGEST_WORD:
            yield start, start + _LONGEST_WORD
            start += _LONGEST_WORD
        yield start, end


def _divided(
    text: str, spans: Sequence[tuple[int, int]], count: int, shared: int, most: int, languages: frozenset[str]
) -> list[Chunk]:
    """Divide a text of these words into `count` chunks of at most `most` words. Neighbors share `shared` words.

    The chunks would be equally long if each cut were exactly at its place. A cut may move to a better place nearby.
    """
    new = len(spans) - shared  # each chunk adds new / count words, and shares the rest
    step = -(-new // count)
    reach = min((most - step - shared) // 2, new // count // 8)  # the farthest that a cut moves, in words
    abbreviations = _abbreviations(languages | {"en"})

    def cut(due: int, before: int, after: int) -> int:
        """Return the index of the word to cut before: in the best kind of place near `due`, then the nearest one."""
        places = range(due - before, due + after + 1)
        return min(places, key=lambda at: (_kind(text, spans, at, abbreviations), abs(at - due)))

    parts: list[Chunk] = []
    first = 0
    for number in range(1, count):
        due = number * new // count
        last = cut(due + shared, reach // 2, reach)
        parts.append(Chunk(spans[first][0] if parts else 0, spans[last - 1][1]))
        first = cut(due, reach, last - shared - due) if shared else last
    parts.append(Chunk(spans[first][0], len(text)))
    return parts


def _kind(text: str, spans: Sequence[tuple[int, int]], at: int, abbreviations: frozenset[str]) -> int:
    """Rate the place before a word: 0 is a blank line, 5 is within a run without a space."""
    start, end = spans[at - 1]
    gap = text[end : spans[at][0]]
    if not gap:
        return 5
    if gap.count("\n") > 1:
        return 0
    word = text[start:end].lstrip("(['\"“‘")
    if word.casefold() in abbreviations or _INITIAL.fullmatch(word):
        return 4
    if "\n" in gap:
        return 1
    return 2 if _SENTENCE.search(word) else 3


@cache
def _abbreviations(codes: frozenset[str]) -> frozenset[str]:
    """Words with a period that does not end a sentence, such as "dr.", in lower case."""
    tables = (language(code).table("words", "sentences.toml") for code in codes)
    return frozenset(word for table in tables for word in table.get("abbreviations", ()))


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
