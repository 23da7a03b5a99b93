"""Gender and locale as a name suggests them. Guesses: `unknown` is an answer, and nobody is told what they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from incognote.relex.names.parsed import Parsed, data, key, roots, words

_NONE: Mapping[str, frozenset[str]] = {}
_UNLISTED = 5e-6
_BEFOREHAND = {"en": 4.0, "es": 3.0, "zh": 2.0, "in": 2.0, "vi": 2.0, "ko": 0.7, "fr": 0.5}
"""How likely a home is before anything is read, 1 for others; set by hand: charts are in English, some homes have many
bearers in English-speaking countries, and lists of France hold names of all the world."""
_FEWEST = 60  # a short list is a list cut short, not a place of few names
SURE = 0.8
"""From this confidence on a gender counts as known."""
_CHRISTENED = 4.0  # an English surname that is a given name too (Thomas) is borne by Christians of many countries


class Guess(NamedTuple):
    """A guess and how sure it is, 0 to 1."""

    value: str
    confidence: float


@cache
def _table() -> dict[str, dict[str, frozenset[str]]]:
    found: dict[str, dict[str, set[str]]] = {}
    for locale, lists in data("people.toml").items():
        for kind, names in lists.items():
            for name in names.split():
                found.setdefault(name, {}).setdefault(locale, set()).add(kind)
    return {name: {place: frozenset(kinds) for place, kinds in by.items()} for name, by in found.items()}


def bearers(name: str) -> Mapping[str, frozenset[str]]:
    """Locale → what the name (in its normal form) is there: of `male`, `female`, `surname`."""
    return _table().get(name, _NONE)


def gender(name: Parsed, hints: Iterable[str] = ()) -> Guess:
    """Female, male or unknown, from titles and kin words first, then from the given names.

    Args:
        name: its own title counts too.
        hints: words near the name that tell of its bearer: mrs, wife, son, she, his …, in any case.

    Returns:
        Of hints 0.95, or unknown where they disagree; of a given name the share of the locales that have it so
        (those of the surname's locale count double); what a nickname is short for counts too.
    """
    near = {key(hint) for hint in hints} | {key(word) for word in name.title.split()}
    told = {value for value, signs in _signs().items() if near & signs}
    if len(told) == 1:
        return Guess(told.pop(), 0.95)
    if told:
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
    """Where the name is at home (the sections of `people.toml`: en, es, ar, zh …), or unknown.

    Naive Bayes over the words written out: within a locale every listed name is as likely as another, a name not listed
    as likely as _UNLISTED; what is likelier beforehand, _BEFOREHAND says.
    """
    likely = {place: _BEFOREHAND.get(place, 1.0) for place in _sizes()}
    told = False
    for piece in name.of("given", "middle", "surname"):
        homes = bearers(piece.key)
        wanted = frozenset(("surname",)) if piece.role == "surname" else frozenset(("male", "female"))
        if piece.style == "initial" or not any(kinds & wanted for kinds in homes.values()):
            continue
        told = True
        for place, sizes in _sizes().items():
            found = homes.get(place, frozenset()) & wanted
            likely[place] *= max((1 / sizes[kind] for kind in found), default=_UNLISTED)
        if piece.role == "surname" and len(homes.get("en", ())) > 1:
            likely["en"] *= _CHRISTENED
    if not told:
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
