"""What goes with a removed name, number, or date because who sees the rest may guess the whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.formats.images.page import text_of
from incognote.formats.images.whole import address_lines, widened
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
    assert [text[a:b] for a, b in address_lines(placed, removed)] == ["Netherby"]
    assert not list(address_lines(placed, removed[:1])), "what is below it stays"


@given(text=st.text(st.sampled_from("Aa1 .,\n-"), min_size=1, max_size=40), data=st.data())
def test_spans_grow_and_stay_disjoint_and_in_order(text: str, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    kinds = data.draw(st.lists(st.sampled_from(["PATIENT", "DATE", "CITY", "GUID"]), min_size=3, max_size=3))
    source = Text(text, "body")
    spans = [Span(source, a, b, kind) for a, b, kind in zip(ends[::2], ends[1::2], kinds, strict=False)]
    found = widened(text, spans)
    assert [each.type for each in found] == [each.type for each in spans]
    assert all(new.start <= old.start and old.end <= new.end for old, new in zip(spans, found, strict=True))
    assert all(one.end <= two.start for one, two in pairwise(found))
