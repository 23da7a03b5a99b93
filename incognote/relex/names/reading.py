"""Read a written name: which words are given names, middle names, surnames, titles, initials.

A name may have more than one reading. "Wei Li" may be Li Wei, and a lone "Hoa" may be a given name or a surname.
`readings` returns all, the likeliest first. `fit` (components.py) picks the one that agrees with a fuller name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from incognote.relex.names.guess import bearers
from incognote.relex.names.parsed import NamePiece, Order, Parsed, Role, Style, key, unparticled, words
from incognote.text.lexicon import given as given_weight
from incognote.text.lexicon import lexicon
from incognote.text.lexicon import surname as surname_weight

_POSSESSIVE = re.compile(r"(?<=\w)(?:['’ʼ][sS]|(?<=[sSzZxX])['’ʼ])\Z")
_TOKEN = re.compile(r"[^\s.,;:()\[\]\"“”„/\-‐‑–_]+")
_HYPHEN = frozenset("-‐‑")
_HYPHENED = re.compile(r"[-‐‑]")
_SPELLED = re.compile(r"[^\W\d_](?:([- .])[^\W\d_])(?:\1[^\W\d_]){2,}\Z")
_DOUBLE = ("es", "pt")
_COMMON = 6  # the weight in the lexicon from which a surname is common in English


class _Unit(NamedTuple):
    """Words that form a unit, at `start:end` of the written name: a word, or hyphenated words."""

    start: int
    end: int
    text: str
    quoted: bool
    dotted: bool = False

    @property
    def key(self) -> str:
        return key(self.text)

    @property
    def initial(self) -> bool:
        """One letter, or two letters for one sound: Sz. for Szabó, Th. for Theodor."""
        return len(self.text) == 1 or (self.dotted and self.text[0].isupper() and self.key in words().digraphs)


class _Slot(NamedTuple):
    start: int
    end: int
    role: Role
    style: Style = "plain"


def parse(written: str, title: str = "") -> Parsed:
    """The likeliest reading of a written name.

    Args:
        written: a person's name, possibly with title, degrees, possessive.
        title: the title before the name, if it is outside. After a title, a lone word is a surname.
    """
    return readings(written, title)[0]


@lru_cache(maxsize=1 << 14)
def readings(written: str, title: str = "") -> tuple[Parsed, ...]:
    """All readings, the likeliest first. Each contains every character of `written`."""
    if _SPELLED.match(written):
        role: tuple[Role, Role] = ("surname", "given") if title else ("given", "surname")
        return tuple(Parsed((NamePiece(r, written, "spelled"),), "single") for r in role)
    body, slots = _trimmed(written)
    units = list(_units(body))
    if units and len(units) > 1:
        units = _without_titles(units, slots)
    units = _without_degrees(body, units, slots)
    units = _without_nicknames(units, slots)
    titles = {title, *(key(written[s.start : s.end]) for s in slots if s.role == "title")} - {""}
    ways = list(_ways(body, units, titles))
    unique = {_built(written, [*slots, *way], order): None for way, order in ways}
    return tuple(unique) or (Parsed((NamePiece("gap", written),), "single"),)


def _trimmed(written: str) -> tuple[str, list[_Slot]]:
    match = _POSSESSIVE.search(written)
    if match is None or match.start() < 2:
        return written, []
    return written[: match.start()], [_Slot(match.start(), len(written), "possessive")]


def _units(body: str) -> Iterator[_Unit]:
    """Words; hyphenated words are one unit. Those in quotation marks or parentheses are marked."""
    depth = 0
    pending: _Unit | None = None
    last = 0
    for match in _TOKEN.finditer(body):
        if not key(match.group()):
            continue  # an emoji is not a name
        gap = body[last : match.start()]
        depth = _depth(gap, depth)
        unit = _Unit(match.start(), match.end(), match.group(), depth > 0, body[match.end() : match.end() + 1] == ".")
        lettered = pending is not None and len(pending.text) == 1 == len(unit.text)  # W-L Chan: initials
        if pending and gap in _HYPHEN and len(gap) == 1 and not lettered:
            pending = _Unit(pending.start, unit.end, body[pending.start : unit.end], pending.quoted, unit.dotted)
        else:
            if pending:
                yield pending
            pending = unit
        last = match.end()
    if pending:
        yield pending


def _depth(gap: str, depth: int) -> int:
    for c in gap:
        if c in "([“„":
            depth = 1
        elif c in ")]”":
            depth = 0
        elif c == '"':
            depth = 1 - depth
    return depth


def _without_titles(units: list[_Unit], slots: list[_Slot]) -> list[_Unit]:
    """Remove titles at the start.

    After Baby, words for newborns count too (Baby Boy, Baby A). ifj. is Hungarian for Jr.
    """
    infant = False
    while len(units) > 1:
        head = units[0]
        infant = infant or head.key in words().baby
        generation = head.key in words().generations
        is_title = generation or (infant and head.key in words().newborn)
        if not is_title and (head.key not in words().titles or head.initial):
            break
        slots.append(_Slot(head.start, head.end, "suffix" if generation else "title"))
        units = units[1:]
    return units


def _without_degrees(body: str, units: list[_Unit], slots: list[_Slot]) -> list[_Unit]:
    """Remove degrees and suffixes at the end.

    A degree is in capitals or follows a comma. In a name in capitals, a degree like D.O. needs the comma.
    """
    comma = body.find(",")
    loud = sum(u.text.isupper() and len(u.text) > 1 for u in units) > len(units) / 2
    kept = list(units)
    for at in range(len(units) - 1, 0, -1):
        unit = units[at]
        behind = 0 <= comma < unit.start
        if unit.key in words().suffixes and (unit.key != "i") and len(unit.text) > 1:
            slots.append(_Slot(unit.start, unit.end, "suffix"))
        elif unit.key in words().degrees and len(unit.key) > 1 and (behind or (unit.text.isupper() and not loud)):
            slots.append(_Slot(unit.start, unit.end, "degree"))
        elif behind:
            continue  # Hargrove, Jr., Robert
        else:
            break
        if len(kept) > 1:
            kept.remove(unit)
        else:
            slots.pop()
    return kept


def _without_nicknames(units: list[_Unit], slots: list[_Slot]) -> list[_Unit]:
    plain = [u for u in units if not u.quoted]
    if not plain:
        return units
    slots.extend(_Slot(u.start, u.end, "nick") for u in units if u.quoted)
    return plain


def _ways(body: str, units: list[_Unit], titles: Set[str]) -> Iterator[tuple[list[_Slot], Order]]:
    if not units:
        return
    joined = _joined(body, units)
    comma = body.find(",", joined[0].end)
    head = [u for u in joined if comma < 0 or u.start < comma]
    tail = [u for u in joined if comma >= 0 and u.start > comma]
    if tail:
        if tail[0].key in words().baby:
            yield [*_family(head), *(_Slot(u.start, u.end, "title") for u in tail)], "inverted"
        yield [*_family(head), *_first(tail)], "inverted"
        return
    if len(joined) == 1:
        lone = list(_single(joined[0], bool(titles - words().first_name_titles)))
        unnamed = titles & words().baby and (len(titles) > 1 or titles & {"bb", "bg"})
        yield from lone[:1] if unnamed else lone  # Baby Boy Tesfaye has no given name yet
        return
    if all(u.initial for u in joined):
        yield _lettered(joined), "initials"
        yield _lettered([*joined[1:], joined[0]]), "initials"
        return
    if len(joined) == 2 and joined[0].initial and _indian(joined[1].key):
        yield [_Slot(joined[0].start, joined[0].end, "surname", "initial"), *_first(joined[1:])], "surname first"
    if len(joined) == 2 and _double(joined):
        yield _family(joined), "single"
    if count := _in_capitals(joined):
        yield [*_family(joined[:count]), *_first(joined[count:])], "surname first"
    usual = _western(joined)
    other = _surname_first(joined)
    ways: list[tuple[list[_Slot], Order]] = [(usual, "given first"), (other, "surname first")]
    if _turned(joined):
        ways.reverse()
    yield from ways
    if len(joined) == 2 and not any(u.initial for u in joined):
        yield _first(joined), "given first"
        yield [_Slot(joined[0].start, joined[1].end, "given")], "single"


def _likelier_surname(entry: int) -> bool:
    return given_weight(entry) <= surname_weight(entry)


def _in_capitals(units: list[_Unit]) -> int:
    """The number of words in capitals before a given name that is not: a surname written first, as in DUPONT Marie.

    In JOHN Whitfield, the word in capitals is the given name.
    """
    count = next((i for i, unit in enumerate(units) if not unit.text.isupper()), 0)
    entries = [lexicon().get(unit.key, 0) for unit in units[:count]]
    family = all(map(_likelier_surname, entries)) and all(len(unit.key) > 2 for unit in units[:count])
    first = next((key(part) for unit in units[count : count + 1] for part in _HYPHENED.split(unit.text)), "")
    named = given_weight(lexicon().get(first, 0)) or any(k & {"male", "female"} for k in bearers(first).values())
    return count if family and named and not any(unit.text.isupper() for unit in units[count:]) else 0


def _indian(name: str) -> bool:
    """Return True for a given name of India. An initial before it is the father's (R. Meenakshi)."""
    kinds = bearers(name).get("in", frozenset())
    return bool(kinds & {"male", "female"}) and "surname" not in kinds


def _joined(body: str, units: list[_Unit]) -> list[_Unit]:
    """Join particles to the next word: van der Meer, bin Khalid, Umm Khalid; but not the Van in Tran Van Long.

    A particle after a hyphen belongs to the next word too: van den Berg-van der Velde.
    """
    out: list[_Unit] = []
    start: int | None = None
    for at, unit in enumerate(units):
        last = at == len(units) - 1
        low = unit.key
        small = unit.text.islower() or not unit.text.isupper() or len(units) > 2
        particle = low in words().particles and (
            (len(low) > 1 and small and low not in words().also_names) or (unit.initial and unit.text.islower())
        )
        particle = particle or (at == 0 and low in words().kunya and len(units) == 2)
        particle = particle and not (at and low == "van" and unit.text != low and "vi" in bearers(units[at - 1].key))
        particle = particle or (low == "le" and not last and _breton(units, at))
        behind = _HYPHENED.split(unit.text)[-1]
        particle = particle or (behind != unit.text and behind.islower() and key(behind) in words().particles)
        if particle and not last and not (at == 0 and _given_after_all(low, units[1].key)):
            start = unit.start if start is None else start
            continue
        begin = unit.start if start is None else start
        out.append(_Unit(begin, unit.end, body[begin : unit.end], unit.quoted, unit.dotted))
        start = None
    return out


def _breton(units: list[_Unit], at: int) -> bool:
    """Whether a "Le" belongs to the next word (Le Goff, LE BIHAN Yann).

    That word is no name of Vietnam and no very common surname in English. It is the last one, or the only other one in
    capitals.
    """
    unit, following = units[at], units[at + 1]
    capitals = at == 0 and unit.text.isupper() and [u.text.isupper() for u in units[1:]] == [True, False]
    common = surname_weight(lexicon().get(following.key, 0)) >= _COMMON
    named = len(following.key) > 2 and "vi" not in bearers(following.key) and not common
    vietnamese = at > 0 and "vi" in bearers(units[at - 1].key)
    return named and not vietnamese and (capitals or at == len(units) - 2)


def _given_after_all(particle: str, following: str) -> bool:
    """Return True if a particle at the start is a given name: Van Nguyen, Al Smith."""
    homes = bearers(following)
    return following in words().family_first or (particle == "al" and "en" in homes and "ar" not in homes)


def _patronymic(name: str) -> bool:
    """Return True if a word is formed from the father's given name."""
    return any(name.endswith(end) and len(name) > len(end) + 1 for end in words().patronymic_ends)


def _single(unit: _Unit, titled: bool) -> Iterator[tuple[list[_Slot], Order]]:
    entry = lexicon().get(unit.key, 0)
    if _initials(unit.text, entry):
        yield _lettered(_split(unit)), "initials"
        return
    style: Style = "initial" if unit.initial else "plain"
    as_given: list[_Slot] = [_Slot(unit.start, unit.end, "given", style)]
    as_surname = _family([unit]) if not unit.initial else [_Slot(unit.start, unit.end, "surname", style)]
    as_middle: list[_Slot] = [_Slot(unit.start, unit.end, "middle", style)]
    headed = re.split(r"[\s.\-]", unit.text)[0]
    noble = headed != unit.text and key(headed) in words().particles and key(headed) not in words().kunya
    likelier = titled or noble or (surname_weight(entry) > given_weight(entry))
    yield (as_surname if likelier else as_given), "single"
    yield (as_given if likelier else as_surname), "single"
    yield as_middle, "single"
    if unit.text.isupper() and unit.text.isalpha() and len(unit.text) in (2, 3):
        yield _lettered(_split(unit)), "initials"


def _split(unit: _Unit) -> list[_Unit]:
    return [_Unit(unit.start + i, unit.start + i + 1, c, False) for i, c in enumerate(unit.text)]


def _initials(text: str, entry: int) -> bool:
    """Return True for capitals that are not a name or cannot be pronounced: JRK."""
    if not (text.isupper() and text.isalpha() and 1 < len(text) < 5):
        return False
    unspoken = len(text) < 4 and not set(text) & set("AEIOUY")
    return unspoken or not (given_weight(entry) or surname_weight(entry) or key(text) in words().family_first)


def _lettered(units: Sequence[_Unit]) -> list[_Slot]:
    """Only initials: the first is the given name's, the last the surname's."""
    inner: list[Role] = ["middle"] * (len(units) - 2)
    roles: list[Role] = ["given", *inner, "surname"] if len(units) > 1 else ["given"]
    slots = [_Slot(u.start, u.end, role, "initial") for u, role in zip(units, roles, strict=True)]
    return sorted(slots)


def _western(units: Sequence[_Unit]) -> list[_Slot]:
    """Given names, then the surname. Initials after a surname stand for given names (Petrov A. I.)."""
    cut = len(units) - 1
    if units[cut].initial:
        spoken = [at for at, u in enumerate(units) if not u.initial]
        return [*_first(units[:cut]), _Slot(units[cut].start, units[cut].end, "surname", "initial")] if spoken else []
    if cut > 1 and not units[cut - 1].initial and _double(units[cut - 1 :]):
        cut -= 1
    return [*_first(units[:cut]), *_family(units[cut:])]


def _double(pair: Sequence[_Unit]) -> bool:
    """Return True for two Spanish or Portuguese surnames in a row: Fuentes Ortega, Ibarra de Quiroga."""
    last = [key(unparticled(u.text)) for u in pair]
    return all(any("surname" in bearers(word).get(place, ()) for place in _DOUBLE) for word in last) and not any(
        bearers(pair[0].key).get(place, frozenset()) & {"male", "female"} for place in _DOUBLE
    )


def _surname_first(units: Sequence[_Unit]) -> list[_Slot]:
    """Surname, then given names.

    Vietnamese names have a middle name; Chinese and Korean ones one name of two syllables.
    """
    head, tail = units[:1], units[1:]
    if "vi" in bearers(head[0].key) and len(tail) > 1:
        return [*_family(head), *_first([tail[-1], *tail[:-1]])]
    syllables = len(tail) == 2 and all(len(u.text) < 6 and not u.initial for u in tail)
    if syllables and head[0].key in words().family_first:
        return [*_family(head), _Slot(tail[0].start, tail[1].end, "given")]
    return [*_family(head), *_first(tail)]


def _turned(units: Sequence[_Unit]) -> bool:
    """Return True if the words suggest that the surname comes first."""
    first, last = units[0], units[-1]
    if not first.initial and all(u.initial for u in units[1:]):
        entry = lexicon().get(first.key, 0)
        return surname_weight(entry) > given_weight(entry) or len(units) > 2
    if len(units) == 3 and _patronymic(last.key) and not _patronymic(units[1].key):
        return True
    if first.key not in words().family_first:
        return False
    if "-" in last.text or not surname_weight(lexicon().get(last.key, 0)):
        return True
    western = given_weight(lexicon().get(first.key, 0)) + surname_weight(lexicon().get(last.key, 0))
    eastern = surname_weight(lexicon().get(first.key, 0)) + given_weight(lexicon().get(last.key, 0))
    return last.key not in words().family_first and eastern >= western


def _first(units: Sequence[_Unit]) -> list[_Slot]:
    """The first word is the given name and the others are middle names. This also holds after an initial."""
    return [
        _Slot(u.start, u.end, "given" if at == 0 else "middle", "initial" if u.initial else "plain")
        for at, u in enumerate(units)
    ]


def _family(units: Sequence[_Unit]) -> list[_Slot]:
    """Surnames, with hyphenated ones split (Lindqvist-Moreau is two; Al-Mansouri is one)."""
    slots: list[_Slot] = []
    for unit in units:
        start = unit.start
        for match in _HYPHENED.finditer(unit.text):
            at = unit.start + match.start()
            if key(unit.text[start - unit.start : match.start()]) in words().particles or at == start:
                continue
            slots.append(_Slot(start, at, "surname"))
            start = at + 1
        slots.append(_Slot(start, unit.end, "surname", "initial" if unit.initial else "plain"))
    return slots


def _built(written: str, slots: Iterable[_Slot], order: Order) -> Parsed:
    """Combine the slots with the text; the rest becomes gaps."""
    pieces: list[NamePiece] = []
    done = 0
    for slot in sorted(slots):
        if slot.start > done:
            pieces.append(NamePiece("gap", written[done : slot.start]))
        pieces.append(NamePiece(slot.role, written[slot.start : slot.end], slot.style))
        done = slot.end
    if done < len(written):
        pieces.append(NamePiece("gap", written[done:]))
    return Parsed(tuple(pieces), order)
