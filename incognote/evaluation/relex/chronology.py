"""Time: do dates keep their distances, and do ages agree with the dates around them?

The true day of a date is the one in its gold identity (`…2024-03-14…`, `…2024-03`, `…2024`), or else the one that the
language's date reader finds. A date without a year then means the day nearest to the note's first full date. The
surrogate is read as written: a year, month, day or weekday that it does not show cannot be wrong.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from incognote.evaluation.intervals import Figure
from incognote.evaluation.relex.kinds import is_label
from incognote.evaluation.relex.pairs import MentionPair, NotePair, share_of
from incognote.operators import readers
from incognote.operators.readers import WrittenDate
from incognote.relex.cluster.values import age_of

_CODE = re.compile(r"(?<!\d)((?:1[89]|20|21)\d\d)-(\d\d)(?:-(\d\d))?(?!\d)|-((?:1[89]|20|21)\d\d)\Z")
_NEAR = (0, -1, 1, -2, 2)
_FAR = 15 * 366
Kind = Literal["full", "without year", "partial", "birth date"]
_KINDS: tuple[Kind, ...] = ("full", "without year", "partial", "birth date")
_STEP = 14  # days, by which a vague date is tried


@dataclass(frozen=True, slots=True)
class _Dated:
    """A date mention: its first and last possible true day, how it is written, and its surrogate as read.

    Two more fields allow for day and month in either order, because a reader cannot know: `moves`, the days by which a
    full date moved, and `turned`, the true day and the surrogate in the other order.
    """

    mention: MentionPair
    low: date
    high: date
    kind: Kind
    after: tuple[WrittenDate, ...]
    moves: tuple[int, ...] = ()
    turned: tuple[date, WrittenDate] | None = None

    @property
    def moved(self) -> int | None:
        """The days by which it moved, if both sides are full dates."""
        return self.moves[0] if self.moves else None

    def fits(self, days: int) -> bool:
        """Return True if the surrogate can mean the true day moved by this many days."""
        if self.turned and _shows(self.turned[1], self.turned[0] + timedelta(days)):
            return True
        tries = {*range(self.low.toordinal(), self.high.toordinal(), _STEP), self.high.toordinal()}
        return any(_shows(one, date.fromordinal(day + days)) for day in tries for one in self.after)


def chronology(notes: Sequence[NotePair], resamples: int, seed: int) -> dict[str, Figure]:
    """The figures of time.

    `intervals, …`: of pairs of neighboring dates of a note that mean different days, the share whose distance is kept,
    by the less exact of the two dates. Labels and words without a day are left out. Pairs with a birth date are
    counted apart, because it may move with the ages of its person. `ages`: of ages that agree with a birth date and a
    date of the note, the share that still do. `dates labeled`: the share of replaced dates with a label.
    """
    owned: dict[str, list[NotePair]] = defaultdict(list)
    for note in notes:
        owned[note.patient].append(note)
    intervals: dict[Kind, list[tuple[str, float, float]]] = {kind: [] for kind in _KINDS}
    ages: list[tuple[str, float, float]] = []
    for patient, own in owned.items():
        read = max((_read(own, order) for order in _orders(own)), key=_kept)
        for kind, kept in _intervals(read):
            intervals[kind].append((patient, kept, 1))
        births = [one for note in read for one in note if _is_birth(one) and one.kind == "full"]
        for note, dated in zip(own, read, strict=True):
            ages += ((patient, agrees, 1) for agrees in _ages(note, dated, births))
    labeled = [
        (note.patient, is_label(m.surrogate), 1)
        for note in notes for m in note.mentions if m.group == "DATE" and m.surrogate is not None
    ]  # fmt: skip
    return {
        **{f"intervals, {kind}": share_of(intervals[kind], resamples, seed) for kind in _KINDS},
        "ages": share_of(ages, resamples, seed),
        "dates labeled": share_of(labeled, resamples, seed),
    }


def _orders(notes: Iterable[NotePair]) -> Sequence[bool]:
    """Whether numeric dates are read day first: as most of a patient's dates show, or both ways if none does."""
    dates = [m for note in notes for m in note.mentions if m.group == "DATE"]
    votes = [readers.dates().reads_day_first(words) for m in dates for words in (m.words, m.surrogate or "")]
    lead = votes.count(True) - votes.count(False)
    return (lead > 0,) if lead else (False, True)


def _read(notes: Sequence[NotePair], day_first: bool) -> list[list[_Dated]]:
    """The replaced dates of each note that can be placed in time."""
    found: list[list[_Dated]] = []
    for note in notes:
        dates = [m for m in note.mentions if m.group == "DATE" and m.surrogate is not None]
        read = [_meant(m, day_first) for m in dates]
        anchor = next((one.date for one, _ in read if one and one.date), None)
        placed: list[_Dated] = []
        for mention, (one, order) in zip(dates, read, strict=True):
            day = one.date if one else None
            span = (day, day) if day else _coded(mention.gold) or _placed(one, anchor)
            if span is not None and not is_label(mention.surrogate or ""):
                new, moves = every_date(mention.surrogate or "", order), _moves(mention, order)
                new = new if mention.how == "partial" else new[:1]  # several dates can be in one surrogate
                turned = _turned(mention, span[0], not order) if _kind(one) == "without year" else None
                if new or any(map(str.isdecimal, mention.surrogate or "")):  # "the holiday" states no day
                    placed.append(_Dated(mention, *span, _kind(one), new, moves, turned))
        found.append(placed)
    return found


def _meant(mention: MentionPair, day_first: bool) -> tuple[WrittenDate | None, bool]:
    """The date as the author meant it, and the order of day and month in which it is that of the gold identity."""
    coded = _coded(mention.gold)
    both = [(written(mention.words, order), order) for order in (day_first, not day_first)]
    wanted = (coded[0].month, coded[0].day) if coded else None
    return next((pair for pair in both if pair[0] and (pair[0].month, pair[0].day) == wanted), both[0])


def _moves(mention: MentionPair, day_first: bool) -> tuple[int, ...]:
    both = [
        (written(mention.words, order), written(mention.surrogate or "", order)) for order in (day_first, not day_first)
    ]
    return tuple((b.date - a.date).days for a, b in both if a and b and a.date and b.date)


def _turned(mention: MentionPair, day: date, day_first: bool) -> tuple[date, WrittenDate] | None:
    """The true day with day and month as read in this order, and the surrogate read in it."""
    before, after = written(mention.words, day_first), written(mention.surrogate or "", day_first)
    try:
        return (day.replace(month=before.month or 0, day=before.day or 0), after) if before and after else None
    except ValueError:
        return None


def _coded(identity: str) -> tuple[date, date] | None:
    """The first and last day that a gold identity names."""
    match = _CODE.search(identity)
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in (match[1] or match[4], match[2], match[3]))
    try:
        low = date(year or 1, month or 1, day or 1)
        return (low, low) if day else (low, _last(low, whole_year=month is None))
    except ValueError:
        return None


def _last(low: date, whole_year: bool) -> date:
    return date(low.year, 12, 31) if whole_year else (low + timedelta(31)).replace(day=1) - timedelta(1)


def _placed(one: WrittenDate | None, anchor: date | None) -> tuple[date, date] | None:
    """The days that a written date means: as written, or nearest to the anchor."""
    if one is None or (one.month is None and one.year is None):
        return None
    years = [one.year] if one.year else [anchor.year + by for by in (-1, 0, 1)] if anchor else []
    days = []
    for year in years:
        try:
            days.append(date(year, one.month or 1, one.day or 1))
        except ValueError:
            continue
    if not days:
        return None
    low = min(days, key=lambda day: abs((day - (anchor or day)).days))
    return (low, low) if one.day else (low, _last(low, whole_year=one.month is None))


def _kind(one: WrittenDate | None) -> Kind:
    if one is None or one.day is None or one.month is None:
        return "partial"
    return "full" if one.date else "without year"


@lru_cache(maxsize=1 << 13)
def every_date(words: str, day_first: bool) -> tuple[WrittenDate, ...]:
    """The dates in the words."""
    parts = readers.dates().parse_all(words, day_first=day_first) or []
    return tuple(part for part in parts if not isinstance(part, str))


def written(words: str, day_first: bool) -> WrittenDate | None:
    """The first date in the words, or None."""
    return next(iter(every_date(words, day_first)), None)


def _shows(one: WrittenDate, day: date) -> bool:
    """Return True if every part that is written is that of the day."""
    parts = ((one.year, day.year), (one.month, day.month), (one.day, day.day), (one.weekday, day.weekday()))
    return all(shown in (None, own) for shown, own in parts)


def _intervals(read: Sequence[Sequence[_Dated]]) -> Iterator[tuple[Kind, bool]]:
    notes = [[one for one in dated if not _is_birth(one)] for dated in read]
    every = Counter(one.moved for dated in notes for one in dated if one.moved is not None)
    for dated, plain in zip(read, notes, strict=True):
        own = Counter(one.moved for one in plain if one.moved is not None) or every
        middle = own.most_common(1)[0][0] if own else None
        born = [(a, b) for a, b in pairwise(dated) if _is_birth(a) != _is_birth(b)]
        for a, b in (*pairwise(plain), *born):
            if (a.low, a.high) == (b.low, b.high):
                continue
            kind = "birth date" if _is_birth(a) or _is_birth(b) else max(a.kind, b.kind, key=_KINDS.index)
            if a.moves and b.moves:
                yield kind, bool({*a.moves} & {*b.moves})
                continue
            fixed = a.moves or b.moves
            days: Iterable[int] = range(-_FAR, _FAR) if middle is None else (middle + by for by in _NEAR)
            yield kind, any((n in a.moves or a.fits(n)) and (n in b.moves or b.fits(n)) for n in fixed or days)


def _is_birth(one: _Dated) -> bool:
    return one.mention.type.startswith("BIRTH")


def _kept(read: Sequence[Sequence[_Dated]]) -> float:
    kept = [kept for _, kept in _intervals(read)]
    return sum(kept) / len(kept) if kept else 1.0


def _ages(note: NotePair, dated: Sequence[_Dated], births: Sequence[_Dated]) -> Iterator[bool]:
    """For each age that a birth date and a date of the note explain, whether the surrogates agree as well."""
    days = [one for one in dated if one.moved is not None and not _is_birth(one)]
    here = [one for one in births if one.mention.note == (note.mentions[0].note if note.mentions else -1)]
    for mention in note.mentions:
        if mention.group != "AGE" or mention.surrogate is None or is_label(mention.surrogate):
            continue
        number, unit = (*age_of(mention.words), "")[:2]
        for birth, day in ((birth, day) for birth in here or births for day in days):
            ordinals = birth.low.toordinal(), day.low.toordinal()
            if birth.moved is None or not number.isdecimal() or int(number) != elapsed(*ordinals, unit):
                continue
            born, now = ordinals[0] + birth.moved, ordinals[1] + (day.moved or 0)
            yield _agrees(mention.surrogate, born, now)
            break


def elapsed(birth: int, day: int, unit: str) -> int:
    """Whole years, months, weeks or days from the ordinal of a birth to that of a day; -1 for any other unit."""
    born, now = date.fromordinal(birth), date.fromordinal(day)
    months = 12 * (now.year - born.year) + now.month - born.month - (now.day < born.day)
    return {"year": months // 12, "month": months, "week": (day - birth) // 7, "day": day - birth}.get(unit, -1)


def _agrees(words: str, born: int, now: int) -> bool:
    number, unit = (*age_of(words), "")[:2]
    if not number.isdecimal():
        return False
    if unit == "decade":
        return elapsed(born, now, "year") // 10 == int(number) // 10
    true, oldest = elapsed(born, now, unit), readers.OLDEST_TOLD
    return int(number) == true or (unit == "year" and true > oldest <= int(number))
