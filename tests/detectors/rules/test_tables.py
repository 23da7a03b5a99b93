"""Cells are classified by their column header."""

from __future__ import annotations

import pytest

from incognote.detectors.rules import tables
from incognote.detectors.rules.view import View
from incognote.nouns import Text

SCHEDULE = """\
Time  | Patient           | Age  | MRN     | Phone        | Reason
------|-------------------|------|---------|--------------|-------
08:00 | Begaye, Thomasina | 67   | 3009121 | 928-555-0101 | DM f/u
10:00 | Brown, Baby Girl  | 11 d | 3012903 | none         | wt ck
"""


def found(text):
    return [(c.type, text[c.start : c.end]) for c in tables.finder()(View(Text(text)))]


def test_the_cells_of_a_schedule_are_what_their_headers_say():
    assert found(SCHEDULE) == [
        ("PATIENT", "Begaye, Thomasina"),
        ("AGE", "67"),
        ("MEDICAL_RECORD_NUMBER", "3009121"),
        ("TELEPHONE_NUMBER", "928-555-0101"),
        ("PATIENT", "Brown, Baby Girl"),
        ("AGE", "11 d"),
        ("MEDICAL_RECORD_NUMBER", "3012903"),
    ]


def test_a_markdown_table_with_outer_bars_is_one_too():
    header = "| # | Name | Age/Sex | MR No. | Bed |\n|---|---|---|---|---|\n"
    text = header + "| 1 | Gul Zameen S/O Noor | 70/M | 24-01499 | M-19 |\n"
    assert found(text) == [
        ("PERSON", "Gul Zameen"),
        ("AGE", "70"),
        ("MEDICAL_RECORD_NUMBER", "24-01499"),
        ("ROOM", "M-19"),
    ]


@pytest.mark.parametrize("delimiter", ["\t", ",", "|"])
def test_columns_are_told_by_tabs_commas_and_bars(delimiter):
    text = delimiter.join(["MRN", "DOB", "Dx"]) + "\n" + delimiter.join(["4471", "1/2/1950", "CHF"]) + "\n"
    assert found(text) == [("MEDICAL_RECORD_NUMBER", "4471"), ("BIRTH_DATE_TIME", "1/2/1950")]


def test_a_list_of_drugs_has_a_name_column_and_no_person():
    assert found("Name | Dose | Route\nLasix | 40 mg | PO\nHeparin | 5000 | SC\n") == []


def test_a_table_ends_with_a_line_that_is_none():
    assert found("Age | MRN | Dx\n67 | 4471 | CHF\nwell then\n67 | 4471 | CHF\n") == [
        ("AGE", "67"),
        ("MEDICAL_RECORD_NUMBER", "4471"),
    ]


@pytest.mark.parametrize(
    "text", ["", "|", "|||||", "age|age|age|age", "a,b,c,d,e", "67 | 4471 | CHF | x | y", ",\n,\n,\n,,,,"]
)
def test_a_text_without_a_table_has_no_cells(text):
    assert found(text) == []
