"""Find misspelled and misread occurrences of names and numbers that were found in the same text.

A text with typing errors or errors of OCR has a name in several forms: `Arkwright`, `Arkwnght`. The distance is that of
optimal string alignment (Damerau, CACM 1964).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from incognote.align.sweep import FOUND
from incognote.nouns import Span, Text
from incognote.schemas.catalogue import catalogue
from incognote.text.lexicon import KINDS, fold, given, lexicon, surname

_NAME = re.compile(r"[^\W\d_]{5,}")
_NUMBER = re.compile(r"(?<!\w)[^\W_](?:[\w/.-]{4,20}[^\W_])(?!\w)")
_LONG = 8  # letters, from which on two may be wrong
_SCORE = 0.6


def misspelled(text: Text, spans: Sequence[Span], common: Callable[[str], bool]) -> list[Span]:
    """Return words of a text that are nearly a part of a found name, or nearly a found number.

    Args:
        text: the text in which the spans were found.
        spans: the spans found in it; those with a score below `FOUND` are ignored.
        common: whether a word in lower case is a common word or medical term.

    Returns:
        New spans, disjoint and sorted, none of which overlaps a given one. Their source is "misspelled".
    """
    found = [span for span in spans if span.score >= FOUND]
    names = {
        part.lower(): span.type
        for span in found if catalogue()[span.type].group == "PERSON"
        for part in _NAME.findall(span.text) if not common(part.lower())
    }  # fmt: skip
    numbers = {
        _plain(span.text): span.type
        for span in found
        if catalogue()[span.type].group in ("ID", "CONTACT") and _is_number(span.text)
    }
    taken = bytearray(len(text.content))
    for span in spans:
        taken[span.start : span.end] = b"\1" * (span.end - span.start)
    near = [*_near_names(text.content, names, common), *_near_numbers(text.content, numbers)]
    new: list[Span] = []
    for start, end, kind in sorted(near, key=lambda each: (each[0], -each[1])):
        if not any(taken[start:end]):
            taken[start:end] = b"\1" * (end - start)
            new.append(Span(text, start, end, kind, _SCORE, ("misspelled",)))
    return new


def _near_names(
    content: str, names: dict[str, str], common: Callable[[str], bool]
) -> Iterator[tuple[int, int, str]]:
    if not names:
        return
    for match in _NAME.finditer(content):
        word = match[0].lower()
        if match[0][0].islower() or word in names or common(word) or _is_known(word):
            continue
        if kind := _nearest(word, names):
            yield *match.span(), kind


def _near_numbers(content: str, numbers: dict[str, str]) -> Iterator[tuple[int, int, str]]:
    if not numbers:
        return
    for match in _NUMBER.finditer(content):
        word = _plain(match[0])
        if _is_number(word) and word not in numbers and (kind := _nearest(word, numbers)):
            yield *match.span(), kind


def _nearest(word: str, known: dict[str, str]) -> str | None:
    """Return the type of a known word that differs by one letter, or by two if it is long."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    most = 2 if len(word) >= _LONG else 1
    best = process.extractOne(word, known.keys(), scorer=OSA.distance, score_cutoff=most)
    return known[best[0]] if best and best[1] <= (2 if len(best[0]) >= _LONG else 1) else None


def _is_number(text: str) -> bool:
    plain = _plain(text)
    return 6 <= len(plain) <= 20 and sum(map(str.isdigit, plain)) >= 4


def _is_known(word: str) -> bool:
    """Whether a word is a term, or another name."""
    entry = lexicon().get(fold(word), 0)
    return bool(entry & KINDS) or given(entry) + surname(entry) > 0


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()
