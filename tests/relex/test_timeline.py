"""Ages and dates of a patient's notes go through clustering and generation, and still agree."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incognote.keys import Keyring
from incognote.nouns import Span, Text
from incognote.relex.cluster import cluster
from incognote.relex.cluster.hints import variant
from incognote.relex.cluster.timeline import age_at
from incognote.relex.generate import Choices, Generators, KeyedDraw, UsedSurrogates
from incognote_en.dates import parse

KEYS = st.binary(min_size=32, max_size=32).map(Keyring)
KEY = Keyring(bytes(range(32)))


def relexed(notes: Sequence[str], key: Keyring = KEY, choices: Choices | None = None) -> list[list[str]]:
    """The surrogates of the marked mentions of a patient's notes: `[AGE|45]`, `[DATE|3/4]`."""
    variants, order = [], []
    for record, note in enumerate(notes):
        content, places = "", []
        for piece in note.split("["):
            mark, closed, rest = piece.partition("]")
            if closed:
                kind, words = mark.split("|")
                places.append((len(content), len(content) + len(words), kind))
                content += words + rest
            else:
                content += piece
        text = Text(content)
        own = [variant(Span(text, *place), record=f"r{record}", patient="p", domain="d") for place in places]
        variants += own
        order.append(own)
    identities = cluster(variants)
    generators = Generators(choices)
    drawn = generators.generate_all(identities, KeyedDraw(key), UsedSurrogates())
    homes = {one: identity for identity in identities for one in identity.variants}
    rendered = [[generators.render(v, homes[v], drawn[homes[v].id]) for v in own] for own in order]
    return [[one.text if one else "[LABEL]" for one in own] for own in rendered]


def day(words: str) -> dt.date:
    read = parse(words)
    assert read is not None
    assert read.date is not None
    return read.date


@settings(max_examples=60)
@given(
    birth=st.dates(dt.date(1905, 1, 1), dt.date(2015, 1, 1)),
    later=st.integers(0, 4000),
    key=KEYS,
)
def test_ages_agree_with_the_birth_date_in_every_note(birth: dt.date, later: int, key: Keyring) -> None:
    visits = (dt.date(2015, 6, 1), dt.date(2015, 6, 1) + dt.timedelta(later))
    notes = [
        f"Date of service: [DATE|{visit:%m/%d/%Y}]. DOB [BIRTH_DATE_TIME|{birth:%m/%d/%Y}]. "
        f"[AGE|{age_at(birth, visit)}-year-old] patient."
        for visit in visits
    ]
    moved = relexed(notes, key)
    assert day(moved[1][0]) - day(moved[0][0]) == visits[1] - visits[0]
    assert moved[0][1] == moved[1][1]
    for (visit, born, age), before in zip(moved, visits, strict=True):
        number = age_at(day(born), day(visit))
        assert age == ("90+-year-old" if number >= 90 else f"{number}-year-old")
        original = age_at(birth, before)
        assert all((original < line) == (number < line) for line in (18, 65, 75, 90))


@given(birth=st.dates(dt.date(2008, 1, 1), dt.date(2012, 1, 1)), key=KEYS)
def test_a_child_grows_as_the_dates_say(birth: dt.date, key: Keyring) -> None:
    visits = [dt.date(2013 + at, 5, 17) for at in range(4)]
    notes = [f"Seen [DATE|{visit.isoformat()}]: [AGE|{age_at(birth, visit)} y/o] boy." for visit in visits]
    ages = [int(age.split()[0]) for _, age in relexed(notes, key)]
    assert ages == [age_at(birth, visit) for visit in visits]


def test_field_and_note_get_one_age_and_events_move_with_it() -> None:
    ((field,), (age, event, past)) = relexed(
        ["[AGE|45 years]", "A [AGE|45-year-old] woman, smoker since age [AGE|20], fracture at [AGE|31]."]
    )
    move = 45 - int(field.split()[0])
    assert move
    assert (age, event, past) == (f"{45 - move}-year-old", str(20 - move), str(31 - move))


def test_a_relative_has_an_age_of_its_own_in_every_note() -> None:
    keys = [Keyring(bytes([n]) * 32) for n in range(12)]
    notes = ["A [AGE|45-year-old] man. His mother is [AGE|72].", "He is [AGE|46 years old]. His mother, now [AGE|73]."]
    moves = []
    for key in keys:
        (own, mother), (older, still) = relexed(notes, key)
        assert int(older.split()[0]) - int(own.split("-")[0]) == 1
        assert int(still) - int(mother) == 1
        moves.append((45 - int(own.split("-")[0]), 72 - int(mother)))
    assert any(a != b for a, b in moves)


@given(key=KEYS, words=st.sampled_from(["to a [AGE|34-year-old] G2P2 mother", "to [AGE|34F]", "; mom is [AGE|34]"]))
def test_the_birth_date_of_a_relative_agrees_with_the_relatives_age(key: Keyring, words: str) -> None:
    note = f"Born [BIRTH_DATE_TIME|06/02/2024] {words}. Band with the mother's DOB [BIRTH_DATE_TIME|1/9/90]."
    ((baby, age, born),) = relexed([note], key)
    assert age_at(day(born), day(baby)) == int("".join(filter(str.isdecimal, age)))


def test_a_small_child_and_a_decade_keep_their_ages() -> None:
    assert relexed(["A [AGE|3-year-old] girl, was [AGE|7 months] then."]) == [["3-year-old", "7 months"]]
    (decade,) = relexed(["A [AGE|45-year-old] man."], choices=Choices(ages="decade"))
    assert decade == ["mid-forties"]


def test_weeks_of_a_pregnancy_stay() -> None:
    ages = ["31+2", "31-weeker", "33 6/7", "25 wks GA"]
    assert relexed([" ".join(f"[AGE|{age}]," for age in ages)]) == [ages]


@given(key=KEYS)
def test_a_date_mistaken_for_a_birth_date_moves_with_the_other_dates(key: Keyring) -> None:
    note = "DOB [BIRTH_DATE_TIME|06/23/1951]. Seen [DATE|03/15/2015]. Married [BIRTH_DATE_TIME|2008-05-20]. [AGE|63M]"
    ((_, visit, married, age),) = relexed([note], key)
    assert day(visit) - day(married) == dt.date(2015, 3, 15) - dt.date(2008, 5, 20)
    assert age != "63M"


@given(key=KEYS)
def test_a_birth_date_never_comes_out_near_itself(key: Keyring) -> None:
    ((born, _),) = relexed(["DOB [BIRTH_DATE_TIME|06/23/1951]. Seen [DATE|03/15/2011]."], key)
    assert abs((day(born) - dt.date(1951, 6, 23)).days) > 20


@given(key=KEYS)
def test_dates_of_a_patient_move_together_in_all_forms(key: Keyring) -> None:
    moved = relexed(
        [
            "Date of service: [DATE|03/14/2024]. Fall on [DATE|3/12]. Back on [DATE|the 10th]. Stay [DATE|March 4-6].",
            "Called [DATE|March 14]. Fasting since [DATE|Tuesday 3/12].",
        ],
        key,
    )
    visit = day(moved[0][0])
    fall, back = visit - dt.timedelta(2), visit - dt.timedelta(4)
    assert moved[0][1] == f"{fall.month}/{fall.day}"
    assert moved[0][2].startswith(f"the {back.day}")
    assert moved[1] == [f"{visit:%B} {visit.day}", f"{fall:%A} {fall.month}/{fall.day}"]


@pytest.mark.parametrize("words", ["Thanksgiving", "Labor Day", "Christmas Eve"])
def test_a_holiday_becomes_a_plain_day(words: str) -> None:
    ((visit, feast),) = relexed([f"Seen on [DATE|12/28/2024]. Worse since [DATE|{words}]."])
    read = parse(feast)
    assert read is not None
    assert read.exact
    assert feast.split()[0] in "January February March April May June July August September October November December"
    days = {"Thanksgiving": 30, "Labor Day": 117, "Christmas Eve": 4}[words]
    assert (day(visit) - read.near(day(visit))[0]).days in (days, days + 365, days + 366) or read.near(day(visit))[
        1
    ] == day(visit) - dt.timedelta(days)


def test_a_holiday_before_an_event_becomes_another_adjective() -> None:
    ((_, *holidays, plain),) = relexed(
        [
            "Seen [DATE|7/16/2021]. Burn from a block [DATE|4th of July] picnic, then over [DATE|Canada Day] weekend "
            "and over [DATE|Bastille Day weekend], after a [DATE|Juneteenth] parade. [DATE|July 4th] visit."
        ]
    )
    assert (holidays[0], holidays[3]) == ("annual", "annual")
    assert holidays[1].startswith("the ")
    assert holidays[2].startswith("the weekend of ")
    assert plain.split()[0] in calendar.month_name


@given(key=KEYS, birth=st.dates(dt.date(1930, 1, 1), dt.date(1970, 12, 31)))
def test_a_birthday_in_a_note_stays_the_birthday(key: Keyring, birth: dt.date) -> None:
    birthday = birth.replace(year=2019, day=min(birth.day, 28))
    birth = birth.replace(day=birthday.day)
    visit = birthday + dt.timedelta(21)
    note = f"Seen [DATE|{visit:%m/%d/%Y}]. DOB [BIRTH_DATE_TIME|{birth:%m/%d/%Y}]. Turned {visit.year - birth.year} on "
    ((_, born, moved),) = relexed([f"{note}[DATE|{birthday.month}/{birthday.day}]."], key)
    assert f"{day(born).month}/{day(born).day}" == moved


@given(key=KEYS)
def test_the_weekday_beside_a_date_and_the_years_of_a_range_stay_true(key: Keyring) -> None:
    ((visit, back, school),) = relexed(["Seen [DATE|Tue 6/14/2022]. Back [DATE|Fri 6/17]. Plan [DATE|2024-25]."], key)
    assert visit.startswith(f"Tue {day(visit[4:]).month}/")
    assert f"{day(visit[4:]):%a}" == "Tue"
    assert back.startswith("Fri ")
    assert int(school[-2:]) == int(school[:4]) % 100 + 1


@given(key=KEYS)
def test_the_ages_of_a_namesake_agree_with_the_namesakes_birth_date(key: Keyring) -> None:
    notes = [
        "Seen [DATE|09/14/2021]. DOB [BIRTH_DATE_TIME|9/28/1981]. [AGE|39M] with diabetes.",
        "Call [DATE|06/17/2022]. He is [AGE|40 yo]. The tubes are from another man, [AGE|73 yo], "
        "DOB [BIRTH_DATE_TIME|1/28/1949].",
    ]
    (seen, born, age), (call, again, other, born_before) = relexed(notes, key)
    for visit, birth, years in ((seen, born, age), (call, born, again), (call, born_before, other)):
        assert str(age_at(day(birth), day(visit))) == "".join(filter(str.isdecimal, years))
