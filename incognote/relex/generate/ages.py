"""Surrogates of ages: near the original, never across a line that medicine or the law draws."""

from __future__ import annotations

import re

from incognote.operators.ages import OLDEST_TOLD, read_age
from incognote.relex.cluster.days import age_of
from incognote.relex.generate.base import Component, Draw, Kind, like
from incognote.relex.generate.taken import Taken
from incognote.relex.nouns import Identity, Rendered, Surrogate, Variant

_LINES = (18, 65, OLDEST_TOLD + 1)  # of age, retired, told by Safe Harbor as 90+
_TURNS = 2520  # divisible by every number of moves that a band may have
_DECADES = "zero teens twenties thirties forties fifties sixties seventies eighties".split()
_THIRDS = ((4, "early"), (7, "mid"), (10, "late"))
_UNIT = re.compile(r"[\s-]*(?:years?|yrs?|y(?:\s*/\s*o)?|yo)\b\.?(?:[\s-]*olds?\b)?(?:\s+of\s+age)?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


class Ages(Kind):
    """Ages: part `years` (or `number` of another unit), and `turn`, which tells the move that is tried first.

    All ages of a scope move by the same number of years; where that would cross 18, 65 or 90, by another; above 89 all
    are 90+. An age keeps the article before it ("an 82-year-old") where the band allows. Words such as "toddler" stay.
    """

    group = "AGE"

    def named(self, identity: Identity) -> dict[str, Component]:
        return {"turn": self.component(identity, "turn", "")}

    def generate(self, identity: Identity, draw: Draw, taken: Taken) -> Surrogate:
        number, unit = self._told(identity)
        if number is None:
            return Surrogate({}, self.pools.version)
        if unit == "year" and number > OLDEST_TOLD:
            return Surrogate({"years": f"{OLDEST_TOLD + 1}+"}, self.pools.version)
        if unit == "year" and self.choices.ages == "decade" and number >= 20:
            return Surrogate({"decade": decade(number)}, self.pools.version)
        turn = self.named(identity)["turn"]
        begin = int(taken.keep(turn, str(draw.place(turn) % _TURNS)))
        band = self.choices.band if unit == "year" and number >= 3 * self.choices.band else 1
        moves = [move for size in range(band, 0, -1) for move in (size, -size)]
        begin %= len(moves)
        told = next(
            (
                number + move
                for strict in (True, False)
                for move in (*moves[begin:], *moves[:begin])
                if _may(number, number + move, unit, strict=strict)
            ),
            number + 1,
        )
        parts = {"years" if unit == "year" else "number": str(told), "turn": taken.holds(turn) or ""}
        return Surrogate(parts, self.pools.version)

    def whole(self, surrogate: Surrogate) -> str:
        """Nothing: persons may be of one age."""
        return ""

    def render(self, variant: Variant, identity: Identity, surrogate: Surrogate) -> Rendered | None:
        words = variant.words
        if not surrogate.parts:
            return Rendered(words)
        if "decade" in surrogate.parts:
            return _in_decade(words, surrogate.parts["decade"])
        told = surrogate.parts.get("years") or surrogate.parts["number"]
        if len(found := list(_NUMBER.finditer(words))) == 1:
            match = found[0]
            rest = words[match.end() :].lstrip("+") if told.endswith("+") else words[match.end() :]
            return Rendered(words[: match.start()] + told + rest, ("years",))
        age = read_age(words)
        return Rendered(like(words, age.rewritten(words, told)), ("years",)) if age and age.end else None

    @staticmethod
    def _told(identity: Identity) -> tuple[int | None, str]:
        """The number and its unit; None where no number is told."""
        for words in sorted({v.words for v in identity.variants}):
            form = age_of(words)
            if form[0].isdecimal() and form[1] != "decade":
                return int(form[0]), form[1]
        return None, ""


def decade(years: int) -> str:
    """45 → mid-forties; above 89 → 90+."""
    if years > OLDEST_TOLD:
        return f"{OLDEST_TOLD + 1}+"
    third = next(name for below, name in _THIRDS if years % 10 < below)
    return f"{third}-{_DECADES[years // 10]}"


def _in_decade(words: str, told: str) -> Rendered | None:
    match = _NUMBER.search(words)
    if match is None:
        return None
    unit = _UNIT.match(words, match.end())
    return Rendered(words[: match.start()] + told + words[unit.end() if unit else match.end() :], ("decade",))


def _may(before: int, after: int, unit: str, *, strict: bool) -> bool:
    """Whether one may stand for the other; `strict` asks for the same article too."""
    if after < 1:
        return False
    crossed = unit == "year" and any((before < line) != (after < line) for line in _LINES)
    return not crossed and (not strict or _an(before) == _an(after))


def _an(number: int) -> bool:
    """Whether it is "an" before it: eight, eleven, eighteen, eighty."""
    return number in (8, 11, 18) or 80 <= number < 90
