"""Surrogates of values: ages, dates, occupations, and words of no other group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from incognote.detectors.rules.lexicon import fold
from incognote.operators.readers import LATEST_TWO_DIGIT_YEAR, OLDEST_TOLD, WrittenDate, ages, dates
from incognote.relex.cluster.values import age_of, work_of
from incognote.relex.generate.base import (
    Component,
    ComponentRequest,
    Draw,
    SurrogateGenerator,
    UsedSurrogates,
    like,
    plain,
    walk,
)
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate
from incognote.relex.pools import Pools

_LINES = (18, 65, OLDEST_TOLD + 1)  # adulthood, retirement, and the age that Safe Harbor shows as 90+
_TURNS = 2520  # divisible by every number of moves that a band may have
_DECADES = "zero teens twenties thirties forties fifties sixties seventies eighties".split()
_THIRDS = ((4, "early"), (7, "mid"), (10, "late"))
_UNIT = re.compile(r"[\s-]*(?:years?|yrs?|y(?:\s*/\s*o)?|yo)\b\.?(?:[\s-]*olds?\b)?(?:\s+of\s+age)?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


class Ages(SurrogateGenerator):
    """Ages: part `years` (or `number` for another unit), and `turn`, which selects the move that is tried first.

    All ages of a scope move by the same number of years. If that would cross 18, 65 or 90, another number is used. All
    ages above 89 become 90+. An age keeps the article before it ("an 82-year-old") if the band allows. Words like
    "toddler" stay.
    """

    group = "AGE"
    may_repeat = True

    def named(self, identity: Identity) -> dict[str, Component]:
        return {"turn": self.component(identity, "turn", "")}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
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
        moved = next(
            (
                number + move
                for strict in (True, False)
                for move in (*moves[begin:], *moves[:begin])
                if _may(number, number + move, unit, strict=strict)
            ),
            number + 1,
        )
        parts = {"years" if unit == "year" else "number": str(moved), "turn": taken.holds(turn) or ""}
        return Surrogate(parts, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        words = variant.words
        if not surrogate.parts:
            return RenderedSurrogate(words)
        if "decade" in surrogate.parts:
            return _in_decade(words, surrogate.parts["decade"])
        shown = surrogate.parts.get("years") or surrogate.parts["number"]
        if len(found := list(_NUMBER.finditer(words))) == 1:
            match = found[0]
            rest = words[match.end() :].lstrip("+") if shown.endswith("+") else words[match.end() :]
            return RenderedSurrogate(words[: match.start()] + shown + rest, ("years",))
        age = ages().read_age(words)
        return RenderedSurrogate(like(words, age.rewritten(words, shown)), ("years",)) if age and age.end else None

    @staticmethod
    def _told(identity: Identity) -> tuple[int | None, str]:
        """The number and its unit; None if there is no number."""
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


def _in_decade(words: str, told: str) -> RenderedSurrogate | None:
    match = _NUMBER.search(words)
    if match is None:
        return None
    unit = _UNIT.match(words, match.end())
    return RenderedSurrogate(words[: match.start()] + told + words[unit.end() if unit else match.end() :], ("decade",))


def _may(before: int, after: int, unit: str, *, strict: bool) -> bool:
    """Return True if one may replace the other. With `strict`, both must also have the same article."""
    if after < 1:
        return False
    crossed = unit == "year" and any((before < line) != (after < line) for line in _LINES)
    return not crossed and (not strict or _an(before) == _an(after))


def _an(number: int) -> bool:
    """Return True if "an" precedes the number: eight, eleven, eighteen, eighty."""
    return number in (8, 11, 18) or 80 <= number < 90


_CENTURY = 100


class Dates(SurrogateGenerator):
    """Dates: part `days`, the offset of their patient, never zero.

    Intervals between full dates stay. A weekday beside a date becomes the new date's weekday. A date is read as its
    identity says (`normal`: day, year, month, day; `order`: day first). So 03/04/2024 is the same day in every note of
    the patient, and 01/01 is read in the same order as the dates near it.
    """

    group = "DATE"
    may_repeat = True

    def named(self, identity: Identity) -> dict[str, Component]:
        return {"days": self.component(identity, "days", "")}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        days = str(draw.offset(identity.domain, identity.scope, self.choices.days))
        return Surrogate({"days": taken.keep(self.named(identity)["days"], days)}, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        days, (year, month, day) = int(surrogate.parts["days"]), _meant(identity)
        order = identity.attributes.get("order") == "day first"
        read = next(
            (found for found in _readings(variant.words, order) if _agrees(found, year, month, day)),
            next(_readings(variant.words, order), None),
        )
        if read is None:
            return None
        written = (part if isinstance(part, str) else part.moved(days, year) for part in read)
        return RenderedSurrogate("".join(written), ("days",))


def _readings(words: str, order: bool) -> Iterator[list[WrittenDate | str]]:
    for latest in (LATEST_TWO_DIGIT_YEAR, LATEST_TWO_DIGIT_YEAR - _CENTURY):
        for day_first in (order, not order):
            read = dates().parse_all(words, day_first=day_first, latest=latest)
            if read is not None:
                yield read


def _meant(identity: Identity) -> tuple[int | None, int | None, int | None]:
    """Year, month and day of the identity; None for unknown parts."""
    parts = identity.attributes.get("normal", "").split("\0")
    if len(parts) != 4 or parts[0] != "day":
        return None, None, None
    year, month, day = (int(word) if word.isdecimal() else None for word in parts[1:])
    return year, month, day


def _agrees(read: list[WrittenDate | str], year: int | None, month: int | None, day: int | None) -> bool:
    first = read[0]
    if isinstance(first, str):
        return False
    pairs = ((first.year, year), (first.month, month), (first.day, day))
    return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)


_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ANY = "service"  # the class of an unknown occupation


class Occupations(SurrogateGenerator):
    """Occupations: part `job`. "Retired" and similar words stay, and so do the plural and the article before it."""

    group = "OCCUPATION"

    def requests(self, identity: Identity) -> list[ComponentRequest]:
        words = min(identity.variants).words
        normal = " ".join(work_of(words))
        return [ComponentRequest(0, self.component(identity, "job", normal), (_core(words),))]

    def pick(self, request: ComponentRequest, draw: Draw, taken: UsedSurrogates) -> str:
        core = request.detail[0]
        jobs = _jobs(self.pools, class_of(core, self.pools))
        alike = [job for job in jobs if _vowel(job) == _vowel(core)]
        place = draw.place(request.component)
        return taken.claim_first(
            request.component, (walk(alike, place), walk(jobs, place), walk(_all(self.pools), place))
        )

    def named(self, identity: Identity) -> dict[str, Component]:
        return {"job": self.requests(identity)[0].component}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        return Surrogate({"job": self.pick(self.requests(identity)[0], draw, taken)}, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        core = _core(variant.words)
        job = surrogate.parts["job"]
        if (
            core.lower().endswith("s")
            and not core.lower().endswith("ss")
            and core[:-1].lower() in map(str.lower, _known(self.pools))
        ):
            job += "s"
        written = job[:1].upper() + job[1:] if core[:1].isupper() and not core.isupper() else like(core, job)
        if core.istitle() and " " in core:
            written = job.title()
        return RenderedSurrogate(variant.words.replace(core, written, 1), ("job",))


def class_of(words: str, pools: Pools) -> str:
    """The class of an occupation, by the longest title or last word that it ends with."""
    low = fold(words)
    table = _heads(pools)
    ends = [title for title in table if low == title or low.endswith((f" {title}", f" {title}s")) or low == f"{title}s"]
    if not ends:
        ends = [title for title in table if f" {title} " in f" {low} "]
    return table[max(ends, key=lambda t: (len(t), t))] if ends else _ANY


@cache
def _heads(pools: Pools) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, table in pools.data("occupations").items():
        for job in table["jobs"].split(";"):
            found.setdefault(fold(job), name)
        for head in table["heads"].split(";"):
            found[fold(head)] = name
    return found


def _jobs(pools: Pools, name: str) -> list[str]:
    return sorted(pools.data("occupations")[name]["jobs"].split(";"))


@cache
def _all(pools: Pools) -> list[str]:
    return sorted(job for name in pools.data("occupations") for job in _jobs(pools, name))


@cache
def _known(pools: Pools) -> frozenset[str]:
    return frozenset(_heads(pools))


def _core(words: str) -> str:
    """The words, unchanged, without those that only say whether the work is still done."""
    said = set(work_of(words))
    found = [m for m in _WORD.finditer(words) if set(work_of(m.group())) & said and plain(m.group())]
    low = [m for m in found if fold(m.group()) in said or set(re.findall(r"[^\W\d_]+", fold(m.group()))) & said]
    return words[low[0].start() : low[-1].end()] if low else words


def _vowel(words: str) -> bool:
    """Return True if "an" precedes the words."""
    low = words.strip().lower()
    return low[:1] in "aeiou" and not low.startswith(("uni", "user", "eu", "one"))


class Others(SurrogateGenerator):
    """Kinship words (§A.9.5: wife → spouse): no part. A word without a neutral form is replaced by its label."""

    group = "OTHER"
    may_repeat = True

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        return Surrogate({}, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        neutral = self.pools.data("others")["neutral"].get(fold(variant.words.strip()))
        return RenderedSurrogate(like(variant.words, neutral)) if neutral else None
