"""Notes before and after relexicalization, built from marked sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from incognote.evaluation.relex.pairs import MentionPair, NotePair

_MARK = re.compile(r"\[([A-Z_]+) ([^|\]]+)\|([^\]]*)\]")
Pair = Callable[..., NotePair]


@pytest.fixture
def pair() -> Pair:
    """A note with mentions as `[TYPE words|surrogate]`. Gold identities are the words themselves, unless given."""

    def make(
        marked: str,
        patient: str = "p",
        note: int = 0,
        gold: Sequence[str] = (),
        given: Sequence[str] = (),
        label: str = "",
        **groups: str,
    ) -> NotePair:
        before = after = ""
        mentions: list[MentionPair] = []
        done = 0
        for at, match in enumerate(_MARK.finditer(marked)):
            before, after = before + marked[done : match.start()], after + marked[done : match.start()]
            kind, words, surrogate = match.groups()
            identity = gold[at] if gold else words
            mentions.append(
                MentionPair(note, kind, len(before), len(before) + len(words), words, identity,
                        given[at] if given else identity, surrogate, len(after), len(after) + len(surrogate))
            )  # fmt: skip
            before, after, done = before + words, after + surrogate, match.end()
        return NotePair(patient, before + marked[done:], after + marked[done:], tuple(mentions), groups, label)

    return make
