"""Whether two written names may be one person's: surnames, given names, initials, nicknames, misspellings."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from rapidfuzz.distance import OSA

from incognote.detectors.rules.lexicon import given as given_weight
from incognote.detectors.rules.lexicon import lexicon
from incognote.detectors.rules.lexicon import surname as surname_weight
from incognote.relex.names.guess import bearers
from incognote.relex.names.parsed import NamePiece, Parsed, key, roots, suffix, unparticled, words
from incognote.relex.names.reading import readings

_SHORT = 5
_LONG = 8
_KNOWN = 3  # weight of a surname from which it is no rare one

_TO_THE_LETTER = 0.9

Typo = Literal["none", "strict", "loose", "free"]
"""Whether misspellings are believed, and how readily: `mistyped`."""


class ComparedName(NamedTuple):
    """One reading of a name, as it is compared: normal forms, initials as single letters.

    `joined` are the given and middle names as one word, in the order of writing: weiming for Wei Ming.
    """

    given: str
    nick: tuple[str, ...]
    middle: tuple[str, ...]
    joined: str
    surname: tuple[str, ...]
    suffix: str


def alike(a: str, b: str) -> bool:
    """Equal up to a misspelling: one edit (swaps count as one) from five letters on, two from eight on.

    A shorter name with one letter changed is mostly another name (Lee, Lea, Leo). The first letter must stand unless
    swapped with the second: it is seldom mistyped, and names that rhyme are many. Of a million pairs among the 11,163
    commonest surnames of the lexicon, 276 are one edit apart where the shorter has three letters, 87 where it has five,
    71 where it has eight; two edits apart 661 of five letters, 110 of eight.
    """
    if a == b:
        return True
    short = min(len(a), len(b))
    if short < _SHORT or (a[0] != b[0] and a[:2] != b[1::-1]):
        return False
    allowed = 1 if short < _LONG else 2
    return OSA.distance(a, b, score_cutoff=allowed) <= allowed


def mistyped(a: str, b: str, typo: Typo, given: bool = False) -> bool:
    """Alike, and likelier one name misspelt than two names.

    Two names that both are known as such are two: surnames (Chang and Cheng) under "strict", for the records of
    different patients; given names (Julia and Julie) also under "loose", for one patient's. Under "free", for staff
    named in one patient's records, they are one unless one is a man's and the other a woman's.
    """
    if typo == "none" or not alike(a, b) or "*" in a + b:
        return False  # Baby A is not Baby B
    if given and typo == "free":
        return not _opposite(a, b)
    if given:
        return not (given_weight(lexicon().get(a, 0)) and given_weight(lexicon().get(b, 0)))
    return typo != "strict" or min(surname_weight(lexicon().get(x, 0)) for x in (a, b)) < _KNOWN


def related(a: str, b: str) -> bool:
    """Equal, or both may stand for one given name: nickname, other language, or the other cut short (Jillian, Jill).

    What is far rather a surname is no given name cut short: Patel is not Pat.
    """
    if a == b or roots().get(a, frozenset((a,))) & roots().get(b, frozenset((b,))):
        return True
    short, long = sorted((a, b), key=len)
    if len(short) < 3 or not long.startswith(short) or long in roots() or _opposite(short, long):
        return False
    weight = lexicon().get(long, 0)
    return surname_weight(weight) - given_weight(weight) < _KNOWN


def _opposite(a: str, b: str) -> bool:
    """Names of men and of women: Carl, Carla."""
    ones, others = ({kind for kinds in bearers(x).values() for kind in kinds} - {"surname"} for x in (a, b))
    return bool(ones and others) and not ones & others


@lru_cache(maxsize=1 << 14)
def compared(written: str, title: str = "") -> tuple[ComparedName, ...]:
    """Every reading of a written name in the form in which names are compared, the likeliest first."""
    return tuple(dict.fromkeys(_name(name) for name in readings(written, title)))


def _name(name: Parsed) -> ComparedName:
    given = name.of("given")
    return ComparedName(
        _short(given[0]) if given else _newborn(name),
        tuple(sorted({piece.key for piece in name.of("nick")})),
        tuple(_filial(piece) for piece in name.of("middle")),
        "".join(_short(piece) for piece in name.of("given", "middle")) or _newborn(name),
        tuple(sorted({form for piece in name.of("surname") for form in forms(piece)})),
        suffix(name.suffix),
    )


def _short(piece: NamePiece) -> str:
    """A piece's normal form; of an initial one letter, also of Sz."""
    return piece.key[:1] if piece.style == "initial" else piece.key


def _newborn(name: Parsed) -> str:
    """What stands for the given name of a newborn that has none: *babyboy, *babya; "" for others."""
    told = [piece.key for piece in name.of("title")]
    if not set(told) & words().baby:
        return ""
    whole = "".join(told).removesuffix("ny")
    whole = re.sub("^b([bg])([ab]?)$", lambda m: {"b": "boy", "g": "girl"}[m[1]] + m[2], whole)
    return "*baby" + re.sub("baby|bayi|infant|newborn|twin", "", whole)


def forms(piece: NamePiece) -> tuple[str, str]:
    """A surname with its particles and without: Al-Mansouri is written Almansouri too, van der Meer v.d. Meer."""
    if piece.style == "initial":
        return _short(piece), _short(piece)
    return piece.key, key(unparticled(piece.text.replace(".", " ").strip()))


def _filial(piece: NamePiece) -> str:
    return _short(piece) if piece.style == "initial" else key(unparticled(piece.text))


def same_surname(a: ComparedName, b: ComparedName, typo: Typo = "none") -> bool:
    """They share a surname; initials fit what they begin; with `typo` a misspelling does."""
    for x in a.surname:
        for y in b.surname:
            if x == y or (1 in (len(x), len(y)) and x[:1] == y[:1]):
                return True
            if len(x) > 1 and len(y) > 1 and mistyped(x, y, typo):
                return True
    return False


def same_given(a: ComparedName, b: ComparedName, typo: Typo = "none") -> bool:
    """Their given names are equal or related; an initial fits what it begins; with `typo` a misspelling does."""
    if not a.given or not b.given:
        return False
    if 1 in (len(a.given), len(b.given)):
        return _initially(a, b)
    if a.joined == b.joined or a.given == b.joined or a.joined == b.given:
        return True
    ones, others = (a.given, *a.nick), (b.given, *b.nick)
    if any(related(x, y) or mistyped(x, y, typo, given=True) for x in ones for y in others):
        return not _against(a.middle, b.middle)
    return False


def _initially(a: ComparedName, b: ComparedName) -> bool:
    """One has an initial for the given name: it begins it, or what it is short for (M. may be Peg, of Margaret); of
    several, all of the other's in any order, since family names may stand in front (Q. B. Nguyen, Nguyen Quoc Bao)."""
    if a.middle and b.middle and sorted(_letters(a)) == sorted(_letters(b)):
        return True
    firsts, others = ({form[0] for form in (n.given, *roots().get(n.given, ()))} for n in (a, b))
    return bool(firsts & others) and not _against(a.middle, b.middle)


def _letters(name: ComparedName) -> list[str]:
    return [form[0] for form in (name.given, *name.middle) if form]


def _against(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Middle names that cannot be one person's: both stand, and no one begins as one of the other's."""
    return bool(a and b) and not any(x[0] == y[0] and (1 in (len(x), len(y)) or alike(x, y)) for x in a for y in b)


def whole(name: ComparedName) -> bool:
    """A given name and a surname, both written out."""
    return len(name.given) > 1 and any(len(s) > 1 for s in name.surname)


def partly(name: ComparedName) -> bool:
    """Both shown, one of them by its initial."""
    return bool(name.given and name.surname) and not whole(name) and not lettered(name)


def lettered(name: ComparedName) -> bool:
    """Initials and nothing else."""
    return len(name.given) <= 1 and all(len(s) == 1 for s in (*name.surname, *name.middle))


def one_person(a: tuple[ComparedName, ...], b: tuple[ComparedName, ...], typo: Typo = "strict") -> float:
    """How well two whole names agree: 0 not, else up to 1.

    Given name and surname must both agree, only one of them by way of a misspelling. Contradictory suffixes (Jr., Sr.)
    or middle names keep apart. Readings other than the likeliest count only where they agree to the letter (Wei Li, Li
    Wei): else Daniel Green would be Daniel Greenberg, as somebody called Green.
    """
    if not whole(a[0]) or not whole(b[0]):
        return 0.0
    first = _agreement(a[0], b[0], typo)
    if first >= _TO_THE_LETTER:
        return first
    turned = [_agreement(a[0], y, "none") for y in b[1:] if whole(y)] + [
        _agreement(x, b[0], "none") for x in a[1:] if whole(x)
    ]
    return max([first, *(score for score in turned if score >= _TO_THE_LETTER)])


def _agreement(a: ComparedName, b: ComparedName, typo: Typo) -> float:
    if a.suffix and b.suffix and a.suffix != b.suffix:
        return 0.0
    if _grown(a, b) or _grown(b, a):
        return 0.75
    equal = a.joined == b.joined or (a.given == b.given and not _against(a.middle, b.middle))
    if same_surname(a, b):
        if equal:
            return 1.0 if a.surname == b.surname else _TO_THE_LETTER
        if same_given(a, b):
            return 0.8
        return 0.6 if same_given(a, b, typo) else 0.0
    return 0.7 if equal and same_surname(a, b, typo) else 0.0


def _grown(less: ComparedName, more: ComparedName) -> bool:
    """All of one name within the other: a surname put behind (Sigrún Jónsdóttir Haugen), or none shown (Wei Ming, of
    Lim Wei Ming)."""
    if len(less.given) < 2 or less.middle:
        return False
    behind = related(less.given, more.given) and any(s in more.middle for s in less.surname if len(s) > 2)
    turned = {less.given + s for s in less.surname} | {s + less.given for s in less.surname}
    unnamed = len(more.joined) >= _SHORT and more.joined in turned and not set(less.surname) & set(more.surname)
    return behind or unnamed
