"""The written variants of a known person's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from incognote.detectors.known.tokens import tokens

_TITLES = frozenset(
    "mr mrs ms miss mx dr doctor prof professor sir dame lord lady rev reverend fr father sr sister br "
    "nurse herr frau madame mme mlle"
    " monsieur senor senora sra dra don dona shri smt sri kumari mdm encik puan haji hajji dato engr atty "
    "hon capt lt sgt maj col gen".split()
)
_SUFFIXES = frozenset(
    "jr sr ii iii iv md do phd rn np pa esq mbbs frcp frcs mrcp dds dmd dpt lcsw msw bsc msc aprn fnp".split()
)
PARTICLES = frozenset(
    "van von de der den del della di da do dos das du la le las los el al bin binti binte ibn abu bint a l "
    "s o d ap ter ten zu zur und y e mac mc"
    " af av san santa st saint".split()
)


class Variant(NamedTuple):
    """A sequence of folded tokens that stands for the person; `kind` is whole, part, initial or initials."""

    tokens: tuple[str, ...]
    kind: str


def variants(name: str) -> Iterator[Variant]:
    """Every way the name may be written: in full, inverted, shortened, initialled, its parts alone.

    A comma means LAST, FIRST MIDDLE. Hyphened parts also stand alone; particles (van, de, al) never do.
    """
    given, family = _split(name)
    if not given and not family:
        return
    if not family:
        yield from _parts(given)
        return
    first, middles = given[:1], given[1:]
    surname = _flat(family)
    if first:
        forms = {surname: None, _flat(family[-1:]): None, tuple("".join(word) for word in family): None}
        for form in forms:  # in full, its last part, O'Brien as OBrien
            yield from _combined(first, middles, form)
    yield from _parts([*given, *family])
    if len(family) > 1:
        yield Variant(surname, "whole")
    initials = tuple(word[0][0] for word in (*given, *family) if word[0] not in PARTICLES)
    if len(initials) > 1:
        yield Variant(initials, "initials")
        yield Variant((initials[0], initials[-1]), "initials")


def _combined(
    first: list[tuple[str, ...]], middles: list[tuple[str, ...]], surname: tuple[str, ...]
) -> Iterator[Variant]:
    one, rest = _flat(first), _flat(middles)
    letters = tuple(word[0][0] for word in middles)
    initial = (first[0][0][0],)
    every = ((*one, *rest), one, (*one, *letters), (*initial, *letters), initial, (*initial, *rest), rest)
    for given in dict.fromkeys(every):
        if given:
            kind = "initial" if min(map(len, given)) == 1 else "whole"
            yield Variant((*given, *surname), kind)
            yield Variant((*surname, *given), kind)


def _parts(words: list[tuple[str, ...]]) -> Iterator[Variant]:
    for word in words:
        if len(word) == 1 and (word[0] in PARTICLES or len(word[0]) < 2):
            continue
        yield Variant(word, "part")
        if len(word) > 1:
            yield Variant(("".join(word),), "part")


def _flat(words: list[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(token for word in words for token in word)


def _split(name: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Given names and family names, each a list of words, a word being its tokens (O'Brien has two)."""
    name = re.sub(r"\([^)]*\)|[\"“”]", " ", name)
    head, comma, tail = name.partition(",")
    if comma and (rest := [w for w in _words(tail) if w[0] not in _SUFFIXES]):
        return rest, _words(head)
    chunks = [words for chunk in head.split() if (words := _words(chunk))]
    chunks = [words for k, words in enumerate(chunks) if not _ornament(words, k == 0, k > 0)]
    if len(chunks) < 2:
        return [word for words in chunks for word in words], []
    cut = len(chunks) - 1
    while (
        cut > 1 and len(chunks[cut - 1]) == 1 and chunks[cut - 1][0][0] in PARTICLES and len(chunks[cut - 1][0][0]) > 1
    ):
        cut -= 1  # Ludwig van Beethoven
    return [w for words in chunks[:cut] for w in words], [w for words in chunks[cut:] for w in words]


def _ornament(words: list[tuple[str, ...]], first: bool, later: bool) -> bool:
    """A title before the name or a credential after it."""
    low = words[0][0]
    return len(words) == 1 and len(words[0]) == 1 and ((first and low in _TITLES) or (later and low in _SUFFIXES))


def _words(written: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for chunk in re.split(r"[\s\-‐.,]+", written):
        lows = tuple(tokens(chunk).lows)
        if lows:
            found.append(lows)
    return found
