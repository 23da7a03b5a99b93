"""Known identifiers are found in every variant, and nothing else is found."""

from __future__ import annotations

import tracemalloc
from datetime import date

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.agents.detection import TextView, detected
from incognote.detectors.known import KnownDetector, known_from
from incognote.errors import UnknownName
from incognote.nouns import Known, Span, Text

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


def sought(known: tuple[Known, ...], text: str) -> list[Span]:
    view = TextView.of(Text(text))
    spans, fragments = detected([view], KnownDetector(known).detect)
    return [*view.original(spans[0]), *fragments[0]]


def leaks(known: tuple[Known, ...], text: str) -> list[str]:
    return KnownDetector(known).leaks(TextView.of(Text(text)).seen.content)


def found(known: tuple[Known, ...], text: str) -> set[str]:
    return {span.text for span in sought(known, text) if span.score >= 0.5}


def covered(known: tuple[Known, ...], text: str, words: str) -> bool:
    spans = [s for s in sought(known, text) if s.score >= 0.5]
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


PLUGH = known_from({"name": "Zyxqwert Plughfoo"})
MRN = known_from({"mrn": "12345678"})


@pytest.mark.parametrize(
    "words",
    [
        "Plugh\u00adfoo",
        "Plugh\u200bfoo",
        "Plugh\u200cfoo",
        "Plugh\u200dfoo",
        "Plugh\u2060foo",
        "Plugh\ufefffoo",
        "Plugh-\nfoo",
        "Plugh-\r\n  foo",
        "Plugh\u00ad\nfoo",
        "Plugh-foo",
        "Plugh\nfoo",
        "zyxqwertplughfoo",
        "PlughfooZyxqwert",
        "Zyxqwert\u200bPlughfoo",
        "Zyx\u00adqwert\u200bPlugh-\nfoo",
        "Zyx-qwert Plugh-foo",
    ],
)
def test_a_name_broken_by_what_prints_nothing_or_by_a_wrap_is_found_whole_and_leaks(words: str) -> None:
    text = f"— {words} said\u200b so"
    assert covered(PLUGH, text, words)
    assert all(s.end <= 2 + len(words) and s.start >= 2 for s in sought(PLUGH, text))
    assert leaks(PLUGH, text) == ["PERSON"]


def test_the_span_of_a_broken_name_covers_the_original_stretch() -> None:
    assert "Plugh\u00adfoo" in found(PLUGH, "a\u200bb Plugh\u00adfoo said")
    assert "Plugh-\nfoo" in found(PLUGH, "self-\nmade Plugh-\nfoo said")


@pytest.mark.parametrize(
    "words",
    ["1234\n5678", "1234\r\n  5678", "12345678.5", "12,345,678", "12345678,", "1234\u200b5678", "12345678,90"],
)
def test_a_number_broken_by_a_wrap_a_comma_or_what_prints_nothing_is_found_and_leaks(words: str) -> None:
    assert covered(MRN, f"MRN {words} ok", words.removesuffix(".5").removesuffix(",90"))
    assert leaks(MRN, f"MRN {words} ok") == ["MEDICAL_RECORD_NUMBER"]


@pytest.mark.parametrize(
    "text", ["912345678", "123456789", "9,12,345,678", "12,345,678,9", "1234\n56789", "12\n34\n56\n79"]
)
def test_a_number_within_a_longer_one_is_neither_found_nor_a_leak(text: str) -> None:
    assert found(MRN, text) == set()
    assert leaks(MRN, text) == []


@pytest.mark.parametrize("text", ["Zyxqwert | Plughfo o", "Z y x q w e r t  P l u g h f o o", "drzyxqwertplughfoo2"])
def test_a_full_name_among_the_letters_alone_leaks(text: str) -> None:
    assert leaks(PLUGH, text) == ["PERSON"]


def test_a_code_among_the_letters_and_digits_alone_leaks() -> None:
    assert leaks(MRN, "MRN 1 2 3 | 4 5 6 : 7 8") == ["MEDICAL_RECORD_NUMBER"]


def test_words_that_run_on_into_a_name_are_no_leak() -> None:
    known = KnownDetector(known_from([{"name": "Ann Other"}, {"name": "Mark Grant"}]))
    assert known.leaks("Joann otherwise well. At the mark.\n\n    Grant given.") == []


def test_ordinary_words_side_by_side_are_no_name_cut_in_two() -> None:
    assert found(known_from({"name": "Jane Blackburn"}), "a black\nburn on the arm") == set()
    assert covered(known_from({"name": "Jane Blackburn"}), "seen by Black-\nburn today", "Black-\nburn")


def test_a_known_value_that_itself_holds_what_prints_nothing_is_found() -> None:
    assert found(known_from({"name": "Zyxqwert Plugh\u00adfoo"}), "Plughfoo said") == {"Plughfoo"}


_BREAKS = st.sampled_from(["", "\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "-\n", "\u00ad\n", "\u200b-\r\n "])


@given(
    st.lists(_BREAKS, min_size=7, max_size=7),
    st.text(st.characters(), max_size=12),
    st.text(st.characters(), max_size=12),
)
def test_a_name_broken_anywhere_is_covered_from_its_first_letter_to_its_last(
    breaks: list[str], before: str, after: str
) -> None:
    words = "".join(letter + cut for letter, cut in zip("Plughfo", breaks, strict=True)) + "o"
    text = f"{before} {words} {after}"
    start = len(before) + 1
    spans = sought(PLUGH, text)
    assert any(s.start <= start and s.end >= start + len(words) for s in spans)
    assert "PERSON" in leaks(PLUGH, text)


ODD = st.lists(
    st.one_of(
        st.sampled_from(["Za Az", "1919"]),
        st.text(st.sampled_from("aZ19-\n\r ,.\u00ad\u200b\ufeff\x00\ud800\u0301ß፩²İ")),
    ),
    max_size=12,
).map("".join)
ODDLY_KNOWN = PLUGH + MRN + ROBERT + known_from({"name": "Za Az", "mrn": "1919", "dob": "1919-09-01"})


def test_the_drawn_texts_hold_known_values() -> None:
    known = KnownDetector(ODDLY_KNOWN)
    text = hypothesis.find(ODD, lambda text: bool(known.detect([Text(text)])[0]))
    assert known.detect([Text(text)])[0]


@given(ODD)
def test_surrogates_nul_and_odd_digits_among_breaks_raise_nothing(text: str) -> None:
    known = KnownDetector(ODDLY_KNOWN)
    known.leaks(text)
    for span in known.detect([Text(text)])[0]:
        assert text[span.start].isalnum()
        assert span.text == text[span.start : span.end]


@pytest.mark.parametrize("unit", ["zyxqwertplughfoo", "plugh-\n", "plugh\u00ad"])
def test_a_word_without_end_is_no_misspelling_and_fits_the_memory(unit: str) -> None:
    spans = KnownDetector(PLUGH).detect([Text(unit * 4000)])[0]
    assert not [s for s in spans if "known:misspelt" in s.sources and len(s.text) > len("plughfoo") + 2]


@pytest.mark.parametrize("token", ["ptplughfooscan", "xxplughfoo", "Plughfoo's", "PLUGHFOOX"])
def test_a_known_name_inside_a_token_that_is_no_word_takes_the_whole_token_and_leaks(token: str) -> None:
    assert covered(PLUGH, f"file {token} sent", token.removesuffix("'s"))
    assert leaks(PLUGH, f"file {token} sent") == ["PERSON"]


def test_a_short_known_name_inside_a_token_is_a_doubt_and_inside_a_word_nothing() -> None:
    ross = known_from({"name": "Ann Ross"})
    (doubt,) = sought(ross, "file ptrossscan sent")
    assert (doubt.text, doubt.score < 0.5) == ("ptrossscan", True)
    assert leaks(ross, "file ptrossscan sent") == []
    assert sought(ross, "walks across the room, an embossed card") == []


DISGUISED = known_from(
    {"name": "Cornelia Schwarzkopf", "dob": "26 February 1974", "mrn": "7031856", "phone": "929-555-0144",
     "email": "marlow_finch@seaholly.example"}
)  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        "C0rnelia 5chwarzk0pf",
        "(Corne) -20 (lia) 15 (Schwarz) 7 (kopf)",
        "C orne lia Schw arz ko pf",
        "Schwarz kopf",
        "929`-**555**-~~0144~~",
        "nine two nine, five five five, zero one four four",
        "nine two nine, triple five, oh one double four",
        "7O3lB56",
        "seventy, three one eight fifty-six",
        "oh two slash twenty-six slash seventy-four",
        "26|02|1974",
        "marlow underscore finch at sea holly dot example",
    ],
)
def test_a_disguised_value_is_found_by_its_letters_and_digits_alone(words: str) -> None:
    assert covered(DISGUISED, f"On file: {words} as noted.", words)


@pytest.mark.parametrize(
    "text",
    [
        "Sodium 138, potassium 4.1, glucose 92 and 95 and 55 at 01:44.",
        "7 units at 03:18, 56 mg later; seven of three visits, one of eight, fifty-six in all.",
        "Two of twenty-six had 74 points.",
    ],
)
def test_numbers_and_words_of_a_note_are_no_disguise(text: str) -> None:
    assert not found(DISGUISED, text)


def test_an_initial_behind_a_known_name_in_the_name_of_a_file_is_covered() -> None:
    known = known_from({"name": "Norman Sutcliffe"})
    assert covered(known, "see RETINA_SutcliffeNormanB_OD.tif", "SutcliffeNormanB")
    assert not covered(known, "Norman Sutcliffe B cells", "Norman Sutcliffe B")


def test_a_known_code_of_letters_and_six_digits_glued_to_words_is_found() -> None:
    known = known_from({"mrn": "TRK6620918"})
    assert covered(known, "CardmemberIDTRK6620918Group dental", "TRK6620918")
    assert not leaks(known, "CardmemberIDTRK66209181 dental")


def test_a_value_of_an_unknown_type_is_refused() -> None:
    with pytest.raises(UnknownName, match="HEALTH_PLAN_NUMBER"):
        KnownDetector([Known("HEALTH_PLAN_NUMBER", "ZP449071B")])


def test_an_endless_name_is_found_as_written_and_does_not_fill_the_memory() -> None:
    """A name of 3,000 letters in a structured field had 4.5 million misspellings of 3,000 letters each."""
    endless = "Q" + "wertzuio" * 50
    known = (*known_from({"name": endless}), Known("PERSON", "Hollingsworth"))
    found(ROBERT, "Mr. Holingsworth came.")  # loads the word lists
    tracemalloc.start()
    try:
        assert endless in found(known, f"Seen with {endless} today.")
        assert found(known, "Mr. Holingsworth and Hol-\nlingsworth came.") == {"Holingsworth", "Hol-\nlingsworth"}
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_name_before_its_address_in_angle_brackets_ends_before_the_bracket() -> None:
    text = "On Monday, Jane Doe <jane.doe@clinic.example> wrote:"
    [spans] = KnownDetector([Known("PERSON", "Doe, Jane")]).detect([Text(text)])
    assert {"Jane Doe", "jane.doe"} <= {span.text for span in spans}
    assert not any("<" in span.text for span in spans)
