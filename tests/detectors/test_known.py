"""Known identifiers are found in every variant, and nothing else is."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.known import KnownDetector, known_from
from incognote.nouns import Known, Text

MARIA = known_from(
    {
        "name": "María José O'Brien-López",
        "mrn": "AB-123456",
        "dob": "1950-03-04",
        "phone": "+44 20 7946 0018",
        "address": "12 Oak Tree Lane, Apt 4, Dallas, TX 75201",
        "email": "m.obrien@post.example",
    }
)
ROBERT = known_from({"patient": "Robert James Hollingsworth", "dob": "14.11.1962", "ssn": "123-45-6789"})


def found(known: tuple[Known, ...], text: str) -> set[str]:
    return {span.text for span in KnownDetector(known).detect([Text(text)])[0] if span.score >= 0.5}


def covered(known: tuple[Known, ...], text: str, words: str) -> bool:
    spans = [s for s in KnownDetector(known).detect([Text(text)])[0] if s.score >= 0.5]
    start = text.index(words)
    return all(any(s.start <= i < s.end for s in spans) for i in range(start, start + len(words)) if text[i].isalnum())


@pytest.mark.parametrize(
    "words",
    [
        "María José O'Brien-López",
        "MARIA JOSE OBRIEN LOPEZ",
        "maria jose o'brien-lopez",
        "O’Brien-López, María José",
        "Lopez, M.",
        "M. López",
        "M.J. O'Brien-Lopez",
        "López",
        "Mari\u0301a",
        "O'Brien",
    ],
)
def test_a_name_is_found_as(words: str) -> None:
    assert covered(MARIA, f"Seen today: {words} was well.", words)


@pytest.mark.parametrize(
    "words",
    [
        "Robert James Hollingsworth",
        "Hollingsworth, Robert J",
        "ROBERT HOLLINGSWORTH",
        "robert hollingsworth",
        "Robert Q. Hollingsworth",
        "R. J. Hollingsworth",
        "R Hollingsworth",
        "Hollingsworth",
        "Robert\nHollingsworth",
        "Hollingswroth",
        "Holingsworth",
        "R.J.H.",
        "11/14/1962",
        "14/11/62",
        "14 Nov 1962",
        "Nov. 14th, 1962",
        "14th of November, 1962",
        "1962-11-14",
        "19621114",
        "14NOV1962",
        "14 novembre 1962",
        "November 14",
        "123-45-6789",
        "123456789",
        "123 45 6789",
    ],
)
def test_robert_is_found_as(words: str) -> None:
    assert covered(ROBERT, f"Re: {words} as above.", words)


@pytest.mark.parametrize(
    "words",
    [
        "ab123456",
        "AB 123456",
        "020 7946 0018",
        "+44 (0)20 7946-0018",
        "0044 20 7946 0018",
        "12 oak tree lane",
        "12 Oak Tree",
        "75201",
        "M.OBrien@post.example",
        "4 March 1950",
        "3/4/50",
        "04.03.1950",
    ],
)
def test_codes_phones_addresses_and_dates_are_found_as(words: str) -> None:
    assert covered(MARIA, f"On file: {words} ok", words)


def test_a_possessive_stays_outside_the_name() -> None:
    assert found(ROBERT, "Hollingsworth's wound is dry.") == {"Hollingsworth"}


@pytest.mark.parametrize(
    "text",
    [
        "Long QT on ECG; long history. It may rain in May 2019. She will come. Will need review.",
        "may repeat in May; since May 5; 3 May",
        "long-term care, Long acting insulin",
    ],
)
def test_a_name_that_is_a_common_word_is_left_where_it_is_one(text: str) -> None:
    assert found(known_from({"name": "Will May Long"}), text) == set()


def test_a_name_that_is_a_common_word_is_found_where_it_is_a_name() -> None:
    assert covered(known_from({"name": "Will May Long"}), "Discussed with Mr. Long at length.", "Long")
    assert covered(known_from({"name": "Will May Long"}), "LONG, WILL M. seen", "LONG, WILL M")


@pytest.mark.parametrize(
    "text",
    [
        "strength 3/4, 11/14 today? FEV1 2.1",
        "1123456789 and 123-45-67890 and 123-45-678",
        "Mary saw Robin Holling and Worth.",
        "12 Oak-type cells; 9 March 1950; 4 March 1951",
    ],
)
def test_what_merely_resembles_a_known_value_is_left(text: str) -> None:
    assert found(MARIA + ROBERT, text) == set()


def test_an_age_is_not_sought() -> None:
    assert found((Known("AGE", "76"),), "76 mg, 76 years") == set()


def test_an_ambiguous_date_is_sought_both_ways() -> None:
    known = known_from({"dob": "03/04/1950"})
    assert found(known, "born 4 March 1950 or 3 April 1950") == {"4 March 1950", "3 April 1950"}


def test_a_name_without_blanks_is_found_within_its_line() -> None:
    assert found((Known("PATIENT", "王小明"),), "患者王小明今日入院") == {"王小明"}


def test_types_are_those_of_the_known_values() -> None:
    spans = KnownDetector(MARIA).detect([Text("AB123456, m.obrien@post.example, 4 March 1950")])[0]
    assert {(s.text, s.type) for s in spans} >= {
        ("AB123456", "MEDICAL_RECORD_NUMBER"),
        ("m.obrien@post.example", "EMAIL"),
        ("4 March 1950", "BIRTH_DATE_TIME"),
    }
    assert all(s.sources[0].startswith("known:") for s in spans)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("Robert Hollingsworth seen.", ["PATIENT"]),
        ("hollingsworth, robert", ["PATIENT"]),
        ("born 14.11.1962, ssn 123456789", ["BIRTH_DATE_TIME", "SSN_OR_TAXPAYER"]),
        ("Holingsworth", []),
        ("November 14", []),
        ("[PATIENT] born [DATE]", []),
    ],
)
def test_leaks_name_the_types_still_present_and_count_no_guess(text: str, types: list[str]) -> None:
    assert KnownDetector(ROBERT).leaks(text) == types


def test_a_lone_common_word_is_no_leak() -> None:
    assert KnownDetector(known_from({"name": "Will Long"})).leaks("Long stay. Will call.") == []
    assert KnownDetector(known_from({"name": "Will Long"})).leaks("Will Long left.") == ["PERSON"]


def test_nothing_known_finds_nothing() -> None:
    assert KnownDetector(()).detect([Text("Robert"), Text("")]) == [[], []]
    assert KnownDetector(()).leaks("Robert") == []


_PART = st.text(st.sampled_from("abdefgklmnoprstuvzéñøüł"), min_size=4, max_size=9).map(str.capitalize)
_AROUND = st.sampled_from(["Seen: ", "pt ", "(", "\n", "— ", "x ", "ID: ", "\U0001f3e5 "])


@given(_PART, _PART, _PART, _AROUND, st.integers(0, 9))
def test_a_known_name_inserted_in_any_variant_is_found(
    first: str, middle: str, last: str, around: str, shape: int
) -> None:
    variant = [
        f"{first} {middle} {last}", f"{first} {last}", f"{last}, {first}",
        f"{last.upper()}, {first.upper()} {middle[0].upper()}.",
        f"{first[0]}. {last}", f"{first} {middle[0]}. {last}", f"{first.lower()} {last.lower()}", f"{first}\n{last}",
        f"{last} {first}", f"{first[0]}.{middle[0]}. {last}",
    ][shape]  # fmt: skip
    text = f"{around}{variant} ok"
    assert covered((Known("PATIENT", f"{first} {middle} {last}"),), text, variant)


@given(st.dates(date(1900, 1, 1), date(2030, 12, 31)), st.integers(0, 9), _AROUND)
def test_a_known_day_inserted_in_any_form_is_found(day: date, shape: int, around: str) -> None:
    month = day.strftime("%B")
    written = [
        day.isoformat(), f"{day.month}/{day.day}/{day.year}", f"{day.day:02}.{day.month:02}.{day.year}", 
        day.strftime("%m/%d/%y"),
        f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}", f"{day.day}-{month[:3]}-{day.year}", 
        f"{month} {day.day}", day.strftime("%Y%m%d"), f"{day.day}{month[:3].upper()}{day.year}",
    ][shape]  # fmt: skip
    assert covered((Known("DATE", day.isoformat()),), f"{around}{written} ok", written)


@given(
    st.text(st.sampled_from("0123456789"), min_size=6, max_size=12),
    st.integers(1, 5),
    st.sampled_from(["-", " ", ".", "/", ""]),
)
def test_a_known_number_is_found_with_any_separator(digits: str, cut: int, separator: str) -> None:
    written = digits[:cut] + separator + digits[cut:]
    assert covered((Known("MEDICAL_RECORD_NUMBER", digits),), f"MRN {written} ok", written)


@given(st.text(), st.text(min_size=1, max_size=20))
def test_any_text_and_any_known_value_give_spans_within_the_text(content: str, value: str) -> None:
    for kind in ("PATIENT", "DATE", "TELEPHONE_NUMBER", "ADDRESS", "GUID", "HOSPITAL", "EMAIL"):
        detector = KnownDetector((Known(kind, value),))
        spans = detector.detect([Text(content)])[0]
        assert all(0 <= s.start < s.end <= len(content) for s in spans)
        assert detector.leaks("") == []
