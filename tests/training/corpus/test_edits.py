"""All kinds of edits move spans along exactly."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.evaluation.formats.document import LabeledSpan
from incognote_training.corpus import corruption
from incognote_training.corpus.document import Document
from incognote_training.corpus.edits import Edit, edited, within

KINDS = [kind for kind, _ in corruption._KINDS]


@st.composite
def annotated(draw: st.DrawFn) -> tuple[str, tuple[LabeledSpan, ...]]:
    words = draw(st.lists(st.text("abcXYZ '.,é1٣\n\t&-", min_size=1, max_size=9), min_size=1, max_size=12))
    marked = draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    text, spans = "", []
    for word, mark in zip(words, marked, strict=True):
        if mark and word.strip() == word:
            spans.append(LabeledSpan(len(text), len(text) + len(word), "CITY"))
        text += word + draw(st.sampled_from([" ", "", "\n"]))
    return text, tuple(spans)


@given(annotated(), st.data())
def test_a_span_holds_what_the_edits_inside_it_made(
    case: tuple[str, tuple[LabeledSpan, ...]], data: st.DataObject
) -> None:
    text, spans = case
    place = st.integers(0, len(text))
    edits = [
        Edit(min(a, b), max(a, b), words)
        for a, b, words in data.draw(st.lists(st.tuples(place, place, st.text("pq r", max_size=3)), max_size=8))
    ]
    new, moved = edited(text, spans, edits)
    assert [span.type for span in moved] == [span.type for span in spans]
    before = 0
    for old, span in zip(spans, moved, strict=True):
        assert before <= span.start < span.end <= len(new)
        before = span.end
        inside = [e for e in edits if old.start <= e.start and e.end <= old.end]
        words = new[span.start : span.end]
        possible = {text[old.start : old.end]} | _outcomes(text, old, inside)
        assert words in possible


def _outcomes(text: str, span: LabeledSpan, edits: list[Edit]) -> set[str]:
    """The results for a span from each set of edits that do not overlap."""
    made = set()
    for chosen in range(1 << len(edits)):
        some = sorted(edit for number, edit in enumerate(edits) if chosen >> number & 1)
        if all(one.end <= two.start for one, two in pairwise(some)):
            made.add(within(text, span, some))
    return made


def test_an_insertion_at_an_edge_stays_outside() -> None:
    text, spans = edited("abc", (LabeledSpan(1, 2, "CITY"),), [Edit(1, 1, "--"), Edit(2, 2, "++")])
    assert text == "a--b++c"
    assert [text[s.start : s.end] for s in spans] == ["b"]


def test_an_edit_across_an_edge_is_left_out() -> None:
    assert edited("abcd", (LabeledSpan(1, 3, "CITY"),), [Edit(0, 2, "x"), Edit(2, 4, "y")]) == (
        "abcd",
        (LabeledSpan(1, 3, "CITY"),),
    )


def test_a_span_is_never_emptied() -> None:
    assert edited("a b c", (LabeledSpan(2, 3, "CITY"),), [Edit(2, 3, " ")])[0] == "a b c"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(case=annotated(), seed=st.integers(0, 99))
def test_every_corruption_is_tracked(
    kind: corruption.Corrupt, case: tuple[str, tuple[LabeledSpan, ...]], seed: int
) -> None:
    text, spans = case
    edits = list(kind(text, Random(seed)))
    new, moved = edited(text, spans, edits)
    for old, span in zip(spans, moved, strict=True):
        inside = [e for e in edits if old.start <= e.start and e.end <= old.end]
        assert new[span.start : span.end] in {text[old.start : old.end]} | _outcomes(text, old, inside[:8])
    plain = "".join(new[a:b] for a, b in _outside(new, moved))
    assert len(plain) + sum(s.end - s.start for s in moved) == len(new)


def _outside(text: str, spans: tuple[LabeledSpan, ...]) -> list[tuple[int, int]]:
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(text)]
    return list(zip(ends, starts, strict=True))


@given(annotated(), st.integers(0, 200))
def test_a_corrupted_document_stands(case: tuple[str, tuple[LabeledSpan, ...]], seed: int) -> None:
    text, spans = case
    kept = tuple(span for span in spans if text[span.start : span.end].strip())
    made = corruption.corrupted(Document("x", text, kept), Random(seed))
    assert [span.type for span in made.spans] == [span.type for span in kept]
    assert all(made.text[s.start : s.end].strip() == made.text[s.start : s.end] != "" for s in made.spans)


def test_each_corruption_changes_some_text() -> None:
    text = "Seen: Zoë O'Neill, RN (born 1/2/1950).\nLives   in the Fichtelgebirge & works there; calm, alert. " * 6
    assert all(any(list(kind(text, Random(seed))) for seed in range(9)) for kind in KINDS)
