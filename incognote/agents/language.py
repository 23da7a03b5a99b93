"""Texts that nothing in force reads: which languages they are in, and their words in foreign scripts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from incognote.nouns import Reason, Span, Text
from incognote.text.language import Lexicon, foreign_words, names_of, unread

if TYPE_CHECKING:
    from incognote.agents.case import Case

_SHORT = 200  # characters: such fields of a record say more together than alone
SOURCE = "script"
"""The source of a span that is words in a script which nothing in force reads."""


def reads(case: Case) -> list[frozenset[str]]:
    """Per text of a case the languages that what is in force for it reads, with those the settings accept.

    A language model counts for a text of which it read every chunk: the route is `all`, and none stayed unanswered.
    """
    tools = case.tools
    base = tools.embedded.reads | frozenset(tools.settings.languages)
    if tools.reader is None or case.route != "all":
        return [base for _ in case.texts]
    unanswered = {index for at, (index, _) in enumerate(case.chunks) if at not in case.read or case.read[at].unanswered}
    return [base if index in unanswered else base | tools.reader.reads for index in range(len(case.texts))]


def unsupported(case: Case, read: Sequence[frozenset[str]]) -> list[Reason]:
    """A reason for each text in a language that nothing in force reads, and for a record whose short fields are.

    Args:
        read: from `reads`.
    """
    found: list[Reason] = []
    short: list[str] = []
    for text, languages in zip((view.seen for view in case.views), read, strict=True):
        if stretches := unread(text.content, languages, lexicon(), part=bool(text.field)):
            found.append(Reason("unsupported-language", text.field, names_of(stretches)))
        elif len(text) < _SHORT:
            short.append(text.content)
    if len(short) > 1 and not found:
        together = frozenset.intersection(*read)
        if stretches := unread("\n".join(short), together, lexicon(), part=True):
            found.append(Reason("unsupported-language", "", names_of(stretches)))
    return found


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
