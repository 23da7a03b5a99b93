"""What goes with a removed name, number, or date because who sees the rest may guess the whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.formats.images.page import text_of
from incognote.formats.images.whole import lines_between, widened
from incognote.nouns import Span, Text
from incognote.pages.nouns import Word


def gone(text: str, *found: tuple[str, str]) -> list[str]:
    """What goes if the parts of a text, with their types, are removed."""
    source = Text(text, "body")
    spans = [Span(source, text.index(part), text.index(part) + len(part), kind) for part, kind in found]
    return [each.text for each in widened(text, spans)]


@pytest.mark.parametrize(
    ("text", "found", "whole"),
    [
        ("ICU\nCape Merrow District Hospital\nHR", ("Merrow District", "HOSPITAL"), "Cape Merrow District Hospital"),
        ("Dunes Pathology (Pty) Ltd", ("Dunes Pathology", "ORGANIZATION"), "Dunes Pathology (Pty) Ltd"),
        ("insured by Graf von Quastenberg, for", ("Quastenberg", "PATIENT"), "Graf von Quastenberg"),
        ("List: LI, Wen-Hui was seen today again", ("Wen-Hui", "PATIENT"), "LI, Wen-Hui"),
        ("overnight. Retired court stenographer, lives", ("court stenographer", "OCCUPATION"),
         "Retired court stenographer"),
        ("ring 01978 555 310 if nosebleeds", ("01978", "TELEPHONE_NUMBER"), "01978 555 310"),
        ("call 021 555 0046. Chest", ("555 0046", "TELEPHONE_NUMBER"), "021 555 0046"),
        ("Pump SN 44-190772 in use", ("44-190772", "DEVICE_ID"), "SN 44-190772"),
        ("Radiology, NM lic. MD2016-0553", ("MD2016-0553", "LICENSE_NUMBER"), "NM lic. MD2016-0553"),
        ("at Barlovento Salud Dental S.L.P., CIF B 1, we see you and you and you and you", ("Salud Dental S.L.P.",
         "ORGANIZATION"), "Barlovento Salud Dental S.L.P."),
        ("return by 1 Dec.", ("Dec", "DATE"), "1 Dec"),
        ("Sun 30 Nov at home", ("Sun", "DATE"), "Sun 30 Nov"),
    ],
)  # fmt: skip
def test_the_rest_of_a_name_number_or_date_goes(text: str, found: tuple[str, str], whole: str) -> None:
    assert gone(text, found) == [whole]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Patient: Jane Roe   Ward 5", ("Jane Roe", "PATIENT")),
        ("seen by Roe and discharged home", ("Roe", "CLINICIAN")),
        ("Roe, with cough", ("Roe", "PATIENT")),
        ("Hb 4471 and 12.5 g", ("4471", "MEDICAL_RECORD_NUMBER")),
        ("MRN: 448123 metoprolol 50 mg", ("448123", "MEDICAL_RECORD_NUMBER")),
        ("3 May   5 mg", ("3 May", "DATE")),
    ],
)
def test_labels_usual_words_and_measures_stay(text: str, found: tuple[str, str]) -> None:
    assert gone(text, found) == [found[0]]


def test_a_cell_ends_at_the_next_cell_and_line() -> None:
    assert gone("Merrow Sound   Zzyx\nQwxy", ("Merrow Sound", "CITY")) == ["Merrow Sound"]


def test_a_line_between_two_removed_lines_of_an_address_goes() -> None:
    rows = ["Mrs Roe", "Netherby", "AM11 2DP", "Diagnosis"]
    beside = ["NHS 612", "Clinic date", "17/10", "Migraine"]
    words = [
        Word(text, (x, 30 * at, x + 90, 30 * at + 20), 0.9, line=2 * at + (x > 0))
        for at, pair in enumerate(zip(rows, beside, strict=True)) for x, text in ((0, pair[0]), (400, pair[1]))
    ]  # fmt: skip
    text, placed, _ = text_of(words, [])
    removed = [(text.index(part), text.index(part) + len(part), group)
               for part, group in (("Mrs Roe", "PERSON"), ("AM11 2DP", "LOCATION"), ("17/10", "DATE"))]  # fmt: skip
    assert [(text[a:b], kind) for a, b, kind in lines_between(placed, removed)] == [("Netherby", "ADDRESS")]
    assert not list(lines_between(placed, removed[:1])), "what is below it stays"


@pytest.mark.parametrize(
    ("rows", "group", "left"),
    [
        (["Okafor J", "LiW-H", "Singh-Barr K"], "PERSON", [("LiW-H", "PERSON")]),
        (["57 y", "66 y", "45 y"], "AGE", [("66 y", "AGE")]),
        (["Okafor J", "Consultant", "Singh-Barr K"], "PERSON", []),
        (["57 y", "mmol", "45 y"], "AGE", []),
    ],
)
def test_a_name_or_age_between_two_others_of_a_list_goes(
    rows: list[str], group: str, left: list[tuple[str, str]]
) -> None:
    words = [Word(row, (40, 50 * at, 160, 50 * at + 20), 0.9, line=at) for at, row in enumerate(rows)]
    text, placed, _ = text_of(words, [])
    removed = [(text.index(row), text.index(row) + len(row), group) for row in (rows[0], rows[2])]
    assert [(text[a:b], kind) for a, b, kind in lines_between(placed, removed)] == left


@pytest.mark.parametrize(
    ("text", "found", "left"),
    [
        ("41 Tanner's Row   Hospital No", ("41 Tanner's Row   Hospital No", "ADDRESS"), "41 Tanner's Row"),
        ("Cama   312-1", ("Cama   312-1", "ROOM"), "312-1"),
        ("Roe   Hospital No", ("Roe   Hospital No", "PATIENT"), "Roe"),
        ("Jane\nDate of birth:", ("Jane\nDate of birth:", "PATIENT"), "Jane"),
        ("+44 4471 0046\nmedicines", ("+44 4471 0046\nmedicines", "TELEPHONE_NUMBER"), "+44 4471 0046"),
    ],
)
def test_a_label_or_usual_words_in_another_cell_stay(text: str, found: tuple[str, str], left: str) -> None:
    assert gone(text, found) == [left]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("Obadiah\nWren", "PATIENT"), ("PIKES GAP\nSUMMER HILL", "CITY"), ("14   March", "DATE"),
     ("Shivtej   Hospital", "HOSPITAL")],
)  # fmt: skip
def test_words_in_another_cell_that_may_be_of_the_value_go(text: str, kind: str) -> None:
    assert gone(text, (text, kind)) == [text]


def test_the_rest_of_a_line_goes_if_most_of_it_was_not_read_or_is_a_title() -> None:
    text = "BKK Zzxyqua Nord"
    span = Span(Text(text, "body"), 0, 3, "ORGANIZATION")
    assert [each.text for each in widened(text, [span], [(4, 11)])] == [text]
    assert [each.text for each in widened(text, [span])] != [text]
    assert gone("Dr. med. Folkert Ihnen", ("Folkert", "CLINICIAN")) == ["Folkert Ihnen"]


@given(text=st.text(st.sampled_from("Aa1 .,\n-"), min_size=1, max_size=40), data=st.data())
def test_spans_stay_disjoint_and_in_order(text: str, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    kinds = data.draw(st.lists(st.sampled_from(["PATIENT", "DATE", "CITY", "GUID"]), min_size=3, max_size=3))
    source = Text(text, "body")
    spans = [Span(source, a, b, kind) for a, b, kind in zip(ends[::2], ends[1::2], kinds, strict=False)]
    found = widened(text, spans)
    assert [each.type for each in found] == [each.type for each in spans]
    assert all(new.start < old.end and old.start < new.end for old, new in zip(spans, found, strict=True))
    assert all(one.end <= two.start for one, two in pairwise(found))
