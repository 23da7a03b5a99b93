"""The audit maps its findings in the output back to the original."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote import Deidentifier, Replacement, Span, Text
from incognote.agents import audit
from incognote.agents.audit import BLANK, blanked
from incognote.agents.detection import Detection
from incognote.agents.stages import Replaced
from incognote.align.merge import merge
from incognote.nouns import Known, shift_of
from incognote.operators.apply import apply


def made(content: str, cuts: list[int], label: str) -> tuple[str, list[Replacement]]:
    """Replace every other segment between the cuts with the label."""
    text = Text(content)
    edges = sorted({min(c, len(content)) for c in cuts})
    replacements, pieces, at, out = [], [], 0, 0
    for start, end in zip(edges[::2], edges[1::2], strict=False):
        pieces += [content[at:start], label]
        out += start - at
        replacements.append(Replacement(Span(text, start, end, "PERSON"), "label", label, out, out + len(label)))
        out += len(label)
        at = end
    return "".join([*pieces, content[at:]]), replacements


@given(
    st.text(min_size=1, max_size=60), st.lists(st.integers(0, 60), max_size=8), st.sampled_from(["", "[X]", "[PERSON]"])
)
def test_what_stands_outside_replacements_maps_back_to_itself(content: str, cuts: list[int], label: str) -> None:
    output, replacements = made(content, cuts, label)
    hidden = blanked(output, [(r.out_start, r.out_end) for r in replacements])
    shift = shift_of(replacements)
    assert len(hidden) == len(output)
    for i, shown in enumerate(hidden):
        if not any(r.out_start <= i < r.out_end for r in replacements):
            assert shown == output[i] == content[shift.back(i)]
            assert shift.back(i + 1, end=True) == shift.back(i) + 1
        else:
            assert shown == BLANK


def test_the_drawn_cuts_make_replacements() -> None:
    content, cuts = hypothesis.find(
        st.tuples(st.text(min_size=1, max_size=60), st.lists(st.integers(0, 60), max_size=8)),
        lambda drawn: len(made(*drawn, "[X]")[1]) > 1,
    )
    assert len(made(content, cuts, "[X]")[1]) == 2


@given(st.text(min_size=1, max_size=60), st.lists(st.integers(0, 60), max_size=8))
def test_an_offset_inside_a_replacement_maps_to_the_edge_of_its_span(content: str, cuts: list[int]) -> None:
    _, replacements = made(content, cuts, "[PERSON]")
    for r in replacements:
        assert shift_of(replacements).back(r.out_start + 3) == r.span.start
        assert shift_of(replacements).back(r.out_start + 3, end=True) == r.span.end


@given(
    st.text(min_size=1, max_size=60), st.lists(st.integers(0, 60), max_size=8), st.sampled_from(["", "[X]", "[PERSON]"])
)
def test_forward_and_back_undo_each_other_outside_spans(content: str, cuts: list[int], label: str) -> None:
    output, replacements = made(content, cuts, label)
    shift = shift_of(replacements)
    for i in range(len(content)):
        if not any(r.span.start <= i < r.span.end for r in replacements):
            assert output[shift.forward(i)] == content[i]
            assert shift.back(shift.forward(i)) == i
            assert shift.forward(i + 1, end=True) == shift.forward(i) + 1


def _stretches(*types: str) -> st.SearchStrategy[list[tuple[int, int, str]]]:
    return st.lists(st.tuples(st.integers(0, 29), st.integers(1, 8), st.sampled_from(types)), max_size=6)


@given(st.text(alphabet="ab\n\r", min_size=30, max_size=30), _stretches("CITY"), _stretches("PERSON", "DATE"))
def test_whole_lines_unite_with_what_touches_them(
    content: str, known: list[tuple[int, int, str]], suspects: list[tuple[int, int, str]]
) -> None:
    text = Text(content)
    spans = merge(Span(text, a, min(a + n, 30), kind, 0.9, ("one",)) for a, n, kind in known)
    doubts = [Span(text, a, min(a + n, 30), kind) for a, n, kind in suspects]
    expected = list(spans)
    lines = set()
    for span in doubts:
        start = max(content.rfind("\n", 0, span.start), content.rfind("\r", 0, span.start)) + 1
        stops = [i for i in (content.find("\n", span.end), content.find("\r", span.end)) if i >= 0]
        lines.add((start, min(stops, default=30), span.type))
    for start, end, kind in sorted(lines):
        touched = [s for s in expected if s.start < end and start < s.end]
        low, high = min([start, *(s.start for s in touched)]), max([end, *(s.end for s in touched)])
        whole = Span(text, low, high, kind, 1.0, (audit.WIDENED,))
        expected = sorted([*(s for s in expected if s not in touched), whole], key=lambda s: s.start)
    assert set(audit._lines(text, doubts)) == lines
    assert list(audit._with_lines(text, spans, sorted(lines))) == expected


def _audited(monkeypatch: pytest.MonkeyPatch, spoil: str = "") -> tuple[int, str]:
    """Count the texts that detection reads for a note without identifiers. `spoil` is added to the output."""
    with Deidentifier(detectors=("rules",)) as deid:
        read: list[str] = []
        detect = Detection.detect

        def noting(self: Detection, texts: Sequence[Text], known: Sequence[Known] = ()) -> list[list[Span]]:
            read.extend(text.content for text in texts)
            return detect(self, texts, known)

        monkeypatch.setattr(Detection, "detect", noting)
        if spoil:
            monkeypatch.setattr(
                "incognote.agents.steps.apply", lambda *given: (apply(*given)[0] + spoil, *apply(*given)[1:])
            )
        outcome = deid.deidentify("Wound clean and dry. Continue the same dressing.").verdict.outcome
        return len(read), outcome


def test_a_text_in_which_nothing_was_found_and_that_goes_out_as_it_came_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _audited(monkeypatch) == (1, "release")


def test_a_text_in_which_nothing_was_found_is_read_again_if_it_goes_out_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read, outcome = _audited(monkeypatch, " Seen by Dr. Emily Carter.")
    assert read > 1
    assert outcome != "release"


def test_a_brand_that_was_taken_for_a_name_is_not_searched_for_but_other_names_are() -> None:
    text = Text("Mirena Allegra Waddell")
    spans = [Span(text, *edge, "PATIENT") for edge in ((0, 6), (7, 14), (15, 22))]
    written = [Replacement(span, "label", "[X]", 0, 3) for span in spans]
    originals = audit._originals(cast(Replaced, SimpleNamespace(replacements=written)))
    found = [bool(originals.leaks(word)) for word in ("mirena???", "allegra", "waddell")]
    assert found == [False, True, True]
