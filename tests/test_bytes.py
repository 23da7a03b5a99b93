"""Bytes outside the spans never change, and offsets are correct, for any possible text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote import Deidentifier, Result

DEID = Deidentifier()
PHI = st.sampled_from(
    [
        "Dr. Nguyễn Thị Hoa",
        "Mr. John O'Brien",
        "03/04/2025",
        "(415) 555-0199",
        "jo@x.example",
        "MRN: 44120977",
        "76 years old",
    ]
)
NOISE = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    ["\r\n", "\x00", "e\u0301", "👩🏽‍⚕️", "עברית", "\ud800", " ", "\u2028", "ﬁ"]
)
TEXTS = st.lists(PHI | NOISE, max_size=8).map("".join)


def check(source: str, made: str, result: Result, field: str = "") -> None:
    """Inserting the replacements into the source gives the output text."""
    at = out = 0
    for r in sorted((r for r in result.replacements if r.span.field == field), key=lambda r: r.span.start):
        assert source[at : r.span.start] == made[out : r.out_start]
        assert made[r.out_start : r.out_end] == r.text
        assert source[r.span.start : r.span.end] == r.span.text
        at, out = r.span.end, r.out_end
    assert source[at:] == made[out:]


@given(TEXTS)
def test_a_note_keeps_its_bytes_outside_the_spans(text: str) -> None:
    result = DEID.deidentify(text)
    check(text, result.output(even_if_unreleased=True), result)


@given(TEXTS, st.booleans())
def test_a_record_keeps_its_bytes_outside_the_spans(text: str, ascii_only: bool) -> None:
    raw = json.dumps({"dataType": "clinicalRecord", "note": text}, ensure_ascii=ascii_only)
    result = DEID.deidentify(raw, data_type="clinicalRecord")
    made = json.loads(result.output(even_if_unreleased=True))
    check(text, made["note"], result, "note")


@pytest.mark.parametrize(
    "text", ["Dr. Abara\r\nDr. Abara", "\ud800 Dr. Abara \udfff", "e\u0301 Dr. Abara", "\x00Dr. Abara\x00"]
)
def test_line_ends_and_odd_code_points_survive(text: str) -> None:
    assert DEID.deidentify(text).text == text.replace("Abara", "[PERSON]")
