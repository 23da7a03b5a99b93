"""The document sweep finds the same words again, unless their context gives them another meaning."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incognote.align.sweep import sweep
from incognote.nouns import Span, Text

COMMON = {"long", "gray", "young", "will", "may", "rose", "general", "hospital"}


def common(word: str) -> bool:
    return word in COMMON


def again(content: str, words: str, type_: str = "PATIENT", score: float = 0.8) -> list[str]:
    """Return what the sweep finds when only the first occurrence of `words` was detected."""
    text = Text(content)
    start = content.index(words)
    found = Span(text, start, start + len(words), type_, score)
    return [span.text for span in sweep(text, [found], common)]


@pytest.mark.parametrize(
    ("content", "words", "swept"),
    [
        ("Darlene came. Later Darlene left.", "Darlene", ["Darlene"]),
        ("Darlene came. DARLENE left, darlene's son too.", "Darlene", ["DARLENE", "darlene"]),
        ("Ms. Villaseñor's dtr. MRS VILLASEÑOR ate.", "Villaseñor's", ["VILLASEÑOR"]),
        ("Dennis Ramaswamy\nThe plan for Dennis\nRamaswamy", "Dennis Ramaswamy", ["Dennis\nRamaswamy"]),
        ("LONG, DENNIS R. ... Dennis R. Long, Dennis Long", "LONG, DENNIS R.", ["Dennis R. Long", "Dennis Long"]),
        ("Dennis R. Long ... Long, Dennis", "Dennis R. Long", ["Long, Dennis"]),
        ("Kendra Long-Pruitt; Mrs Long\u2011Pruitt", "Kendra Long-Pruitt", ["Long\u2011Pruitt"]),
        ("Niamh O'Brien, ms o’brien", "Niamh O'Brien", ["o’brien"]),
        ("Ann Lee. Ann came, ANN too, no ann", "Ann", ["Ann"]),
    ],
)
def test_a_name_is_found_again_in_its_other_shapes(content: str, words: str, swept: list[str]) -> None:
    assert again(content, words) == swept


def test_a_part_of_a_full_name_is_found_where_it_is_capitalised() -> None:
    assert again("Temitope Oyelaran, MD. OYELARAN saw him; Temitope too; oyelaran not", "Temitope Oyelaran") == [
        "OYELARAN",
        "Temitope",
    ]


def test_a_part_that_is_a_common_word_or_too_short_is_not_found() -> None:
    assert again("Bo Gray. Gray matter intact. Bo2 gray", "Bo Gray") == []


def test_without_a_word_list_no_part_is_found() -> None:
    text = Text("Temitope Oyelaran. Oyelaran signed. Temitope Oyelaran")
    assert [s.text for s in sweep(text, [Span(text, 0, 17, "CLINICIAN")])] == ["Temitope Oyelaran"]


@pytest.mark.parametrize(
    ("sentence", "swept"),
    [
        ("seen by Long today", ["Long"]),
        ("Long denies pain", ["Long"]),
        ("Long acting insulin", []),
        ("long QT on sotalol", []),
        ("history of Long QT", []),
        ("moved to Long Beach", []),
        ("for Long-Term Care", []),
        ("LONG BONE SURVEY", []),
    ],
)
def test_a_surname_that_is_a_common_word_is_found_only_where_it_stands_like_a_name(
    sentence: str, swept: list[str]
) -> None:
    assert again(f"Mr. Long came. {sentence}.", "Long") == swept


@pytest.mark.parametrize(
    "phrase",
    ["Foley catheter", "Foley's disease", "Foley-Smith syndrome", "Foley coma scale", "angle of Foley", "Foley\nscore",
     "FOLEY CATHETER"],
)  # fmt: skip
def test_a_name_that_stands_for_a_disease_or_device_is_not_swept(phrase: str) -> None:
    assert again(f"Mr. Foley came. A {phrase} was noted.", "Foley") == []


@pytest.mark.parametrize("phrase", ["Foley's catheter", "Foley\nTest results", "for Foley, catheter removed"])
def test_a_name_beside_a_device_that_is_only_his_is_swept(phrase: str) -> None:
    assert again(f"Mr. Foley came. {phrase}", "Foley") == ["Foley"]


def test_a_full_name_before_a_device_is_the_person() -> None:
    assert again("Dana Foley. Dana Foley catheter care", "Dana Foley") == ["Dana Foley"]


@pytest.mark.parametrize(("type_", "words"), [("AGE", "76"), ("DATE", "2016"), ("ZIP", "44993"), ("ROOM", "512B")])
def test_bare_numbers_are_never_swept(type_: str, words: str) -> None:
    assert again(f"{words} then {words} mg and {words}.", words, type_) == []


def test_a_number_of_five_characters_is_swept_and_one_of_four_is_not() -> None:
    assert again("MRN 88412, labels 88412 / 88412", "88412", "MEDICAL_RECORD_NUMBER") == ["88412", "88412"]
    assert again("MRN 8841, labels 8841", "8841", "MEDICAL_RECORD_NUMBER") == []


@pytest.mark.parametrize("measure", ["88412 mg", "88412mL", "88412 years", "88412%", "88412.5", "3,88412", "88412/40"])
def test_a_short_number_that_is_a_measurement_is_not_swept(measure: str) -> None:
    assert again(f"MRN 88412. Count {measure} noted", "88412", "MEDICAL_RECORD_NUMBER") == []


def test_a_number_is_found_without_its_separators() -> None:
    assert again("MR# M 440 19 76; file M4401976, m 440\n19 76", "M 440 19 76", "MEDICAL_RECORD_NUMBER") == [
        "M4401976",
        "m 440\n19 76",
    ]


def test_a_phone_number_is_found_however_grouped() -> None:
    content = "Tel (330) 555-0142; 330.555.0142, 3305550142, (330) 555 0142, not 330 555 0143, not 0142"
    assert again(content, "(330) 555-0142", "TELEPHONE_NUMBER") == ["330.555.0142", "3305550142", "(330) 555 0142"]


def test_an_extension_is_not_swept() -> None:
    assert again("pager 4471. Glucose 4471", "4471", "TELEPHONE_NUMBER") == []


def test_organisations_and_addresses_are_swept_whole_and_never_by_a_part() -> None:
    assert again("Harbor Pines Clinic; HARBOR PINES CLINIC; Harbor", "Harbor Pines Clinic", "HOSPITAL") == [
        "HARBOR PINES CLINIC"
    ]
    assert again("at 4410 Quarry Rd, from 4410\nQUARRY RD on Quarry", "4410 Quarry Rd", "STREET") == ["4410\nQUARRY RD"]


def test_an_institution_of_common_words_is_swept_with_its_capitals_only() -> None:
    assert again("General Hospital. At General Hospital, in a general hospital", "General Hospital", "HOSPITAL") == [
        "General Hospital"
    ]


def test_a_doubt_is_not_repeated() -> None:
    assert again("Darlene and Darlene", "Darlene", score=0.49) == []


def test_words_across_a_blank_line_or_another_sentence_are_not_one_name() -> None:
    assert again("Rose Young saw Rose\n\nYoung, Rose. Young", "Rose Young") == ["Young, Rose"]
    assert again("Dana Young: asked Dana. Young age", "Dana Young") == ["Dana"]


def test_a_swept_span_bears_type_score_and_the_source_sweep() -> None:
    text = Text("Dr. Haddad, later Haddad", "note")
    (new,) = sweep(text, [Span(text, 4, 10, "CLINICIAN", 0.77, ("rules:names.titles",))], common)
    assert (new.type, new.score, new.sources, new.field, new.start) == ("CLINICIAN", 0.77, ("sweep",), "note", 18)


def test_a_name_two_people_share_takes_the_type_that_stands_first_in_the_table() -> None:
    text = Text("Dana Okafor and Dr. Bo Okafor. Okafor left.")
    found = [Span(text, 0, 11, "PATIENT", 0.6), Span(text, 20, 29, "CLINICIAN", 0.9)]
    assert [(s.text, s.type) for s in sweep(text, found, common)] == [("Okafor", "PATIENT")]
    assert sweep(text, found, common) == sweep(text, found[::-1], common)


def test_nothing_is_swept_inside_a_given_span() -> None:
    text = Text("Mary Lund at St. Mary Clinic, then Mary")
    found = [Span(text, 0, 9, "PATIENT"), Span(text, 13, 28, "HOSPITAL")]
    assert [s.start for s in sweep(text, found, common)] == [35]


def test_a_combining_mark_belongs_to_its_word() -> None:
    decomposed = unicodedata.normalize("NFD", "José")
    assert again(f"Jose came, {decomposed} came, Jose left", "Jose") == ["Jose"]
    assert again(f"{decomposed} came, Jose came, {decomposed} left", decomposed) == [decomposed]


def test_names_in_other_scripts_are_swept() -> None:
    assert again("المريضة ليلى حداد. حضرت ليلى حداد اليوم", "ليلى حداد") == ["ليلى حداد"]
    assert again("Пациент Иванов. ИВАНОВ жалуется", "Иванов") == ["ИВАНОВ"]


ALPHABET = st.one_of(
    st.characters(), st.sampled_from("AaLlIiİıßſΣσς éÉ\u0301\u0327 \r\n\t\x00-'’.,()5٣7%_\ud800\U0001f600\u200f漢"),
)  # fmt: skip
WORDS = st.sampled_from(["Anna", "LIND", "lind", "o'brien", "555", "0142", "88412", "İpek", "Weiß", "\r\n", "disease"])
TEXT = st.lists(st.one_of(st.text(ALPHABET, max_size=5), WORDS), min_size=1, max_size=30).flatmap(
    lambda parts: st.sampled_from([" ".join(parts), "".join(parts)])
)


@st.composite
def found_in_text(draw: st.DrawFn) -> tuple[Text, list[Span]]:
    content = draw(TEXT.filter(bool))
    text, spans = Text(content), []
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(content) - 1))
        end = draw(st.integers(start + 1, min(len(content), start + 20)))
        type_ = draw(st.sampled_from(["PATIENT", "HOSPITAL", "STREET", "GUID", "TELEPHONE_NUMBER", "USERNAME", "DATE"]))
        spans.append(Span(text, start, end, type_, draw(st.sampled_from([0.4, 0.9]))))
    return text, spans


def letters(words: str) -> set[str]:
    return {c for c in words.lower() if c.isalnum()}


@given(found_in_text())
@example((Text("İpek x İPEK"), [Span(Text("İpek x İPEK"), 0, 4, "PATIENT")]))
def test_swept_spans_are_disjoint_new_and_made_of_words_that_were_found(case: tuple[Text, list[Span]]) -> None:
    text, found = case
    new = sweep(text, found, lambda word: False)
    assert all(a.end <= b.start for a, b in pairwise(new))
    for span in new:
        assert not any(f.start <= span.start and span.end <= f.end for f in found)
        assert any(letters(span.text) <= letters(f.text) for f in found if f.score >= 0.5 and f.type != "DATE")


@given(found_in_text().flatmap(lambda case: st.tuples(st.just(case), st.permutations(case[1]))))
def test_the_sweep_does_not_depend_on_the_order_of_the_spans(
    both: tuple[tuple[Text, list[Span]], list[Span]]
) -> None:
    (text, found), shuffled = both
    assert sweep(text, found, common) == sweep(text, shuffled, common)
