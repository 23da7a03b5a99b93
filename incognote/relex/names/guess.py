"""Guess gender and locale from a name. `unknown` is a valid guess, and guesses are never shown to anyone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from incognote.relex.names.parsed import Parsed, data, key, roots, words

_NONE: Mapping[str, frozenset[str]] = {}
_UNLISTED = 5e-6
_BEFOREHAND = {"en": 4.0, "es": 3.0, "zh": 2.0, "in": 2.0, "vi": 2.0, "ko": 0.7, "fr": 0.5}
"""Prior weights of locales, 1 for others.

They are set by hand: charts are in English, some locales have many people in English-speaking countries, and French
lists contain names from all over the world.
"""
_FEWEST = 60  # a short list is an incomplete list, not a place with few names
SURE = 0.8
"""The confidence from which a gender counts as known."""
_CHRISTENED = 4.0  # an English surname that is also a given name (Thomas) is used by Christians in many countries


class Guess(NamedTuple):
    """A guess and its confidence, 0 to 1."""

    value: str
    confidence: float


@cache
def _table() -> dict[str, dict[str, frozenset[str]]]:
    kinds_by_name: dict[str, dict[str, set[str]]] = {}
    for locale, lists in data("people.toml").items():
        for kind, names in lists.items():
            for name in names.split():
                kinds_by_name.setdefault(name, {}).setdefault(locale, set()).add(kind)
    return {name: {place: frozenset(kinds) for place, kinds in by.items()} for name, by in kinds_by_name.items()}


def bearers(name: str) -> Mapping[str, frozenset[str]]:
    """Locale → what the name (in its normal form) is there: any of `male`, `female`, `surname`."""
    return _table().get(name, _NONE)


def gender(name: Parsed, hints: Iterable[str] = ()) -> Guess:
    """Female, male or unknown, from titles and kinship words first, then from the given names.

    Args:
        name: the parsed name; its own title counts too.
        hints: words near the name that say something about the person, in any case: mrs, wife, son, she, his …

    Returns:
        From hints: confidence 0.95, or unknown if they disagree. From a given name: the share of the locales in which
        it has that gender, counting those of the surname's locale twice. The full forms of a nickname count too.
    """
    near = {key(hint) for hint in hints} | {key(word) for word in name.title.split()}
    values = {value for value, signs in _signs().items() if near & signs}
    if len(values) == 1:
        return Guess(values.pop(), 0.95)
    if values:
        return Guess("unknown", 0.0)
    homes = {place for s in name.of("surname") for place, kinds in bearers(s.key).items() if "surname" in kinds}
    votes = {"female": 0.0, "male": 0.0}
    for piece in name.of("given", "nick"):
        whole = [piece.key, *(key(part) for part in piece.text.replace("-", " ").split())]
        for word in [*whole, *sorted(roots().get(piece.key, frozenset()) - {piece.key})]:
            for place, kinds in bearers(word).items():
                for kind in kinds & votes.keys():
                    votes[kind] += 2 if place in homes else 1
    total = sum(votes.values())
    if not total or votes["female"] == votes["male"]:
        return Guess("unknown", 0.0)
    best = max(sorted(votes), key=votes.__getitem__)
    return Guess(best, round(votes[best] / total, 3))


def locale(name: Parsed) -> Guess:
    """The locale of the name (the sections of `people.toml`: en, es, ar, zh …), or unknown.

    Naive Bayes over the words that are written out. Within a locale all listed names are equally likely, and an
    unlisted name has the probability _UNLISTED. The priors are _BEFOREHAND.
    """
    likely = {place: _BEFOREHAND.get(place, 1.0) for place in _sizes()}
    listed = False
    for piece in name.of("given", "middle", "surname"):
        homes = bearers(piece.key)
        wanted = frozenset(("surname",)) if piece.role == "surname" else frozenset(("male", "female"))
        if piece.style == "initial" or not any(kinds & wanted for kinds in homes.values()):
            continue
        listed = True
        for place, sizes in _sizes().items():
            found = homes.get(place, frozenset()) & wanted
            likely[place] *= max((1 / sizes[kind] for kind in found), default=_UNLISTED)
        if piece.role == "surname" and len(homes.get("en", ())) > 1:
            likely["en"] *= _CHRISTENED
    if not listed:
        return Guess("unknown", 0.0)
    best = max(sorted(likely), key=likely.__getitem__)
    return Guess(best, round(likely[best] / sum(likely.values()), 3))


@cache
def _sizes() -> dict[str, dict[str, int]]:
    return {
        place: {kind: max(_FEWEST, len(names.split())) for kind, names in lists.items()}
        for place, lists in data("people.toml").items()
    }


@cache
def _signs() -> dict[str, frozenset[str]]:
    kin, pronouns = data("words.toml")["kin"], data("words.toml")["pronouns"]
    return {
        "female": words().female | {key(word) for word in (kin["female"] + " " + pronouns["female"]).split()},
        "male": words().male | {key(word) for word in (kin["male"] + " " + pronouns["male"]).split()},
    }
