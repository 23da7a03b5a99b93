"""Surrogates of dates: one offset for all dates of a patient, each in its own format."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.operators.dates import LATEST_TWO_DIGIT_YEAR, WrittenDate, parse_all
from incognote.relex.generate.base import Component, Draw, Kind
from incognote.relex.generate.taken import Taken
from incognote.relex.nouns import Identity, Rendered, Surrogate, Variant

_CENTURY = 100


class Dates(Kind):
    """Dates: part `days`, the offset of their patient, never zero.

    Intervals between full dates stay; the weekday beside a date is the new date's. A date is read as its identity says
    (`normal`: day, year, month, day; `order`: day first), so that 03/04/2024 is the same day in every note of the
    patient, and 01/01 comes out as its neighbours are written.
    """

    group = "DATE"

    def named(self, identity: Identity) -> dict[str, Component]:
        return {"days": self.component(identity, "days", "")}

    def generate(self, identity: Identity, draw: Draw, taken: Taken) -> Surrogate:
        days = str(draw.offset(identity.domain, identity.scope, self.choices.days))
        return Surrogate({"days": taken.keep(self.named(identity)["days"], days)}, self.pools.version)

    def whole(self, surrogate: Surrogate) -> str:
        """Nothing: the dates of a patient share an offset."""
        return ""

    def render(self, variant: Variant, identity: Identity, surrogate: Surrogate) -> Rendered | None:
        days, (year, month, day) = int(surrogate.parts["days"]), _meant(identity)
        order = identity.attributes.get("order") == "day first"
        read = next(
            (found for found in _readings(variant.words, order) if _agrees(found, year, month, day)),
            next(_readings(variant.words, order), None),
        )
        if read is None:
            return None
        told = (part.moved(days, year) if isinstance(part, WrittenDate) else part for part in read)
        return Rendered("".join(told), ("days",))


def _readings(words: str, order: bool) -> Iterator[list[WrittenDate | str]]:
    for latest in (LATEST_TWO_DIGIT_YEAR, LATEST_TWO_DIGIT_YEAR - _CENTURY):
        for day_first in (order, not order):
            read = parse_all(words, day_first=day_first, latest=latest)
            if read is not None:
                yield read


def _meant(identity: Identity) -> tuple[int | None, int | None, int | None]:
    """Year, month and day that the identity is, as far as it says."""
    told = identity.attributes.get("normal", "").split("\0")
    if len(told) != 4 or told[0] != "day":
        return None, None, None
    year, month, day = (int(word) if word.isdecimal() else None for word in told[1:])
    return year, month, day


def _agrees(read: list[WrittenDate | str], year: int | None, month: int | None, day: int | None) -> bool:
    first = read[0]
    if not isinstance(first, WrittenDate):
        return False
    pairs = ((first.year, year), (first.month, month), (first.day, day))
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)
