"""Dates in cells: which styles show a number as a date, and numbers of days as ISO dates and back."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from incognote.formats.records.rawxml import Xml
from incognote.formats.xlsx.strings import decoded

Shows = Literal["date", "time", "number", "code"]
_BUILTIN: Mapping[int, Shows] = {
    **dict.fromkeys((*range(14, 18), 22, *range(27, 37), *range(50, 59)), "date"),
    **dict.fromkeys((*range(18, 22), *range(45, 48)), "time"),
}
_LITERAL = re.compile(r'"[^"]*"|\\.|[_*].|\[(?!(?:h+|m+|s+)\])[^\]]*\]|[eE][+\-]|general', re.IGNORECASE | re.DOTALL)
_ISO = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?)?")
_CODE = re.compile(r"(?<![.0#,])0{5,}(?![.,0#%])|(?<![.0#,])[0#]{2,}-[0#]{2,}")
_LAST = 2_958_465  # December 31, 9999
_EARLIEST = 10_000  # a time of day with more days than this hides a date
_LEAP = 60  # the day that 1900 did not have


class Styles:
    """The number formats of cell styles.

    Args:
        xml: the styles part, or None if there is none.
        from_1904: whether days are counted from 1904.
    """

    def __init__(self, xml: Xml | None, *, from_1904: bool) -> None:
        self._from_1904 = from_1904
        self._shown: Sequence[Shows] = ()
        root = xml.root if xml else None
        formats, styles = (root.child("numFmts"), root.child("cellXfs")) if root else (None, None)
        codes: dict[int, Shows] = dict(_BUILTIN)
        for each in formats.elements if formats else ():
            codes[int(each.value("numFmtId"))] = shown_by(decoded(each.value("formatCode")))
        self._shown = [codes.get(int(xf.value("numFmtId") or 0), "number") for xf in styles.elements] if styles else ()

    def shows(self, style: int) -> Shows:
        """Return what a cell style shows a number as."""
        return self._shown[style] if style < len(self._shown) else "number"

    def date_of(self, number: float) -> str | None:
        """Return the ISO date, with the time of day if it is not midnight, or None if it is not a date."""
        if not 0 < number <= _LAST:
            return None
        seconds = round(number * 86_400)
        days, seconds = divmod(seconds, 86_400)
        if self._from_1904:
            days += 1462
        day = dt.date(1899, 12, 30) + dt.timedelta(days + (days < _LEAP))
        if not seconds:
            return day.isoformat()
        clock = dt.time(seconds // 3600, seconds // 60 % 60, seconds % 60)
        return f"{day.isoformat()} {clock.isoformat('minutes' if seconds % 60 == 0 else 'seconds')}"

    def number_of(self, written: str) -> str | None:
        """Return the number of an ISO date as it is written in a cell, or None if it is not one."""
        match = _ISO.fullmatch(written)
        if match is None:
            return None
        year, month, day, hour, minute, second = (int(each or 0) for each in match.groups())
        try:
            days = (dt.date(year, month, day) - dt.date(1899, 12, 30)).days
            seconds = dt.timedelta(hours=hour, minutes=minute, seconds=second).seconds
        except ValueError:
            return None
        days -= days <= _LEAP
        days -= 1462 if self._from_1904 else 0
        if not 0 < days <= _LAST:
            return None
        return str(days) if not seconds else repr(days + seconds / 86_400)

    def is_date(self, style: int, number: float) -> bool:
        """Whether a cell shows a number as a date, or hides its day behind a time."""
        shows = self.shows(style)
        return shows == "date" or (shows == "time" and number >= _EARLIEST)


def shown_by(code: str) -> Shows:
    """Return what a number format shows a number as. A code has leading zeros, or hyphens between its digits."""
    left = _LITERAL.sub("", code).lower()
    if re.search("[yde]|(?<![hs:])m(?!m?:?s)", left) and not re.fullmatch(r"[^yde]*\[m+\][^yde]*", left):
        return "date" if re.search("[yde]", left) or not re.search("[hs]", left) else "time"
    if re.search("[hms]", left):
        return "time"
    return "code" if _CODE.search(left) else "number"
