"""What a prompt misses and wrongly takes, by the type it was asked for, each with a few words around: all of it PHI."""

from __future__ import annotations

import calendar
import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from incognote.evaluation.corpus import Gold, Label
from incognote.evaluation.counts import group
from incognote.evaluation.lab.proposing import Context
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy

AROUND = 6
"""Words of context on either side."""
MOST = 12
"""Contexts of a kind that a model is shown."""
_QUOTED = 4
"""So many words running of a context, and a guideline quotes it."""
_WORD = re.compile(r"\S+")
_COMMON = frozenset(
    word.casefold()
    for names in (calendar.day_name, calendar.day_abbr, calendar.month_name, calendar.month_abbr)
    for word in names
) | frozenset("spring summer autumn fall winter today tomorrow yesterday".split())


@dataclass(slots=True)
class Mistakes:
    """Of one type: stretches that were missed, and stretches that were taken although nothing of them is marked."""

    missed: list[Context] = field(default_factory=list, repr=False)
    wrong: list[Context] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.missed) + len(self.wrong)


def mistakes(gold: Sequence[Gold], found: Sequence[Sequence[Label]], policy: Policy) -> dict[str, Mistakes]:
    """By type as the policy has models asked for it.

    Missed is a gold span of which a letter or digit is in no finding, of any type; wrong a finding of which none
    is in any gold span. Types that the policy keeps, or that the catalogue lacks, are passed over.
    """
    made: dict[str, Mistakes] = {}
    for document, labels in zip(gold, found, strict=True):
        text = document.text
        in_gold, in_found = _covered(document.labels), _covered(labels)
        for start, end, fine in document.labels:
            if (type_ := _asked(fine, policy)) and any(
                text[i].isalnum() and i not in in_found for i in range(start, end)
            ):
                made.setdefault(type_, Mistakes()).missed.append(_context(text, start, end, in_found))
        for start, end, fine in labels:
            signs = [i for i in range(start, end) if text[i].isalnum()]
            if (type_ := _asked(fine, policy)) and signs and not any(i in in_gold for i in signs):
                made.setdefault(type_, Mistakes()).wrong.append(_context(text, start, end))
    return made


def _asked(fine: str, policy: Policy) -> str | None:
    return policy.serves(fine) if fine in catalogue() and policy.replaces(fine) else None


def _covered(labels: Sequence[Label]) -> set[int]:
    return {at for start, end, _ in labels for at in range(start, end)}


def _context(text: str, start: int, end: int, found: Collection[int] = ()) -> Context:
    before = [m.start() for m in _WORD.finditer(text, max(0, start - 200), start)][-AROUND:]
    after = [m.end() for m in _WORD.finditer(text, end, end + 200)][:AROUND]
    first, last = (before or [start])[0], (after or [end])[-1]
    part = "".join(text[at] if at in found else " " for at in range(start, end))
    return Context(text[first:last], start - first, end - first, " ".join(part.split()))


def some(contexts: Sequence[Context], seed: int) -> list[Context]:
    """The contexts that a model is shown: drawn, of equal words one before another of them."""
    drawn = random.Random(seed).sample(list(contexts), len(contexts))  # noqa: S311 -- no secret is drawn
    firsts: dict[str, Context] = {}
    rest = [one for one in drawn if firsts.setdefault(one.words.casefold(), one) is not one]
    return [*firsts.values(), *rest][:MOST]


def quotes(guideline: str, contexts: Sequence[Context], said: str, gold: Sequence[Gold] = ()) -> bool:
    """Whether a guideline quotes a note: an identifier's own words, or four words running of a context.

    Args:
        contexts: what its author was shown.
        gold: the texts they are of: identifiers may stand around an error too, and of a name a word is enough.
        said: what the prompt says anyway; words that stand there, and names of days and months, give nobody away.
    """
    words = _words(guideline)
    known = set(_words(said)) | _COMMON
    runs = {tuple(words[at : at + _QUOTED]) for at in range(len(words) - _QUOTED + 1)}
    before = _words(said)
    runs -= {tuple(before[at : at + _QUOTED]) for at in range(len(before) - _QUOTED + 1)}
    inside = [_words(one.text) for one in contexts]
    told = [_words(one.words) for one in contexts]
    for document in gold:
        for start, end, type_ in document.labels:
            own = _words(document.text[start:end])
            names = [own, *([word] for word in own if group(type_) == "PERSON")]
            told += [name for name in names if any(_stands(name, shown) for shown in inside)]
    if any(own and not set(own) <= known and _stands(own, words) and _telling(own) for own in told):
        return True
    return any(tuple(shown[at : at + _QUOTED]) in runs for shown in inside for at in range(len(shown) - _QUOTED + 1))


def _telling(words: Sequence[str]) -> bool:
    """Long enough, or a number long enough, to be more than chance."""
    return len("".join(words)) >= 4 or sum(map(str.isdigit, "".join(words))) >= 2


def _stands(words: Sequence[str], inside: Sequence[str]) -> bool:
    return f" {' '.join(words)} " in f" {' '.join(inside)} "


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
