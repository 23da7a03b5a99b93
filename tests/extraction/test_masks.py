"""What a later pass sees, and the way back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from incognote.extraction.masks import masked


def test_what_was_found_is_masked_by_its_type() -> None:
    view = masked("Mr. John Smith, 76", [(16, 18, "AGE"), (4, 14, "PERSON")])
    assert view.text == "Mr. [PERSON], [AGE]"
    assert [view.text[a:b] for a, b in view.masks] == ["[PERSON]", "[AGE]"]


@given(st.text(min_size=1, max_size=60), st.lists(st.integers(0, 60), max_size=8, unique=True))
def test_every_unmasked_stretch_finds_its_way_back(text: str, cuts: list[int]) -> None:
    edges = sorted(cut for cut in cuts if cut <= len(text))
    found = [(a, b, "PERSON") for a, b in zip(edges[::2], edges[1::2], strict=False)]
    view = masked(text, found)
    at = 0
    for start, end in (*view.masks, (len(view.text), len(view.text))):
        if at < start:
            a, b = view.back(at, start)
            assert text[a:b] == view.text[at:start]
        at = end
