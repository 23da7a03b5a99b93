"""Dates without a year, a month or a day get them from the rest of the note, so all intervals stay."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from incognote.operators.readers import Meant, dates
from incognote.operators.timeline import DateMention, clause, context, resolve
from incognote.schemas.policy import Choice, Policy

SHIFT = Policy("test", "", None, 0.4, 0.5, "hold", {"DATE": Choice("date-shift", {"day_first": False})})


def ending(day: int) -> str:
    return "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


YEARLESS: list[Callable[[dt.date], str]] = [
    lambda day: f"{day.month}/{day.day}",
    lambda day: f"{day:%m/%d}",
    lambda day: f"{day:%B} {day.day}",
    lambda day: f"{day:%b} {day.day}{ending(day.day)}",
    lambda day: f"{day.day} {day:%B}",
    lambda day: f"the {day.day}{ending(day.day)} of {day:%B}",
    lambda day: f"{day:%d}-{day:%b}",
    lambda day: f"{day:%A}, {day:%B} {day.day}",
    lambda day: f"{day:%a} {day.month}/{day.day}",
]
BARE: list[Callable[[dt.date], str]] = [
    lambda day: f"the {day.day}{ending(day.day)}",
    lambda day: f"{day.day}{ending(day.day)}",
    lambda day: f"{day:%A} the {day.day}{ending(day.day)}",
]
PATIENTS = st.integers(0, 10**6).map(str)


def read_note(content: str, places: Sequence[tuple[int, int, bool]]) -> list[tuple[Meant, ...]]:
    """The days of the dates at some places of a text: start, end, and whether it is a date of birth. () if unread."""
    mentions: dict[int, DateMention] = {}
    for at, (start, end, birth) in enumerate(places):
        line, cues = context(dates(), content, start, end)
        cues |= {"birth"} if birth else frozenset()
        read = dates().parse_all(content[start:end], around=cues) or ()
        if found := tuple(part for part in read if not isinstance(part, str)):
            mentions[at] = DateMention(found, start, line, cues)
    meant = dict(zip(mentions, resolve(list(mentions.values()), None), strict=True))
    return [meant.get(at, ()) for at in range(len(places))]


def days_of(play: Callable[..., Any], marked: str, patient: str) -> tuple[list[dt.date], str]:
    """The days of the marked dates in the new note, as a reader understands them, and the new note."""
    stage = play(marked, SHIFT, *["DATE"] * marked.count("⟦"), patient=patient)
    places = [(r.out_start, r.out_end, False) for r in stage.replacements]
    return [meant[0].day for meant in read_note(stage.out, places)], stage.out


@given(
    visit=st.dates(dt.date(1990, 1, 1), dt.date(2035, 1, 1)),
    back=st.integers(0, 60),
    more=st.integers(0, 20),
    forms=st.tuples(st.sampled_from(YEARLESS), st.sampled_from(YEARLESS + BARE)),
    patient=PATIENTS,
)
def test_intervals_between_dates_without_a_year_stay(
    play: Callable[..., Any], visit: dt.date, back: int, more: int, forms: tuple[Any, Any], patient: str
) -> None:
    first = visit - dt.timedelta(back)
    second = first + dt.timedelta(min(more, back))
    note = f"Date of service: ⟦{visit:%m/%d/%Y}⟧. Pain began on ⟦{forms[0](first)}⟧ and fever on ⟦{forms[1](second)}⟧."
    moved, _ = days_of(play, note, patient)
    assume(len(moved) == 3)  # "the 14th" may be the 14th of another month, and then it stays
    assert [(day - moved[0]).days for day in moved] == [0, (first - visit).days, (second - visit).days]


@given(
    first=st.dates(dt.date(2001, 1, 1), dt.date(2001, 12, 31)),
    more=st.integers(-40, 40),
    forms=st.tuples(*[st.sampled_from(YEARLESS[:7])] * 2),
    patient=PATIENTS,
)
def test_intervals_stay_if_the_note_has_no_year(
    play: Callable[..., Any], first: dt.date, more: int, forms: tuple[Any, Any], patient: str
) -> None:
    second = first + dt.timedelta(more)
    moved, _ = days_of(play, f"Seen ⟦{forms[0](first)}⟧. Called ⟦{forms[1](second)}⟧.", patient)
    assert ((moved[1] - moved[0]).days - more) % 365 == 0


@given(visit=st.dates(dt.date(2010, 1, 1), dt.date(2030, 1, 1)), nights=st.integers(1, 9), patient=PATIENTS)
def test_the_ends_of_a_range_stay_as_far_apart(
    play: Callable[..., Any], visit: dt.date, nights: int, patient: str
) -> None:
    last = visit + dt.timedelta(nights)
    same = f"-{last.day}" if last.month == visit.month else f" to {last:%B} {last.day}"
    note = f"Seen ⟦{visit:%Y-%m-%d}⟧. Stay ⟦{visit:%B} {visit.day}{same}⟧."
    stage = play(note, SHIFT, "DATE", "DATE", patient=patient)
    places = [(r.out_start, r.out_end, False) for r in stage.replacements]
    day, stay = read_note(stage.out, places)
    assert [(one.day - day[0].day).days for one in stay] == [0, nights]


@pytest.mark.parametrize(
    ("note", "meant"),
    [
        ("Visit date: ⟦1/5/2025⟧. Fell on ⟦12/28⟧.", ["2025-01-05", "2024-12-28"]),
        ("Visit date: ⟦12/20/2024⟧. Follow up on ⟦1/8⟧.", ["2024-12-20", "2025-01-08"]),
        ("Visit date: ⟦12/20/2024⟧. Last seen ⟦1/8⟧.", ["2024-12-20", "2024-01-08"]),
        ("Admitted ⟦11/20/2024⟧.\nDay log: ⟦12/30⟧ extubated. ⟦1/4⟧ trach. ⟦2/10⟧ walks.",
         ["2024-11-20", "2024-12-30", "2025-01-04", "2025-02-10"]),
        ("Note of ⟦9/1/2025⟧. MI on ⟦6/12/2019⟧, stent ⟦6/14⟧.", ["2025-09-01", "2019-06-12", "2019-06-14"]),
        ("Note of ⟦3/30/2024⟧. Drain out on ⟦the 2nd⟧ as planned.", ["2024-03-30", "2024-04-02"]),
        ("Note of ⟦3/12/2024⟧. Away ⟦3⟧-⟦9 March⟧.", ["2024-03-12", "2024-03-03", "2024-03-09"]),
        ("Seen in ⟦March 2023⟧. Biopsy was ⟦2/20⟧.", ["2023-03-15", "2023-02-20"]),
        ("Seen ⟦2/20/2024⟧. Transfused ⟦2/29⟧.", ["2024-02-20", "2024-02-29"]),
        ("Seen ⟦12/2/2024⟧. Black stool since ⟦Thanksgiving⟧.", ["2024-12-02", "2024-11-28"]),
        ("DOB ⟦5/5/1950⟧. Seen ⟦6/1⟧ and ⟦6/2/2024⟧.", ["1950-05-05", "2024-06-01", "2024-06-02"]),
    ],
)  # fmt: skip
def test_a_date_takes_its_year_from_the_note(note: str, meant: list[str]) -> None:
    content, places = "", []
    for piece in note.split("⟦"):
        words, closed, rest = piece.partition("⟧")
        if closed:
            places.append((len(content), len(content) + len(words), False))
        content += words + rest
    found = read_note(content, places)
    assert [one[0].day.isoformat() for one in found] == meant


def test_a_note_with_february_29_and_no_year_is_in_a_leap_year(play: Callable[..., Any]) -> None:
    for patient in map(str, range(40)):
        moved, out = days_of(play, "Seen ⟦2/28⟧, ⟦2/29⟧ and ⟦3/1⟧.", patient)
        assert len({day.toordinal() for day in moved}) == 3, out


def test_a_day_without_a_year_moves_around_its_stand_in_year() -> None:
    assert Meant(dt.date(2001, 12, 30), 365).moved(4) == dt.date(2001, 1, 3)
    assert Meant(dt.date(2001, 1, 2), 365).moved(-4) == dt.date(2001, 12, 29)
    assert Meant(dt.date(2023, 12, 30)).moved(4) == dt.date(2024, 1, 3)


def test_a_clause_begins_after_a_full_stop_or_a_line_break() -> None:
    content = "One. Two\nthree, four"
    assert [clause(content, at) for at in (2, 6, 12)] == [0, 5, 9]


@pytest.mark.parametrize(
    ("note", "days"),
    [
        ("Date of service: ⟦08/18/2024⟧. We travel to Enugu ⟦Dec 14⟧ to ⟦Jan 6⟧.", [0, 118, 141]),
        ("Date of service: ⟦08/31/2022⟧. No driving til ⟦Feb 27⟧.", [0, 180]),
        ("Date of service: ⟦02/03/2025⟧. He will be away from ⟦20 February⟧ until after ⟦October 6⟧.", [0, 17, 245]),
    ],
)
def test_a_planned_date_lies_in_the_future(play: Callable[..., Any], note: str, days: list[int]) -> None:
    moved, _ = days_of(play, note, "p")
    assert [(day - moved[0]).days for day in moved] == days


def test_the_first_date_of_a_note_without_a_year_is_its_day() -> None:
    read = [dates().parse_all(words) or [] for words in ("Dec 8", "Dec 12")]
    first, second = (tuple(one for one in each if not isinstance(one, str)) for each in read)
    mentions = [DateMention(first), DateMention(second, 30, 7, frozenset({"future"}))]
    meant = resolve(mentions, dt.date(2023, 5, 20))
    assert [one.day for (one,) in meant] == [dt.date(2022, 12, 8), dt.date(2022, 12, 12)]
