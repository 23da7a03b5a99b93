"""Texts that nothing in force reads: which languages they are in, and their words in foreign scripts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from incognote.nouns import Reason, Span, Text
from incognote.text.language import Lexicon, foreign_words, names_of, unread

_SHORT = 200  # characters: such fields of a record say more together than alone
SOURCE = "script"
"""The source of a span that is words in a script which nothing in force reads."""


def unsupported(texts: Sequence[Text], read: Sequence[frozenset[str]]) -> list[Reason]:
    """A reason for each text in a language that nothing in force reads, and for a record whose short fields are.

    Args:
        texts: as a reader sees them.
        read: per text the languages that are read.
    """
    reasons: list[Reason] = []
    short: list[str] = []
    for text, languages in zip(texts, read, strict=True):
        if stretches := unread(text.content, languages, lexicon(), part=bool(text.field)):
            reasons.append(Reason("unsupported-language", text.field, names_of(stretches)))
        elif len(text) < _SHORT:
            short.append(text.content)
    if len(short) > 1 and not reasons:
        together = frozenset.intersection(*read)
        if stretches := unread("\n".join(short), together, lexicon(), part=True):
            reasons.append(Reason("unsupported-language", "", names_of(stretches)))
    return reasons


def foreign(text: Text, found: Sequence[Span], languages: frozenset[str]) -> list[Span]:
    """Words in a script that nothing in force reads, outside of what was found: names, as a rule, so PERSON.

    Args:
        found: disjoint, in order.
        languages: what is read.
    """
    return [
        Span(text, start, end, "PERSON", 1.0, (SOURCE,))
        for start, end in foreign_words(text.content, languages)
        if not any(s.start <= start and end <= s.end for s in found)
    ]


@cache
def lexicon() -> Lexicon:
    """What is known of English words, for `text.language`; read once."""
    from incognote.detectors.rules import lexicon as words

    return Lexicon(words.lexicon(), words.english(), words.fold)
