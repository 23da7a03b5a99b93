"""All written forms of one person, read together: gender, culture of each name, components, nicknames."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from incognote.relex.generate.cultures import (
    HOME,
    age_of,
    common_surnames,
    culture,
    gender_of,
    home_of_given,
    home_of_surname,
    homes_of_given,
    is_full,
    is_listed,
    is_surname,
    listed_homes,
    neighbors,
)
from incognote.relex.names import NamePiece, Parsed, components, fit, fullest, parse, settled
from incognote.relex.names.components import root_of
from incognote.relex.names.likeness import alike, related
from incognote.relex.names.parsed import NAMED, key, roots, suffix, unparticled, words
from incognote.text.lexicon import given as weight
from incognote.text.lexicon import lexicon

_Part = tuple[str, str, tuple[str, ...]]
"""Type of the component, its normal form, and the detail of the request."""
_STEM = re.compile(r"(?:[oe]va?|(?<=[sc]k)[aiy]|(?<=[iy]n)a|[sr]son|[sr]dottir|as|iene|ou|os)\Z")
"""The end of a surname that may differ between men and women of a family."""
_FATHER = ("bin", "ibn", "ben", "b", "bint", "binti", "binte")
_VAN_DER = re.compile(r"v\.? ?d\.? ?(?=[A-Z])")
_SHORTEST, _LONG = 2, 7
NICKNAMED = "nicknamed"
"""In the detail of a request: a given name that has a nickname is preferred."""
_INFANT = frozenset("baby babyboy babygirl bb bg boy girl infant newborn twin bayi".split())
_FATHERS = ("so", "et")
"""Cultures in which the names after the given name are the father's and the grandfather's."""
_USUAL = 5  # the weight in the lexicon from which a given name is common in the country of the notes
_PATRONYMIC = ("ovich", "evich", "ovna", "evna", "ichna")
_FEMALE = ("iana", "ina", "ita", "ella", "elle", "ette", "wati", "issa")
_ENDINGS = frozenset("en gb ie aa es pt it fr de nl sv no da is pl cs sk ru ua bg ro lt ph".split())
"""Cultures in which a given name that ends in -a is a woman's, and one that ends in -o is a man's."""


@dataclass(frozen=True, slots=True)
class NameReading:
    """What the written forms of one person show.

    Args:
        written: the forms, read so that they agree.
        gender: female, male or unknown.
        family: the culture of the surname, "" if unknown.
        kin: the culture of the given name, "" if unknown; for a surname that was never written.
        parts: part → its component.
        nicks: normal form of each other given name → the part that it is drawn as, or "" for a nickname.
        formal: the normal form of the given name that nicknames stand for.
        joined: given and middle name written as one word: maisee for Mai See.
        suffix: the normal form of Jr., Sr. or III.
    """

    written: tuple[Parsed, ...]
    gender: str
    family: str
    kin: str
    parts: Mapping[str, _Part]
    nicks: Mapping[str, str]
    formal: str
    joined: frozenset[str]
    suffix: str


@lru_cache(maxsize=1 << 12)
def read_names(
    forms: tuple[tuple[str, str], ...], gender: str, locale: str, *, staff: bool, spoken: str = ""
) -> NameReading:
    """Read the written forms of a person.

    Args:
        forms: pairs of words and the title before them.
        gender: what is known from elsewhere, or "".
        locale: the locale guessed from the whole name, or "".
        staff: whether it is a clinician. The culture of a clinician's surname is decided by the surname alone, so that
            "Dr. Haddad" does not depend on whether the given name has been seen.
        spoken: the culture of the text's language, "" for English. A name that no other culture shows belongs to it.
    """
    whole = fullest(_two_given(parse(shown, title)) for shown, title in forms)
    written = tuple(shaped_like(shown, title, whole) for shown, title in forms)
    normals = components(written)
    spelled = [p for name in sorted(written, key=_letters) for p in name.of("given") if p.style == "plain"]
    given = tuple(dict.fromkeys(p.key for p in spelled))
    shown = sorted((p for name in written for p in name.of("surname", "middle", "given")), key=lambda p: len(p.text))
    texts = {p.key: p.text for p in shown}  # with particles, if any form has them
    families = {
        normal: _family(texts.get(normal, normal), () if staff else given, "" if staff else locale, spoken)
        for part, normal in normals.items()
        if part.split(":")[0] == "surname"
    }
    family = families.get(normals.get("surname", ""), "")
    given = tuple(sorted(given, key=lambda word: not (is_listed(word) and family in homes_of_given(word))))
    gender = gender or _implied(given, texts, normals, family)
    if gender == "unknown" and any(name.suffix for name in written):
        gender = "male"  # Sr., Jr., III
    surname = surname_stem(normals["surname"]) if "surname" in normals else ""
    bearer = f"\x1f{surname}" if staff else ""  # within a patient's records, namesakes share the given name
    parts: dict[str, _Part] = {}
    kin = ""
    formal = _formal(given, normals.get("given", ""), family)
    second = key(unparticled(texts.get(normals.get("middle", ""), "")))
    for part, normal in normals.items():
        role = part.split(":")[0]
        if role == "surname":
            before = key(particle(texts.get(normal, "")))
            after = before if before in culture(families[normal]).after else before and "other"
            if families[normal] in ("es", "pt", "ph") and before == "de":
                normal, after = normal.removeprefix("de"), ""  # the husband's surname: Portillo de Umaña
                families[normal] = families.get(normal) or families[normals[part]]
            parts[part] = ("surname", surname_stem(normal), (families[normal], after))
            if families[normal] in _FATHERS and not staff:
                parts[part] = ("given:male", root_of(normal), (families[normal], "", "", ""))
    if formal and given[0] != formal and normals["given"] in roots().get(given[0], ()):
        normals["given"] = formal  # Joe leads to José among Spanish names, and to Joseph among English ones
    if "given" in normals:
        word = formal or normals["given"]
        prefix, base = _kunya(texts.get(word, ""))
        nicked = formal not in given and family not in homes_of_given(formal)
        home, other = home_of_given(base or (given[0] if given and nicked else word), family or spoken, locale)
        if spoken and home in ("", HOME):
            home, other = family or spoken, ""
        kin = home
        age = age_of(word) if home == HOME and not other else ""
        detail = (home, other, age, "") if family or spoken else ("", "", age, base or word)
        kind = "male" if prefix else gender
        parts["given"] = (f"given:{kind}", f"{base or normals['given']}{bearer}", detail)
    for word in given:
        if family == "hu" and word.endswith("ne") and "hu" in homes_of_given(word[:-2]):
            parts[f"given:{word}"] = ("given:male", f"{word[:-2]}{bearer}", ("hu", "", "", ""))
    if "middle" in normals and not _syllables(kin or family) and normals["middle"] not in culture(family).middle:
        maiden = particle(texts.get(normals["middle"], "")) and culture(family).after
        own = home_of_surname(texts.get(normals["middle"], "")) if not homes_of_given(second) else ""
        if own == HOME and (kin or family) not in ("", HOME) and normals["middle"] not in common_surnames():
            own = ""  # See, of Mai See Xiong; Yousif, of Mohamed Yousif Al Haddad
        whose = f"{normals.get('given', '')} {surname}" if staff else ""
        parts["middle"] = (
            ("surname", surname_stem(normals["middle"]), (family, "van") if maiden else (own, ""))
            if (own or maiden) and not _is_father(texts[normals["middle"]]) and not is_listed(second)
            else _middle(normals["middle"], texts, family or kin, gender, whose)
        )
    middles = {p.key for name in written for p in name.of("middle")}
    joined = frozenset(word for word in given if any(word == f"{formal}{middle}" for middle in middles))
    short = {p.key for name in written for p in name.of("given", "nick") if _is_initials(p, formal, written)}
    nicks: dict[str, str] = {}
    for word in (*given, *(p.key for name in written for p in name.of("nick"))):
        no_nickname = words().baby | words().newborn | joined | short | nicks.keys()
        if not (formal and word) or word in no_nickname or f"given:{word}" in parts or _is_spelling(word, formal):
            continue
        if _syllables(kin or family) and formal.startswith(word):
            continue  # the first syllable: Min, of Min-jun
        if word == second and "middle" in parts:
            nicks[word] = "middle"
        elif not _stands_for(word, formal) and homes_of_given(word) and len(word) > 2:
            homes = homes_of_given(word)
            usual = family in ("", *neighbors(HOME)) and weight(lexicon().get(word, 0)) >= _USUAL
            detail = (HOME if usual or HOME in homes else homes[0], "", "", "")
            parts[f"nick:{word}"] = (f"given:{gender}", f"{word}{bearer or ' '}{surname} {formal}", detail)
            nicks[word] = f"nick:{word}"
        else:
            nicks[word] = ""
    suffixes = {suffix(p.text) for name in written for p in name.of("suffix")}
    only = suffixes.pop() if len(suffixes) == 1 else ""
    if "given" in parts and "" in nicks.values():  # a name with listed nicknames is drawn first
        parts["given"] = (*parts["given"][:2], (*parts["given"][2], NICKNAMED))
    return NameReading(written, gender, family, kin if kin != HOME else "", parts, nicks, formal, joined, only)


def shaped_like(shown: str, title: str, whole: Parsed | None) -> Parsed:
    """A written form, read to agree with the fullest one. The words for an unnamed newborn are no names."""
    return _unnamed(_two_given(settled(_called(fit(shown, [whole] if whole else [], title)), whole)))


def _called(name: Parsed) -> Parsed:
    """Read a lone word without a title as a given name if it is one, and no common surname: Erik."""
    if name.order != "single" or name.title:
        return name
    return Parsed(
        tuple(
            NamePiece("given", p.text, p.style)
            if p.role == "surname" and p.style == "plain" and is_listed(p.key) and not is_surname(p.key)
            else p
            for p in name.pieces
        ),
        name.order,
    )


def _unnamed(name: Parsed) -> Parsed:
    """Make "Boy" of "Boy Xiong", and "A" of "Baby Girl A", a gap, which stays as it is."""
    first = next((p.key for p in name.pieces if p.role != "gap"), "")
    if first not in _INFANT:
        return name
    return Parsed(
        tuple(
            NamePiece("gap", p.text) if p.key in words().newborn and (len(p.key) == 1 or p.key in _INFANT) else p
            for p in name.pieces
        ),
        name.order,
    )


def _two_given(name: Parsed) -> Parsed:
    """Make the second word of a name a middle name if only given names of the first one's culture have it: Pa Kou."""
    named = [p for p in name.pieces if p.role in NAMED]
    if [p.role for p in named] != ["given", "surname"] or any(p.style != "plain" for p in named):
        return name
    first, second = named
    if is_surname(second.key) or not set(listed_homes(first.key)) & set(listed_homes(second.key)) - {HOME}:
        return name
    return Parsed(tuple(NamePiece("middle", p.text, p.style) if p is second else p for p in name.pieces), name.order)


def is_initials(piece: NamePiece, reading: NameReading) -> bool:
    """Return True for a nickname made of the person's initials: LJ, for Leng Jayden."""
    return _is_initials(piece, reading.formal, reading.written)


def _is_initials(piece: NamePiece, formal: str, written: tuple[Parsed, ...]) -> bool:
    word = piece.key
    if not (piece.text.isupper() and 1 < len(word) < 4 and word[0] == formal[:1]) or is_listed(word):
        return False
    rest = {p.key[0] for name in written for p in name.of("middle", "surname") if p.key}
    return set(word[1:]) <= rest and not formal.startswith(word)


def _letters(name: Parsed) -> tuple[int, str]:
    return -sum(len(p.key) for p in name.of("given", "surname") if p.style != "initial"), name.words


def _family(text: str, given: tuple[str, ...], locale: str, spoken: str) -> str:
    """The culture of a surname. If only the given name shows one, that is the surname's too."""
    home = home_of_surname(text, given, locale)
    if spoken and home in ("", *neighbors(HOME)) and len(key(text)) > 1:
        return spoken
    if home or len(key(text)) < 2:
        return home
    homes = [name for word in given[:1] if is_listed(word) for name in homes_of_given(word)]
    if not homes or HOME in homes:
        return HOME if homes else ""
    return next((name for name in homes if culture(name).of == locale), homes[0])


def _implied(given: tuple[str, ...], texts: Mapping[str, str], normals: Mapping[str, str], family: str) -> str:
    """The gender that the names imply: in the lists, by the surname's ending, or by the given name's last letter."""
    for word in given:
        if known := gender_of(word):
            return known
    surname = normals.get("surname", "")
    if surname and culture(family).endings and culture(family).is_feminine(texts.get(surname, surname)):
        return "female"
    if family == "is" and surname.endswith("son"):
        return "male"
    word = given[0] if given else ""
    if len(word) > 5 and word.endswith(_FEMALE):
        return "female"
    if len(word) > 3 and not homes_of_given(word) and (not family or family in _ENDINGS):
        return "female" if word.endswith("a") else "male" if word.endswith("o") else "unknown"
    return "unknown"


def particle(text: str) -> str:
    """The particles before a surname, as written; "" for none."""
    short = _VAN_DER.match(text)
    return short.group() if short else text[: len(text) - len(unparticled(text))]


def surname_stem(normal: str) -> str:
    """The normal form of a surname without the ending that shows a gender, so that a family shares it."""
    stem = _STEM.sub("", normal)
    return stem if len(stem) > _SHORTEST else normal


def _kunya(text: str) -> tuple[str, str]:
    """Umm Khalid → the words before the name, and the name's normal form; ("", "") for another name."""
    head, _, rest = text.partition(" ")
    return (f"{head} ", key(rest)) if rest and key(head) in words().kunya else ("", "")


def _middle(normal: str, texts: Mapping[str, str], family: str, gender: str, whose: str) -> _Part:
    """A middle name. A patronymic is drawn as the father's name, also if it follows bin or ibn."""
    text = texts.get(normal, normal)
    base = key(unparticled(text))
    son = _is_father(text) or family in _FATHERS
    kind = "male" if son or normal.endswith(_PATRONYMIC) else gender
    home, other = (family, "") if family in _FATHERS else home_of_given(base, family)
    if son and not whose:  # drawn as the father's own given name
        return "given:male", root_of(base), (home, other, "", "" if home else base)
    if normal.endswith(_PATRONYMIC):
        home, other = family or "ru", ""
    return f"middle:{kind}", f"{base}\x1f{whose}" if whose else base, (home, other, "", "" if home else base)


def _is_father(text: str) -> bool:
    """Return True for a father's name after bin or ibn."""
    head, *rest = re.split(r"[\s.]+", text.lower())
    return bool(rest) and head in _FATHER


def _syllables(home: str) -> bool:
    """Return True for a culture whose given names are written by syllables."""
    return any("-" in name for name in culture(home).given["male"][1:2])


def _formal(given: tuple[str, ...], root: str, family: str) -> str:
    """The full given name: the first one, or its root if only a nickname was written."""
    if not given:
        return ""
    known = roots().get(given[0], frozenset((given[0],)))
    full = given[0] in known or is_full(given[0], family) or _is_spelling(given[0], root)
    if full or root not in known:
        return given[0] if full else root
    return min(known, key=lambda name: (family not in homes_of_given(name), HOME not in homes_of_given(name), name))


def _is_spelling(word: str, formal: str) -> bool:
    """Return True if a given name is the full name in another spelling (Aleksandr, Alexander), not a nickname of it."""
    if word == formal:
        return True
    short = len(word) < len(formal) and formal in roots().get(word, ())
    if short and (formal.endswith(word) or not is_listed(word)):
        return False  # Joe, of José; Lupe, of Guadalupe
    if len(word) > 1 and formal.endswith(word):
        return True  # the second syllable: Ly, of Kim-Ly
    if min(len(word), len(formal)) >= _LONG and abs(len(word) - len(formal)) <= 2 and related(word, formal):
        return True  # Oleksandr, Alexander
    close = abs(len(word) - len(formal)) <= 1 and word[0] == formal[0] and not word.endswith(("y", "ie"))
    return close and (alike(word, formal) or related(word, formal))


def _stands_for(word: str, formal: str) -> bool:
    return related(word, formal) or formal.startswith(word) or word.startswith(formal)
