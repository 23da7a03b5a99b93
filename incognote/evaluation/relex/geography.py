"""Places: do town, state, ZIP code and area code of the new notes belong together?

"Romulus, MI 48174" is read from the text, so it does not matter whether the machine replaced it as one place or as
three. Towns and their codes are those of the language's pools, and the states of ZIP codes those of its place reader.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from incognote.evaluation.intervals import Figure
from incognote.evaluation.relex.pairs import NotePair, share_of
from incognote.operators import readers
from incognote.relex.pools import pools
from incognote.text.lexicon import fold

_PHONE = re.compile(r"(?<!\d)(?:\+?1[-. ]?)?\(?([2-9]\d\d)\)?[-. ]{1,2}\d{3}[-. ]\d{4}(?!\d)")
_CHECKS = ("town and state", "ZIP and state", "town and ZIP")
Read = tuple[str, str, str]
"""Words of the town, name of the state, ZIP code; each may be empty."""


def geography(notes: Sequence[NotePair], resamples: int, seed: int) -> dict[str, Figure]:
    """The figures of places, over the places of the new notes with a replaced part.

    `area code and state`: of US telephone numbers whose area code belongs to a state in the patient's original notes,
    the share for which this still holds in the new notes.
    """
    rows: dict[str, list[tuple[str, float, float]]] = {name: [] for name in (*_CHECKS, "area code and state")}
    owned: dict[str, list[NotePair]] = defaultdict(list)
    for note in notes:
        owned[note.patient].append(note)
        replaced = [(m.out_start, m.out_end) for m in note.mentions if m.group == "PLACE" and m.surrogate is not None]
        for start, end, read in read_places(note.after):
            if any(start < stop and begin < end for begin, stop in replaced):
                for name, holds in zip(_CHECKS, agree(*read), strict=True):
                    if holds is not None:
                        rows[name].append((note.patient, holds, 1))
    for patient, own in owned.items():
        rows["area code and state"] += ((patient, holds, 1) for holds in _areas(own))
    return {name: share_of(counted, resamples, seed) for name, counted in rows.items()}


def read_places(text: str) -> Iterator[tuple[int, int, Read]]:
    """Every "Town, ST", "Town, ST 12345", or "Town 12345" of a text, with its start and end."""
    for match in _pattern().finditer(text):
        state = match["name"] or (pools().data("us")[match["code"]]["name"] if match["code"] else "")
        yield match.start(), match.end(), (match["town"], state, (match["zip"] or match["only"] or "")[:5])


def agree(town: str, state: str, code: str) -> tuple[bool | None, bool | None, bool | None]:
    """Whether town and state, ZIP code and state, and town and ZIP code belong together; None if a part is missing.

    A town that is not in the pools agrees with nothing. Without a state, it is no US town: "60054 Uruapan".
    """
    words = fold(town).split()
    names = [" ".join(words[at:]) for at in range(len(words))]
    homes = next((_towns()[name] for name in names if name in _towns()), {})
    by_code = readers.places().state_of(f"- {code}") if code else None
    prefixes = {known[:3] for own in homes.values() for known in own}
    return (
        state in homes if state else None,
        by_code is not None and by_code.name == state if code and state else None,
        code[:3] in prefixes if code and (state or homes) else None,
    )


def phone_fits(words: str, text: str) -> bool | None:
    """Whether the area code of a US number belongs to a state in the text; None without a number or state."""
    number, states = _PHONE.search(words), {read[1] for _, _, read in read_places(text)} - {""}
    if number is None or not states:
        return None
    return any(number[1] in _area_codes()[state] for state in states)


def _areas(notes: Sequence[NotePair]) -> Iterator[bool]:
    before, after = "\n".join(n.before for n in notes), "\n".join(n.after for n in notes)
    for mention in (m for n in notes for m in n.mentions if m.group == "CONTACT" and m.surrogate):
        if phone_fits(mention.words, before) and (fits := phone_fits(mention.surrogate or "", after)) is not None:
            yield fits


@cache
def _area_codes() -> dict[str, frozenset[str]]:
    return {own["name"]: frozenset(own["areas"].split()) for own in pools().data("us").values()}


@cache
def _towns() -> dict[str, dict[str, tuple[str, ...]]]:
    """Town, folded → the name of each state that has it, with the town's ZIP codes there."""
    found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for own in pools().data("us").values():
        for line in own["towns"]:
            name, codes = line.split("|")[:2]
            found[fold(name)][own["name"]] = tuple(codes.split())
    return dict(found)


@cache
def _pattern() -> re.Pattern[str]:
    codes, names = ("|".join(sorted(map(re.escape, own))) for own in (pools().data("us"), _area_codes()))
    word = r"(?:(?:St|Ft|Mt)\.|[A-Z][\w'’-]*)"
    town, code = rf"(?P<town>{word}(?: {word}){{0,3}}?)", r"\d{5}(?:-\d{4})?(?!\d)"
    state = rf"(?:, (?P<name>{names})(?!\w)|,? (?P<code>{codes})(?!\w))"
    return re.compile(rf"(?<!\w){town}(?:{state}(?:[,.]? (?P<zip>{code}))?|,? (?P<only>{code}))")
