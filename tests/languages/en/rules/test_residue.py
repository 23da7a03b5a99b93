"""An unexplained capitalized word in a sentence is a name. Brands, eponyms, peoples, and days count as explained."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote import Text
from incognote.detectors.rules.view import View
from incognote_en.rules.residue import find


def found(text: str) -> list[tuple[str, str]]:
    """The proposed words with their types."""
    return [(text[c.start : c.end], c.type) for c in find(View(Text(text)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("she saw Lieberthal in clinic", [("Lieberthal", "PERSON")]),
        ("s/p open repair by Venkataraman on the ward", [("Venkataraman", "PERSON")]),
        ("I gave him Zbrojewska's number", [("Zbrojewska", "PERSON")]),
        ("then by Bissonnette, who found a mass", [("Bissonnette", "PERSON")]),
        ("referred from LGH following a fall", [("LGH", "HOSPITAL")]),
        ("drove her to the QVMC where it was cleaned", [("QVMC", "HOSPITAL")]),
    ],
)
def test_what_nothing_explains_is_proposed(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a Veress needle was placed",
        "the Gomco clamp",
        "closed with Ethibond suture",
        "she speaks Spanish at home",
        "seen on Tuesday in June",
        "the VersaStep trocar",
        "transferred from ICU to SNF",
        "moved to MRI",
        "sent from OSH",
        "positive Murphy's sign",
        "has Crohn's disease",
        "with Transforaminal approach",
        "Follow-up in clinic",
        "takes Zyrtec daily",
        "SHE SAW LIEBERTHAL IN CLINIC AND FELT WELL",
    ],
)
def test_what_is_explained_is_left_alone(text: str) -> None:
    assert found(text) == []


PIECES = ["she saw Lieberthal in clinic", "then by Bissonnette, who", "referred from LGH ", " on the ward", ". ", "\n"]
DRAWN = st.lists(st.one_of(st.sampled_from(PIECES), st.text(st.characters(codec=None), max_size=6)), max_size=9).map(
    "".join
)


def test_the_drawn_texts_hold_proposals() -> None:
    assert found(hypothesis.find(DRAWN, lambda text: bool(found(text))))


@given(DRAWN)
def test_a_proposal_lies_inside_the_text(text: str) -> None:
    for candidate in find(View(Text(text))):
        assert 0 <= candidate.start < candidate.end <= len(text)
