"""Which day each date of a note means. Dates without a year, a month or a day take it from the other dates.

    mentions = [DateMention(tuple(read), clause(text, start), cues), …]   # in the order of the text
    resolve(mentions, None)                                              # for each mention, a Meant for each date

The operator `date-shift` and relexicalization both use it, so both move a date by the same days.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from incognote.operators.readers import STAND_IN_YEAR, DateReader, Meant, WrittenDate

_CLAUSE = re.compile(r"[.;!?]\s|\n")
_REACH = 200  # characters before a date that are read
_HEAD = 400  # characters at the start of a note in which its own date is expected
_OTHER_CLAUSE = 60  # days that a date in an earlier sentence counts as farther away
_WRONG_WEEKDAY = 500
_LATER = 30  # days that a day without a month counts as farther away if it is after the note and not planned


@dataclass(frozen=True, slots=True)
class DateMention:
    """The dates that a mention writes, and what the text says about them.

    Args:
        dates: one date, or those of a range.
        start: its offset.
        clause: the offset at which its sentence or line begins.
        cues: see `DateReader.cues`.
    """

    dates: tuple[WrittenDate, ...] = field(repr=False)
    start: int = 0
    clause: int = 0
    cues: frozenset[str] = frozenset()

    @property
    def full(self) -> dt.date | None:
        """Its first complete date, unless it is a date of birth."""
        return None if "birth" in self.cues else next((one.date for one in self.dates if one.date), None)


def clause(content: str, start: int) -> int:
    """Return where the sentence or line that contains an offset begins."""
    low = max(0, start - _REACH)
    return max((match.end() for match in _CLAUSE.finditer(content, low, start)), default=low)


def context(reader: DateReader, content: str, start: int, end: int) -> tuple[int, frozenset[str]]:
    """Return the clause and the cues of a date at a place in a text."""
    return clause(content, start), reader.cues(content[max(0, start - _REACH) : start], content[end : end + 24])


def written(read: Sequence[WrittenDate | str], meant: Sequence[Meant], days: int) -> str:
    """Return the dates of a mention, and the text between them, moved by some days."""
    meanings = iter(meant)
    return "".join(part if isinstance(part, str) else part.moved(days, next(meanings)) for part in read)


def note_day(mentions: Sequence[DateMention]) -> dt.date | None:
    """Return the day of a note: its visit, or the full date at its head, or else its latest date that is not planned.

    Dates of birth do not count. None if no date has a year.
    """
    full = [(one, day) for one in mentions if (day := one.full)]
    visit = next((day for one, day in full if "visit" in one.cues), None)
    head = next((day for one, day in full if one.start < _HEAD and not one.cues & {"future", "past"}), None)
    if visit or head:
        return visit or head
    if full:
        return max((day for one, day in full if "future" not in one.cues), default=min(day for _, day in full))
    vague = [one.alone() for mention in mentions if "birth" not in mention.cues for one in mention.dates]
    return max((meant.day for meant in vague if not meant.cycle), default=None)


def _head_day(mentions: Sequence[DateMention], near: dt.date | None) -> dt.date | None:
    """Return the date without a year at the head of a note, in the year nearest to `near`; or else `near`."""
    head = next((one for one in mentions if one.start < _HEAD and not one.cues & {"birth", "future", "past"}), None)
    if near is None or head is None or not head.dates[0].exact or head.dates[0].month is None:
        return near
    return min(head.dates[0].near(near), key=lambda day: abs(day - near))


def resolve(mentions: Sequence[DateMention], near: dt.date | None) -> list[tuple[Meant, ...]]:
    """Return what each date of each mention means.

    A date without a year gets the year in which it is nearest to the note's day or to the date before it. A past day
    is more likely than a future one, unless the text says that it is planned. A day without a month gets the month in
    the same way. If nothing says the year, all these dates are in one stand-in year, a leap year only if the note
    mentions February 29.

    Args:
        mentions: the dates of one note, in the order of its text.
        near: the day around which the note was written, if none of its dates says so.
    """
    day, cycle = note_day(mentions) or _head_day(mentions, near), 0
    if day is None:
        written = [one for mention in mentions for one in mention.dates]
        cycle = 365 + any((one.month, one.day) == (2, 29) for one in written)
        day = dt.date(STAND_IN_YEAR - cycle + 365, 7, 1)
    resolver = _Resolver(mentions, day, cycle)
    return [resolver.meant(at) for at in range(len(mentions))]


def around(dates: Sequence[WrittenDate], first: Meant) -> tuple[Meant, ...]:
    """Return what the dates of one mention mean, if it is known what the first of them means."""
    resolver = _Resolver([DateMention(tuple(dates))], first.day, first.cycle)
    return resolver.meant(0)


class _Resolver:
    def __init__(self, mentions: Sequence[DateMention], day: dt.date, cycle: int) -> None:
        self._mentions, self._day, self._cycle = mentions, day, cycle
        self._done: dict[int, tuple[Meant, ...]] = {}

    def meant(self, at: int) -> tuple[Meant, ...]:
        """What the dates of a mention mean. Earlier mentions are resolved before it."""
        if at not in self._done:
            self._done[at] = self._resolved(at)
        return self._done[at]

    def _resolved(self, at: int) -> tuple[Meant, ...]:
        mention = self._mentions[at]
        dates = mention.dates
        lead = next((n for n, one in enumerate(dates) if one.date), 0)
        days: dict[int, dt.date] = {lead: self._first(at, dates[lead])}
        for n in range(lead + 1, len(dates)):
            days[n] = _nearest(dates[n].near(days[n - 1]), days[n - 1], 1)
        for n in range(lead - 1, -1, -1):
            days[n] = _nearest(dates[n].near(days[n + 1]), days[n + 1], -1)
        return tuple(self._placed(dates[n], days[n]) for n in range(len(dates)))

    def _placed(self, date: WrittenDate, day: dt.date) -> Meant:
        if date.year is not None or not self._cycle:
            return Meant(day)
        leap = dt.date(STAND_IN_YEAR - self._cycle + 365, 1, 1)
        if (day.month, day.day) == (2, 29) and self._cycle == 365:
            return Meant(day)
        return Meant(day.replace(year=leap.year), self._cycle)

    def _first(self, at: int, date: WrittenDate) -> dt.date:
        """The day of the first date of a mention, or of its complete one."""
        if date.date:
            return date.date
        if self._waits(at):
            end = self.meant(at + 1)[0].day  # "3" of "3 to 9 June" is the day before the other end
            if days := [day for day in date.near(end) if day <= end]:
                return days[-1]
        before = self._before(at)
        last = None if before is None else self.meant(before)[-1].day
        candidates = sorted({day for anchor in (self._day, last) if anchor for day in date.near(anchor)})
        far = before is not None and self._mentions[before].clause != self._mentions[at].clause
        return min(candidates, key=lambda day: (self._cost(day, date, self._mentions[at], last, far), day))

    def _waits(self, at: int) -> bool:
        """Return True for a day without a month at the beginning of a range whose end is the next mention."""
        date = self._mentions[at].dates[0]
        bare = date.month is None and date.year is None and date.exact and date.day is not None
        return bare and "range" in self._mentions[at].cues and at + 1 < len(self._mentions)

    def _before(self, at: int) -> int | None:
        """The last earlier mention of a day that is not a date of birth."""
        found = (n for n in range(at - 1, -1, -1) if "birth" not in self._mentions[n].cues and not self._waits(n))
        return next((n for n in found if self._mentions[n].dates[-1].exact), None)

    def _cost(self, day: dt.date, date: WrittenDate, mention: DateMention, last: dt.date | None, far: bool) -> float:
        """How unlikely a day is: its distance from the note's day or the date before it, weighted by the direction.

        Args:
            last: the date before it, if any.
            far: whether that date is in another sentence.
        """
        since = (day - self._day).days
        planned = "future" in mention.cues or (last is not None and last > self._day and not far)
        weekday = getattr(date, "weekday", None)
        wrong = _WRONG_WEEKDAY if weekday is not None and weekday != day.weekday() and not self._cycle else 0
        own = since * (0.25 if planned else 25 if "past" in mention.cues else 3) if since > 0 else -since
        if last is None or (last == self._day and date.month is not None):
            return own + wrong
        after = (day - last).days
        if date.day is not None and date.month is None:  # a day without a month goes on from the date before it
            late = 0 if planned or since <= 0 else _LATER
            return (after if after >= 0 else -3 * after) + late + wrong
        return wrong + min(own, (3 * after if after > 0 else -after) + (_OTHER_CLAUSE if far else 0))


def _nearest(days: Sequence[dt.date], anchor: dt.date, way: int) -> dt.date:
    """Return the nearest day on one side of an anchor (1: after, -1: before), or else on the other side."""
    return min(days, key=lambda day: ((day - anchor).days * way < 0, abs((day - anchor).days)))
