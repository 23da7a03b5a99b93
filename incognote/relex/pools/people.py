"""The names of people by culture, and the endings of surnames that show a gender."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incognote.text.lexicon import fold


@dataclass(frozen=True, slots=True)
class Culture:
    """The names of a culture, commonest first.

    Args:
        name: its section in the pool.
        of: the section of `names/people.toml` that it is part of.
        given: `male`, `female` and `both`, also with `_older` and `_younger` → given names.
        surname: the common surnames.
        more: further surnames.
        after: particle → surnames that follow it; "" for any other particle.
        middle: gender → middle names that show it and are kept.
        endings: (male, female) endings of surnames.
        also: `given` and `surname` → names that are known but never drawn.
        marks: a pattern that folded surnames match, or "".
        nicknames: given name → its short and pet forms.
    """

    name: str
    of: str
    given: Mapping[str, tuple[str, ...]]
    surname: tuple[str, ...]
    more: tuple[str, ...]
    after: Mapping[str, tuple[str, ...]]
    middle: frozenset[str]
    endings: tuple[tuple[str, str], ...]
    also: Mapping[str, tuple[str, ...]]
    marks: str
    nicknames: Mapping[str, tuple[str, ...]]

    def names(self, gender: str, age: str = "") -> tuple[str, ...]:
        """Given names of a gender. For an unknown one, unisex names, and all names if there are few of those.

        Args:
            age: "older" or "younger" for names typical of a generation, if the culture lists any.
        """
        if gender in ("male", "female"):
            return self.given.get(f"{gender}_{age}") or self.given[gender]
        both = self.given["both"]
        return both if len(both) > _UNISEX else (*both, *self.given["male"], *self.given["female"])

    def is_feminine(self, surname: str) -> bool:
        """Return True if a surname has an ending that only women's surnames have."""
        low = fold(surname)
        return any(low.endswith(fold(female)) and len(low) > len(female) for _, female in self.endings)

    def feminine(self, surname: str) -> str:
        """A surname with the female ending, if it has one."""
        for male, female in self.endings:
            if surname.lower().endswith(male) and (male or surname[-1:].lower() not in "aeiouíýáéůú"):
                return surname[: len(surname) - len(male)] + female
        return surname

    def masculine(self, surname: str) -> str:
        """A surname without the female ending, if it has one."""
        for male, female in self.endings:
            if surname.lower().endswith(female) and len(surname) > len(female):
                return surname[: len(surname) - len(female)] + male
        return surname


_UNISEX = 12


def cultures(people: Mapping[str, Any], nicknames: Mapping[str, str]) -> dict[str, Culture]:
    """The parsed data files as cultures."""
    found: dict[str, Culture] = {}
    for name, table in people.items():
        given = {kind: tuple(table.get(kind, "").split()) for kind in table if kind.startswith(("male", "female"))}
        given["both"] = tuple(table.get("both", "").split())
        pairs = [tuple(pair.split(":")) for pair in table.get("feminine", "").split()]
        short = [group.split() for group in nicknames.get(name, "").split(";")]
        found[name] = Culture(
            name,
            table["of"],
            given,
            tuple(table.get("surname", "").split()),
            tuple(table.get("more", "").split()),
            {kind[6:]: tuple(words.split()) for kind, words in table.items() if kind.startswith("after")},
            frozenset(fold(n) for kind in ("middle_male", "middle_female") for n in table.get(kind, "").split()),
            tuple((male, female) for male, female in pairs),
            {kind: tuple(table.get(f"also_{kind}", "").split()) for kind in ("given", "surname")},
            table.get("marks", ""),
            {full: tuple(forms) for full, *forms in filter(None, short)},
        )
    return found
