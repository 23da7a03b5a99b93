"""Parsing written dates, and writing other dates in the same format."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.languages import language
from incognote_en.dates import EnglishDate, cues, parse, parse_all
from incognote_en.dates.feasts import holiday
from incognote_en.dates.hijri import gregorian, hijri
from incognote_en.dates.pieces import Moment, reads_day_first

# the text; year, month, day (None = not given); the date 40 days later
SHAPES = [
    ("03/16/2025", (2025, 3, 16), "04/25/2025"),
    ("3/6/2025", (2025, 3, 6), "4/15/2025"),
    ("3/6/25", (2025, 3, 6), "4/15/25"),
    ("03/06/25", (2025, 3, 6), "04/15/25"),
    ("12/11/2023", (2023, 12, 11), "01/20/2024"),
    ("03-16-2025", (2025, 3, 16), "04-25-2025"),
    ("9-14-88", (1988, 9, 14), "10-24-88"),
    ("7 - 9 - 2022", (2022, 7, 9), "8 - 18 - 2022"),
    ("2025-03-16", (2025, 3, 16), "2025-04-25"),
    ("2025/03/16", (2025, 3, 16), "2025/04/25"),
    ("2025.03.16", (2025, 3, 16), "2025.04.25"),
    ("2025-3-6", (2025, 3, 6), "2025-4-15"),
    ("98-03-04", (1998, 3, 4), "98-04-13"),
    ("16.03.2025", (2025, 3, 16), "25.04.2025"),
    ("5.4.1951", (1951, 4, 5), "15.5.1951"),
    ("19.04.22", (2022, 4, 19), "29.05.22"),
    ("20.4.2015.", (2015, 4, 20), "30.5.2015."),
    ("19/11/1961", (1961, 11, 19), "29/12/1961"),
    ("13-10-1979", (1979, 10, 13), "22-11-1979"),
    ("16 03 2025", (2025, 3, 16), "25 04 2025"),
    ("2025-03-16T09:41:18", (2025, 3, 16), "2025-04-25T09:41:18"),
    ("2025-03-16T08:42:00.125+02:00", (2025, 3, 16), "2025-04-25T08:42:00.125+02:00"),
    ("2025-03-16 23:05Z", (2025, 3, 16), "2025-04-25 23:05Z"),
    ("03/16/2025 2:30 PM", (2025, 3, 16), "04/25/2025 2:30 PM"),
    ("03/16/25 at 9 am", (2025, 3, 16), "04/25/25 at 9 am"),
    ("16/03/2025, 9.45 am", (2025, 3, 16), "25/04/2025, 9.45 am"),
    ("03/16/2025 0615 hrs", (2025, 3, 16), "04/25/2025 0615 hrs"),
    ("03/16/2025 (Sun) 0615", (2025, 3, 16), "04/25/2025 (Fri) 0615"),
    ("Sunday, March 16, 2025 2240", (2025, 3, 16), "Friday, April 25, 2025 2240"),
    ("3/16/25 11:05a", (2025, 3, 16), "4/25/25 11:05a"),
    ("3/16/25 4p", (2025, 3, 16), "4/25/25 4p"),
    ("3/16/25 overnight", (2025, 3, 16), "4/25/25 overnight"),
    ("03/16/2025 @ 0615", (2025, 3, 16), "04/25/2025 @ 0615"),
    ("09:41 on 03/16/2025", (2025, 3, 16), "09:41 on 04/25/2025"),
    ("20250316", (2025, 3, 16), "20250425"),
    ("20240117093412-0600", (2024, 1, 17), "20240226093412-0600"),
    ("202401170615", (2024, 1, 17), "202402260615"),
    ("20250316T094118Z", (2025, 3, 16), "20250425T094118Z"),
    ("20250316 10:30", (2025, 3, 16), "20250425 10:30"),
    ("03162025", (2025, 3, 16), "04252025"),
    ("March 16, 2025", (2025, 3, 16), "April 25, 2025"),
    ("March 16 2025", (2025, 3, 16), "April 25 2025"),
    ("MARCH 16, 2025", (2025, 3, 16), "APRIL 25, 2025"),
    ("march 16, 2025", (2025, 3, 16), "april 25, 2025"),
    ("March\n16, 2025", (2025, 3, 16), "April\n25, 2025"),
    ("March 16th, 2025", (2025, 3, 16), "April 25th, 2025"),
    ("October 23rd, 2022", (2022, 10, 23), "December 2nd, 2022"),
    ("NOV 12TH, 2023", (2023, 11, 12), "DEC 22ND, 2023"),
    ("16 March 2025", (2025, 3, 16), "25 April 2025"),
    ("16th of March, 2019", (2019, 3, 16), "25th of April, 2019"),
    ("the 3rd of December 2023", (2023, 12, 3), "the 12th of January 2024"),
    ("1st day of May 2020", (2020, 5, 1), "10th day of June 2020"),
    ("Mar 6, 2025", (2025, 3, 6), "Apr 15, 2025"),
    ("Sept. 5, 2024", (2024, 9, 5), "Oct. 15, 2024"),
    ("16-Mar-2025", (2025, 3, 16), "25-Apr-2025"),
    ("07-JAN-1956", (1956, 1, 7), "16-FEB-1956"),
    ("AUG-02-1979", (1979, 8, 2), "SEP-11-1979"),
    ("17-May-2024", (2024, 5, 17), "26-Jun-2024"),
    ("20/MAY/2024", (2024, 5, 20), "29/JUN/2024"),
    ("2025-Mar-16", (2025, 3, 16), "2025-Apr-25"),
    ("07MAR16", (2016, 3, 7), "16APR16"),
    ("7Mar2016", (2016, 3, 7), "16Apr2016"),
    ("09.XI.1961", (1961, 11, 9), "19.XII.1961"),
    ("24/ii/2022", (2022, 2, 24), "05/iv/2022"),
    ("Sept. 28 '23", (2023, 9, 28), "Nov. 7 '23"),
    ("12 June 24", (2024, 6, 12), "22 July 24"),
    ("Tuesday, March 4, 2025", (2025, 3, 4), "Sunday, April 13, 2025"),
    ("Thu 15 Feb 2024", (2024, 2, 15), "Tue 26 Mar 2024"),
    ("WEDNESDAY 14-02-2024", (2024, 2, 14), "MONDAY 25-03-2024"),
    ("Thurs, September 7, 2023", (2023, 9, 7), "Tues, October 17, 2023"),
    ("march third twenty twenty three", (2023, 3, 3), "april twelfth twenty twenty three"),
    ("april twenty second nineteen fifty one", (1951, 4, 22), "june first nineteen fifty one"),
    ("14 février 2016", (2016, 2, 14), "25 mars 2016"),
    ("1er mars 2019", (2019, 3, 1), "10 avril 2019"),
    ("13 de octubre de 2015", (2015, 10, 13), "22 de noviembre de 2015"),
    ("13. März 2015", (2015, 3, 13), "22. April 2015"),
    ("13 de outubro de 2015", (2015, 10, 13), "22 de novembro de 2015"),
    ("١٦/٠٣/٢٠٢٥", (2025, 3, 16), "٢٥/٠٤/٢٠٢٥"),
    ("3/4", (None, 3, 4), "4/13"),
    ("11/05 0530", (None, 11, 5), "12/15 0530"),
    ("3/4 at 2015", (None, 3, 4), "4/13 at 2015"),
    ("5/21 at 1:15 pm", (None, 5, 21), "6/30 at 1:15 pm"),
    ("03/04", (None, 3, 4), "04/13"),
    ("18/3", (None, 3, 18), "27/4"),
    ("10.07", (None, 7, 10), "19.08"),
    ("2/29", (None, 2, 29), "4/9"),
    ("16-JAN", (None, 1, 16), "25-FEB"),
    ("28Feb", (None, 2, 28), "09Apr"),
    ("Sept. 5", (None, 9, 5), "Oct. 15"),
    ("may 20th", (None, 5, 20), "june 29th"),
    ("28th Feb", (None, 2, 28), "9th Apr"),
    ("the second of May", (None, 5, 2), "the eleventh of June"),
    ("Tuesday 3/12", (None, 3, 12), "Sunday 4/21"),
    ("Tues 5th Dec", (None, 12, 5), "Sun 14th Jan"),
    ("Aug '22", (2022, 8, None), "Sep '22"),
    ("October 2021", (2021, 10, None), "November 2021"),
    ("oct 2021", (2021, 10, None), "nov 2021"),
    ("APR/2023", (2023, 4, None), "MAY/2023"),
    ("3/2018", (2018, 3, None), "4/2018"),
    ("2023-10", (2023, 10, None), "2023-11"),
    ("11.2021", (2021, 11, None), "12.2021"),
    ("mid-April", (None, 4, None), "late May"),
    ("late January", (None, 1, None), "early March"),
    ("July", (None, 7, None), "August"),
    ("2016", (2016, None, None), "2016"),
    ("'21", (2021, None, None), "'21"),
    ("nineteen eighty eight", (1988, None, None), "nineteen eighty eight"),
    ("Tuesday", (None, None, None), "Sunday"),
    ("Mon 9:15 AM", (None, None, None), "Sat 9:15 AM"),
]


@pytest.mark.parametrize(("written", "parts", "later"), SHAPES)
def test_a_shape_is_read_and_written_in_its_own_format(written: str, parts: tuple[int | None, ...], later: str) -> None:
    read = parse(written)
    assert read is not None
    assert (read.year, read.month, read.day) == parts
    assert read.moved(40) == later


@pytest.mark.parametrize(("written", "parts", "later"), SHAPES)
def test_the_same_date_is_written_as_it_was(written: str, parts: tuple[int | None, ...], later: str) -> None:
    read = parse(written)
    assert read is not None
    day = read.day or read.alone().day.day
    assert read.write(Moment(read.year or 0, read.month or 0, day, read.weekday or 0)) == written


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        "2/30/2023",
        "13/13/2023",
        "0/5/2020",
        "March 4-6, 2024",
        "4-6 March",
        "3/4-6",
        "10-12/2020",
        "3 4",
        "031625",
        "1234",
        "1790",
        "3/4/5",
        "3/4 2019",  # a year or a time of day: ambiguous
        "24 May 3",
        "120",
        "9.8.7.6",
        "20241399",
        "yesterday",
        "2024-W60",
        "Boxing",
        "the 45th",
        "\ud800",
        "3/\x004",
    ],
)
def test_what_cannot_be_written_again_is_not_read(written: str) -> None:
    assert parse(written) is None


def test_an_ambiguous_date_is_read_month_first_unless_told() -> None:
    assert [d.month for d in (parse("03/04/2024"), parse("03/04/2024", day_first=True)) if d] == [3, 4]


def test_an_impossible_order_gives_way_to_the_other() -> None:
    assert [d.day for d in (parse("16/03/2024"), parse("03/16/2024", day_first=True)) if d] == [16, 16]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("26/12/23", True),
        ("12/26/23", False),
        ("03/04/2024", None),
        ("18-3", True),
        ("March 3", None),
        ("Tuesday 17/8", True),
        ("99/12/2020", None),
    ],
)
def test_a_date_tells_the_order_only_where_it_must(written: str, told: bool | None) -> None:
    assert reads_day_first(written) is told


def test_two_digits_mean_the_latest_year_that_may_be_meant() -> None:
    assert [parse("1/5/30", latest=latest).year for latest in (2029, 2030, 2039)] == [1930, 2030, 2030]  # type: ignore[union-attr]  # SHAPES shows that these parse


def test_a_dotted_pair_is_a_date_and_no_time_of_day() -> None:
    read = parse("Mon 10.07")
    assert read is not None
    assert (read.month, read.day) == (7, 10)


@pytest.mark.parametrize(
    ("written", "later"),
    [
        ("3/4/2019 - 5/6/2020", "4/13/2019 - 6/15/2020"),
        ("7/31-8/2", "9/9-9/11"),
        ("2019-2020", "2019-2020"),
        ("from March to May 2020", None),
        ("Jan to Mar 2020", "Feb to Apr 2020"),
        ("3/1 and 3/3", "4/10 and 4/12"),
        ("3/14-15", "4/23-24"),
        ("March 20-22, 2024", "April 29-May 1, 2024"),
        ("March 14th and 15th", "April 23rd and 24th"),
        ("March 21st and 22nd", "April 30th and May 1st"),
        ("3–19 June", "13–29 July"),
        ("19 to 22 May", "28 June to 1 July"),
        ("28 May to the 2nd", "7 July to the 12th"),
        ("Dec 30-31, 2020", "Feb 8-9, 2021"),
        ("Mon/Wed/Fri", "Sat/Mon/Wed"),
    ],
)
def test_both_ends_of_a_range_are_read(written: str, later: str | None) -> None:
    read = parse_all(written)
    moved = None if read is None else "".join(p.moved(40) if isinstance(p, EnglishDate) else p for p in read)
    assert moved == later


# the text, and the date 40 days later
NAMED = [
    ("Christmas Eve 2015", "February 2, 2016"),
    ("St Stephen's Day, 2009", "February 4, 2010"),
    ("Thanksgiving 2024", "January 7, 2025"),
    ("EASTER 2025", "MAY 30, 2025"),
    ("Orthodox Easter 2024", "June 14, 2024"),
    ("Ramadan 2024", "May 2024"),
    ("the day after New Year's", "February 11"),
    ("Labor Day weekend", "the weekend of October 13"),
    ("July 4th", "August 13th"),
    ("Good Friday, 10th April 2009", "Wednesday, 20th May 2009"),
    ("the 8th", "the 17th"),
    ("Weds 20th", "Mon 29th"),
    ("T 9/17", "Su 10/27"),
    ("spring of 1987", "summer of 1987"),
    ("late 2019", "late 2019"),
    ("end of March", "beginning of May"),
    ("Q4 2022", "Q1 2023"),
    ("2024-W07", "2024-W13"),
    ("the late 1980s", "the late 1980s"),
    ("FY2023", "FY2023"),
    ("Febuary 3, 2024", "March 14, 2024"),
    ("Ocotber 2022", "November 2022"),
    ("l7 Novernber 1986", "27 December 1986"),
    ("2l/O3/l947", "30/04/1947"),
    ("31 May 2024 (Biyernes)", "10 July 2024 (Miyerkules)"),
    ("0347, 25/4/23", "0347, 4/6/23"),
    ("Fri 11/5, 1400", "Wed 12/15, 1400"),
    ("VI. 25.", "VIII. 4."),
    ("2017年4月7日", "2017年5月17日"),
]


@pytest.mark.parametrize(("written", "later"), NAMED)
def test_a_named_or_misspelt_date_is_moved(written: str, later: str) -> None:
    read = parse(written)
    assert read is not None
    assert read.moved(40) == later


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("worse [Christmas].", "February 3"),
        ("moved in at [Christmas].", "the start of February"),
        ("no visitors over [Christmas].", "early February"),
        ("well last [Christmas]; now", "February"),
        ("12/25 ([Christmas])", "Sunday"),
        ("[Christmas], 12/25/2020", "Sunday"),
        ("offered [the day after Christmas].", "February 4"),
        ("came the day before [Christmas]", "the holiday"),
        ("fell on the ice [Christmas morning] outside", "the morning of February 3"),
        ("over the [Christmas week] he", "week of February 3"),
        ("since [Christmas week of 2019] he", "the week of February 3, 2020"),
        ("over [Labor Day] weekend he", "the October 13"),
        ("neighborhood [4th of July] cookout", "annual"),
        ("gathered for [Nowruz] dinner", "the family"),
        ("home for [Thanksgiving]", "the holiday"),
        ("clinic scheduled for [Christmas Eve]", "February 2"),
        ("Celebrated the [New Year] with", "holiday"),
        ("It was his birthday and [Christmas]:", "a holiday"),
        ("Pain. [Eid] was yesterday", "The holiday"),
        ("for Mexican [Mother's Day].", "holiday"),
        ("celebrated [Haitian Pwason Day] in", "the holiday"),
        ("stopped on account of [Lent]", "the fast"),
        ("is fasting for [Ramadan], and", "the holiday"),
        ("was well all [MLK Day] cooking", "February 24"),
        ("no meals since [Lent]", "April"),
        ("fireworks for [the Fourth] with", "the holiday"),
        ("last fall [Halloween], seen by trick-or-treaters", "on the holiday"),
        ("Lights off. Not well since [Christmas], ate turkey", "the holiday"),
        ("worse since [Christmas]. Ate turkey", "February 3"),
        ("1 near [fall Thanksgiving] at the house", "fall January 1"),
        ("fell on [Easter Sunday, 4/9/23] at", "Friday, 5/19/23"),
    ],
)
def test_a_holiday_is_written_to_fit_the_words_around_it(text: str, later: str) -> None:
    before, _, rest = text.partition("[")
    words, _, behind = rest.partition("]")
    read = parse(words, around=cues(before, behind))
    assert read is not None
    assert read.moved(40) == later


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("Labor Day", "2024-09-02"),
        ("MEMORIAL DAY", "2024-05-27"),
        ("Easter Monday", "2024-04-01"),
        ("Eid al-Fitr", "2024-04-10"),
        ("Eid-ul-Adha", "2024-06-17"),
        ("Tết", "2024-02-10"),
        ("Diwali", "2024-11-01"),
        ("Hallowe'en", "2024-10-31"),
        ("Black Friday", "2024-11-29"),
        ("St-Jean-Baptiste", "2024-06-24"),
    ],
)
def test_a_holiday_has_its_day_in_a_year(name: str, day: str) -> None:
    found = holiday(name)
    assert found is not None
    assert found.place(2024).isoformat() == day


def test_each_holiday_has_a_day_in_each_year() -> None:
    table = language("en").table("words", "holidays.toml")
    names = [name for kind in ("days", "months") for said in table[kind].values() for name in said.split("; ")]
    assert len(names) > 400
    assert len({name.strip() for name in names}) == len(names)
    for name in names:
        found = holiday(name)
        assert found is not None, name
        assert all(found.place(year).year in (year, year - 1, year + 1) for year in (1931, 2000, 2024, 2039))


@pytest.mark.parametrize(
    ("before", "cue"),
    [
        ("Date of service: ", "visit"),
        ("DOB ", "birth"),
        ("follow up in clinic on ", "future"),
        ("Plan:\nreturn ", "future"),
        ("He has had pain since ", "past"),
    ],
)
def test_the_words_before_a_date_are_cues(before: str, cue: str) -> None:
    assert cue in cues(before, ".")


def test_a_range_that_ends_on_february_29_stays_in_february() -> None:
    read = parse_all("February 20-29")
    assert read is not None
    assert [(part.month, part.day) for part in read if isinstance(part, EnglishDate)] == [(2, 20), (2, 29)]


def test_a_month_moves_to_another_month_however_small_the_step() -> None:
    for written in ("Jan 2024", "Feb 2023", "July", "12/2020"):
        read = parse(written)
        assert read is not None
        assert all(read.moved(days) != written for days in (-363, -29, -1, 1, 2, 29, 363))


def test_the_29th_of_february_without_a_year_survives_a_wrong_guess() -> None:
    read = parse("2/29")
    assert read is not None
    assert read.moved(1) == "3/1"
    assert read.near(dt.date(2023, 5, 1)) == [dt.date(year, 2, 29) for year in (2016, 2020, 2024, 2028)]


FORMATS = [
    ("%m/%d/%Y", False),
    ("%d/%m/%Y", True),
    ("%Y-%m-%d", False),
    ("%d.%m.%Y", False),
    ("%B %d, %Y", False),
    ("%A, %d %B %Y", False),
    ("%d-%b-%Y", False),
    ("%Y%m%d", False),
    ("%Y%m%d%H%M", False),
    ("%a %b %d %Y", False),
    ("%Y-%m-%dT%H:%M:%S", False),
    ("%d%b%Y", False),
]


@given(
    day=st.datetimes(dt.datetime(1850, 1, 1), dt.datetime(2150, 1, 1)),
    shape=st.sampled_from(FORMATS),
    days=st.integers(-400, 400),
    upper=st.booleans(),
)
def test_moving_forth_and_back_gives_what_was_written(
    day: dt.datetime, shape: tuple[str, bool], days: int, upper: bool
) -> None:
    pattern, day_first = shape
    written, expected = (d.strftime(pattern) for d in (day, day + dt.timedelta(days)))
    if upper:
        written, expected = written.upper(), expected.upper()
    there = parse(written, day_first=day_first)
    assert there is not None
    assert there.date == day.date()
    if "%B" not in pattern and "%b" not in pattern:
        assert there.moved(days) == expected
    back = parse(there.moved(days), day_first=day_first)
    assert back is not None
    assert back.date == (day + dt.timedelta(days)).date()
    assert there.write(Moment(day.year, day.month, day.day, day.weekday())) == written


@given(st.text(max_size=30))
def test_reading_never_fails_on_any_text(text: str) -> None:
    read = parse_all(text)
    if read is not None:
        assert all(isinstance(part, (EnglishDate, str)) for part in read)


@pytest.mark.parametrize(
    ("words", "written"),
    [("last Wednesday", "last Friday"), ("next Thursday", "next Saturday"), ("this past Sunday", "this past Tuesday")],
)
def test_a_weekday_before_or_after_today_keeps_its_word(words: str, written: str) -> None:
    read = parse(words)
    assert read is not None
    assert read.moved(2) == written


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("12 مارس 2024", "21 مايو 2024"),
        ("١٢/٣/٢٠٢٤", "٢١/٥/٢٠٢٤"),
        ("15 كانون الثاني 2023", "26 آذار 2023"),
        ("12 جانفي 2020", "22 مارس 2020"),
        ("الثلاثاء 5 مارس 2024", "الثلاثاء 14 مايو 2024"),
        ("12/08/1445هـ", "23/10/1445هـ"),
        ("1445/08/12 هـ", "1445/10/23 هـ"),
        ("15 رمضان 1445", "26 ذو القعدة 1445"),
        ("Dienstag, den 3. Mai 2022", "Dienstag, den 12. Juli 2022"),
        ("4. November 2021", "13. Januar 2022"),
        ("lundi 3 mai 2021", "lundi 12 juillet 2021"),
        ("3 de abril de 2021", "12 de junio de 2021"),
    ],
)
def test_a_date_of_another_language_is_moved_in_its_own_words_and_calendar(text: str, moved: str) -> None:
    (read,) = parse_all(text, day_first=True) or ()
    assert isinstance(read, EnglishDate)
    assert read.moved(70) == moved


@pytest.mark.parametrize("text", ["31/02/1445هـ", "15 رمضان", "12/08/1745هـ", "رمضان شوال 1445"])
def test_an_islamic_date_that_cannot_be_read_is_none(text: str) -> None:
    assert parse_all(text) is None


@given(st.dates(dt.date(1890, 1, 1), dt.date(2060, 1, 1)))
def test_a_day_of_the_islamic_calendar_is_the_same_day_in_the_gregorian_one(day: dt.date) -> None:
    assert gregorian(*hijri(day)) == day


def test_known_days_of_the_islamic_calendar() -> None:
    assert gregorian(1445, 9, 1) == dt.date(2024, 3, 11)
    assert gregorian(1421, 1, 1) == dt.date(2000, 4, 6)
    assert gregorian(1445, 2, 30) is None


@pytest.mark.parametrize(
    ("before", "text", "moved"),
    [
        ("Wiedervorlage im ", "April 2021", "Juni 2021"),
        ("given im ", "April 3, 2024", "June 12, 2024"),
        ("seen at 8 am ", "April 2024", "June 2024"),
    ],
)
def test_only_a_german_word_before_a_month_makes_it_german(before: str, text: str, moved: str) -> None:
    (read,) = parse_all(text, around=cues(before, "")) or ()
    assert isinstance(read, EnglishDate)
    assert read.moved(70) == moved
