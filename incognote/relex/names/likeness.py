"""Decide whether two written names may be one person's: surnames, given names, initials, nicknames, misspellings."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from rapidfuzz.distance import OSA

from incognote.relex.names.guess import bearers
from incognote.relex.names.parsed import NamePiece, Parsed, key, roots, suffix, unparticled, words
from incognote.relex.names.reading import readings
from incognote.relex.names.sound import heard_alike
from incognote.text.lexicon import given as given_weight
from incognote.text.lexicon import lexicon
from incognote.text.lexicon import surname as surname_weight

_SHORT = 5
_LONG = 8
_KNOWN = 3  # the weight from which a surname is not rare

BY_EAR = 0.5
"""The likeness of whole names that agree only in how they sound (Kathryn Maier, Catherine Meyer)."""
SAME = 0.9
"""The likeness from which two whole names are the same to the letter."""

Typo = Literal["none", "strict", "loose", "free"]
"""Whether misspellings are assumed, and how readily; see `mistyped`."""


class ComparedName(NamedTuple):
    """One reading of a name in the form used for comparison: normal forms, initials as single letters.

    `joined` is the given and middle names as one word, in written order: weiming for Wei Ming.
    """

    given: str
    nick: tuple[str, ...]
    middle: tuple[str, ...]
    joined: str
    surname: tuple[str, ...]
    suffix: str


def alike(a: str, b: str) -> bool:
    """Return True if the words are equal up to a misspelling: one edit from five letters on, two from eight on.

    A swap counts as one edit. A shorter name with one letter changed is usually another name (Lee, Lea, Leo). The first
    letter must be equal unless it is swapped with the second: it is seldom mistyped, and many names rhyme. Of a million
    pairs among the 11,163 commonest surnames of the lexicon, 276 are one edit apart if the shorter has three letters,
    87 if it has five, and 71 if it has eight. Two edits apart are 661 with five letters and 110 with eight.
    """
    if a == b:
        return True
    short = min(len(a), len(b))
    if short < _SHORT or (a[0] != b[0] and a[:2] != b[1::-1]):
        return False
    allowed = 1 if short < _LONG else 2
    return OSA.distance(a, b, score_cutoff=allowed) <= allowed


def mistyped(a: str, b: str, typo: Typo, given: bool = False) -> bool:
    """Return True if the words are alike, and one misspelled name is likelier than two names.

    Two names that are both well known count as two. For surnames (Chang and Cheng) this holds under "strict", for the
    records of different patients. For given names (Julia and Julie) it also holds under "loose", for one patient's
    records. Under "free", for staff named in one patient's records, given names are one unless one is male and the
    other female.
    """
    if typo == "none" or not alike(a, b) or "*" in a + b:
        return False  # Baby A is not Baby B
    if given and typo == "free":
        return not _opposite(a, b)
    if given:
        return not (given_weight(lexicon().get(a, 0)) and given_weight(lexicon().get(b, 0)))
    return typo != "strict" or _rare(a, b)


def mistaken(a: str, b: str, typo: Typo, given: bool = False) -> bool:
    """Return True if the words are mistyped, or spelled by ear where a misspelling is assumed readily.

    Under "strict", one of two surnames must be rare, as for misspellings. Given names of opposite genders are two.
    """
    if mistyped(a, b, typo, given):
        return True
    if typo == "none" or not heard_alike(a, b):
        return False
    if given:
        return not _opposite(a, b)
    return typo != "strict" or _rare(a, b)


def _rare(a: str, b: str) -> bool:
    """Return True if one of two surnames is rare."""
    return min(surname_weight(lexicon().get(x, 0)) for x in (a, b)) < _KNOWN


def related(a: str, b: str) -> bool:
    """Return True if both may be the same given name: equal, nickname, other language, or cut short (Jillian, Jill).

    A word that is mainly a surname is not cut short in this way: Pat does not match Patel.
    """
    if a == b or roots().get(a, frozenset((a,))) & roots().get(b, frozenset((b,))):
        return True
    short, long = sorted((a, b), key=len)
    if len(short) < 3 or not long.startswith(short) or long in roots() or _opposite(short, long):
        return False
    weight = lexicon().get(long, 0)
    return surname_weight(weight) - given_weight(weight) < _KNOWN


def _opposite(a: str, b: str) -> bool:
    """Return True if one is a male name and the other a female one: Carl, Carla."""
    ones, others = ({kind for kinds in bearers(x).values() for kind in kinds} - {"surname"} for x in (a, b))
    return bool(ones and others) and not ones & others


@lru_cache(maxsize=1 << 14)
def compared(written: str, title: str = "") -> tuple[ComparedName, ...]:
    """Every reading of a written name in the form used for comparison, the likeliest first."""
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
    """A piece's normal form. For an initial it is one letter, also for Sz."""
    return piece.key[:1] if piece.style == "initial" else piece.key


NEWBORN = "*baby"
"""The beginning of the placeholder for the given name of an unnamed newborn."""


def _newborn(name: Parsed) -> str:
    """A placeholder for the given name of an unnamed newborn: *babyboy, *babya; "" for others."""
    titles = [piece.key for piece in name.of("title")]
    if not set(titles) & words().baby:
        return ""
    whole = "".join(titles).removesuffix("ny")
    whole = re.sub("^b([bg])([ab]?)$", lambda m: {"b": "boy", "g": "girl"}[m[1]] + m[2], whole)
    return NEWBORN + re.sub("baby|bayi|infant|newborn|twin", "", whole)


def forms(piece: NamePiece) -> tuple[str, str]:
    """A surname with and without its particles. Al-Mansouri is also written Almansouri, and van der Meer v.d. Meer."""
    if piece.style == "initial":
        return _short(piece), _short(piece)
    return piece.key, key(unparticled(piece.text.replace(".", " ").strip()))


def _filial(piece: NamePiece) -> str:
    return _short(piece) if piece.style == "initial" else key(unparticled(piece.text))


def same_surname(a: ComparedName, b: ComparedName, typo: Typo = "none") -> bool:
    """Return True if they share a surname. Initials match what they begin; with `typo`, misspellings match too."""
    for x in a.surname:
        for y in b.surname:
            if x == y or (1 in (len(x), len(y)) and x[:1] == y[:1]):
                return True
            if len(x) > 1 and len(y) > 1 and mistyped(x, y, typo):
                return True
    return False


def same_given(a: ComparedName, b: ComparedName, typo: Typo = "none") -> bool:
    """Return True if the given names are equal or related.

    Initials match what they begin; with `typo`, misspellings too.
    """
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
    """Compare two names of which one has an initial for the given name.

    The initial must begin the other's given name or its full form (M. matches Peg, for Margaret). If both show middle
    names, their initials may also match in any order, because family names may come first (Q. B. Nguyen, Nguyen Quoc
    Bao).
    """
    if a.middle and b.middle and sorted(_letters(a)) == sorted(_letters(b)):
        return True
    firsts, others = ({form[0] for form in (n.given, *roots().get(n.given, ()))} for n in (a, b))
    return bool(firsts & others) and not _against(a.middle, b.middle)


def _letters(name: ComparedName) -> list[str]:
    return [form[0] for form in (name.given, *name.middle) if form]


def _against(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return True if the middle names contradict: both names have some, and none matches in full or by initial."""
    return bool(a and b) and not any(x[0] == y[0] and (1 in (len(x), len(y)) or alike(x, y)) for x in a for y in b)


def whole(name: ComparedName) -> bool:
    """Return True if a given name and a surname are both written out."""
    return len(name.given) > 1 and any(len(s) > 1 for s in name.surname)


def partly(name: ComparedName) -> bool:
    """Return True if both are shown and one of them is an initial."""
    return bool(name.given and name.surname) and not whole(name) and not lettered(name)


def lettered(name: ComparedName) -> bool:
    """Return True if there are only initials."""
    return len(name.given) <= 1 and all(len(s) == 1 for s in (*name.surname, *name.middle))


def one_person(a: tuple[ComparedName, ...], b: tuple[ComparedName, ...], typo: Typo = "strict") -> float:
    """How well two whole names agree: 0 for not at all, up to 1.

    Given name and surname must both agree, and only one of them may be misspelled. Contradictory suffixes (Jr., Sr.) or
    middle names rule a match out. Readings other than the likeliest count only if they agree to the letter (Wei Li, Li
    Wei). Otherwise Daniel Green would match Daniel Greenberg, with Green read as a given name.
    """
    if not whole(a[0]) or not whole(b[0]):
        return 0.0
    first = _agreement(a[0], b[0], typo)
    if first >= SAME:
        return first
    turned = [_agreement(a[0], y, "none") for y in b[1:] if whole(y)] + [
        _agreement(x, b[0], "none") for x in a[1:] if whole(x)
    ]
    return max([first, *(score for score in turned if score >= SAME)])


def _agreement(a: ComparedName, b: ComparedName, typo: Typo) -> float:
    if a.suffix and b.suffix and a.suffix != b.suffix:
        return 0.0
    if _grown(a, b) or _grown(b, a):
        return 0.75
    if _other_family(a.surname, b.surname) and _other_family(b.surname, a.surname):
        return 0.0
    equal = a.joined == b.joined or (a.given == b.given and not _against(a.middle, b.middle))
    if same_surname(a, b):
        if equal:
            return 1.0 if a.surname == b.surname else SAME
        if same_given(a, b):
            return 0.8
        if same_given(a, b, typo):
            return 0.6
    elif equal and same_surname(a, b, typo):
        return 0.7
    return BY_EAR if typo != "none" and _heard(a, b) else 0.0


def _other_family(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Return True if some surname is in both, and another one of mine is not in theirs, even misspelled."""
    if not set(mine) & set(theirs):
        return False
    return any(len(word) > 1 and not any(_fits(word, x) for x in theirs) for word in mine)


def _fits(a: str, b: str) -> bool:
    """Return True if two surnames differ at most by a particle, by a misspelling, or as an initial does."""
    return a.endswith(b) or b.endswith(a) or alike(a, b) or (1 in (len(a), len(b)) and a[0] == b[0])


def _heard(a: ComparedName, b: ComparedName) -> bool:
    """Return True if surname and given name each agree or sound alike, and nothing else contradicts."""
    surname = same_surname(a, b) or any(heard_alike(x, y) for x in a.surname for y in b.surname)
    given = same_given(a, b) or (heard_alike(a.given, b.given) and not _opposite(a.given, b.given))
    return surname and given and not _against(a.middle, b.middle)


def _grown(less: ComparedName, more: ComparedName) -> bool:
    """Return True if all of one name is within the other.

    A surname was added (Sigrún Jónsdóttir Haugen), or none is shown (Wei Ming, for Lim Wei Ming).
    """
    if len(less.given) < 2 or less.middle:
        return False
    behind = related(less.given, more.given) and any(s in more.middle for s in less.surname if len(s) > 2)
    turned = {less.given + s for s in less.surname} | {s + less.given for s in less.surname}
    unnamed = len(more.joined) >= _SHORT and more.joined in turned and not set(less.surname) & set(more.surname)
    return behind or unnamed
