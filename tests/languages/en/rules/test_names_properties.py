"""Properties of the finders' offsets that hold for any text."""

from __future__ import annotations

from itertools import pairwise

import hypothesis
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incognote.detectors.rules.view import View
from incognote.nouns import Span, Text
from incognote_en.rules import demographics, names, professions
from incognote_en.rules.names import find

PIECES = st.sampled_from(
    [
        "Dr. ",
        "Mrs ",
        "Patient: ",
        "wife ",
        "Smith",
        "O'Brien",
        "José",
        "Ọmọ́wùnmí",
        "de la ",
        "J.",
        ", ",
        "RN",
        "\n",
        " ",
        "|",
        "—",
        '"',
        "works as a ",
        "baker",
        "mother of ",
        "two",
        "é",
        "👩\u200d⚕️",
        "محمد",
        "張國樑",
        "\x00",
        "\r\n",
        "(",
        ")",
        "'s",
        "-",
        "SMITH",
        "will ",
    ]
)


DRAWN = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=30).map("".join))


@pytest.mark.parametrize("module", [names, professions, demographics])
def test_the_drawn_texts_hold_candidates(module: object) -> None:
    text = hypothesis.find(DRAWN, lambda text: bool(list(module.find(View(Text(text))))))  # type: ignore[attr-defined]
    assert text


@pytest.mark.parametrize("module", [names, professions, demographics])
@settings(max_examples=150, deadline=None)
@given(text=DRAWN)
@example(text="Dr.")
@example(text="Dear ")
@example(text="Name:\n")
@example(text="a\u0301")
@example(text="Mr. \ud800")
def test_every_candidate_is_a_span_of_the_text(module: object, text: str) -> None:
    source = Text(text)
    for candidate in module.find(View(source)):  # type: ignore[attr-defined]  # the modules share a shape, not a type
        span = Span(source, candidate.start, candidate.end, candidate.type, candidate.score, (candidate.rule,))
        assert span.text == span.text.strip()
        assert candidate.score >= 0.3


@settings(max_examples=150, deadline=None)
@given(text=st.lists(PIECES, max_size=30).map("".join))
def test_names_never_overlap(text: str) -> None:
    candidates = sorted(find(View(Text(text))))
    assert all(a.end <= b.start for a, b in pairwise(candidates))


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(
        ["Okonkwo", "Nguyễn", "van der Berg", "O’Connor", "Ó Briain", "Ọmọ́wùnmí", "al-Hashimi", "Long"]
    )
)
def test_a_doctor_is_found_with_exact_bounds_whatever_stands_around(name: str) -> None:
    text = f"👩‍⚕️ e\u0301 note\r\nSeen by Dr. {name}, stable."
    assert [text[c.start : c.end] for c in find(View(Text(text)))] == [name]
