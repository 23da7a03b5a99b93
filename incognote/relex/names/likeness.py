"""Whether two written names may be one person's: surnames, given names, initials, nicknames, misspellings."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from incognote.relex.names.parsed import Parsed, Piece, unparticled
from incognote.relex.names.reading import readings
from incognote.relex.names.words import key, roots

_SHORT = 5
_LONG = 8


class Name(NamedTuple):
    """One reading of a name, as it is compared: normal forms, initials as single letters."""

    given: str
    nick: frozenset[str]
    middle: tuple[str, ...]
    surname: frozenset[str]
    suffix: str

    @property
    def joined(self) -> str:
        """Given and middle names as one word: Wei Ming."""
        return self.given + "".join(self.middle)


def alike(a: str, b: str) -> bool:
    """Equal up to a misspelling: one edit (swaps count as one) from five letters on, two from eight on.

    A shorter name with one letter changed is mostly another name (Lee, Lea, Leo). The first letter must stand unless
    the edit swaps it: it is seldom mistyped, and most pairs of different surnames one edit apart differ there
    (docs/relexicalization.md has the counts).
    """
    if a == b:
        return True
    short = min(len(a), len(b))
    if short < _SHORT or (a[0] != b[0] and a[:2] != b[1::-1]):
        return False
    allowed = 1 if short < _LONG else 2
    return OSA.distance(a, b, score_cutoff=allowed) <= allowed


def related(a: str, b: str) -> bool:
    """Equal, or both may stand for one given name: nickname, other language, or the other cut short (Jillian, Jill)."""
    if a == b or roots().get(a, frozenset((a,))) & roots().get(b, frozenset((b,))):
        return True
    short, long = sorted((a, b), key=len)
    return len(short) > 2 and long.startswith(short) and long not in roots()


@lru_cache(maxsize=1 << 14)
def compared(written: str, title: str = "") -> tuple[Name, ...]:
    """Every reading of a written name in the form in which names are compared, the likeliest first."""
    return tuple(dict.fromkeys(_name(name) for name in readings(written, title)))


def _name(name: Parsed) -> Name:
    given = name.of("given")
    return Name(
        given[0].key if given else "",
        frozenset(piece.key for piece in name.of("nick")),
        tuple(_filial(piece) for piece in name.of("middle")),
        frozenset(key(unparticled(_undotted(piece))) for piece in name.of("surname")),
        key(name.suffix),
    )


def _undotted(piece: Piece) -> str:
    """v.d. Meer → v d Meer, so that its particles fall away too."""
    return piece.text.replace(".", " ").strip() or piece.text


def _filial(piece: Piece) -> str:
    return key(unparticled(piece.text))


def same_surname(a: Name, b: Name, typo: bool = False) -> bool:
    """They share a surname; initials fit what they begin; with `typo` a misspelling does."""
    for x in a.surname:
        for y in b.surname:
            if x == y or (1 in (len(x), len(y)) and x[:1] == y[:1]):
                return True
            if typo and len(x) > 1 and len(y) > 1 and alike(x, y):
                return True
    whole = ("".join(sorted(a.surname)), "".join(sorted(b.surname)))
    return bool(whole[0]) and whole[0] == whole[1]


def same_given(a: Name, b: Name, typo: bool = False) -> bool:
    """Their given names are equal or related; an initial fits what it begins; with `typo` a misspelling does."""
    if not a.given or not b.given:
        return False
    if 1 in (len(a.given), len(b.given)):
        return a.given[0] == b.given[0] and not _against(a.middle, b.middle)
    if a.joined == b.joined or a.given == b.joined or a.joined == b.given:
        return True
    ones, others = {a.given} | a.nick, {b.given} | b.nick
    if any(related(x, y) or (typo and alike(x, y)) for x in ones for y in others):
        return not _against(a.middle, b.middle)
    return False


def _against(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Middle names that cannot be one person's: both stand, and no one begins as one of the other's."""
    return bool(a and b) and not any(x[0] == y[0] and (1 in (len(x), len(y)) or alike(x, y)) for x in a for y in b)


def whole(name: Name) -> bool:
    """A given name and a surname, both written out."""
    return len(name.given) > 1 and any(len(s) > 1 for s in name.surname)


def partly(name: Name) -> bool:
    """Both shown, one of them by its initial."""
    return bool(name.given and name.surname) and not whole(name) and not lettered(name)


def lettered(name: Name) -> bool:
    """Initials and nothing else."""
    return len(name.given) <= 1 and all(len(s) == 1 for s in (*name.surname, *name.middle))


def one_person(a: tuple[Name, ...], b: tuple[Name, ...]) -> float:
    """How well two whole names agree in the reading that agrees best: 0 not, else up to 1.

    Given name and surname must both agree, only one of them by way of a misspelling. Contradictory suffixes (Jr., Sr.)
    or middle names keep apart.
    """
    return max((_agreement(x, y) for x in a for y in b if whole(x) and whole(y)), default=0.0)


def _agreement(a: Name, b: Name) -> float:
    if a.suffix and b.suffix and a.suffix != b.suffix:
        return 0.0
    if same_surname(a, b):
        if a.given == b.given and not _against(a.middle, b.middle):
            return 1.0 if a.surname == b.surname else 0.9
        if same_given(a, b):
            return 0.8
        return 0.6 if same_given(a, b, typo=True) else 0.0
    if a.given == b.given and same_surname(a, b, typo=True) and not _against(a.middle, b.middle):
        return 0.7
    return 0.0
