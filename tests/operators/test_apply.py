"""Replacements are inserted, and everything outside them stays the same, character for character."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import ImpossibleSpan, UnknownName
from incognote.keys import Keyring
from incognote.nouns import Span, Text
from incognote.operators.apply import apply
from incognote.operators.base import OperatorContext
from incognote.operators.registry import operators
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Choice, Policy, load_policy, shipped_policies

ODD = st.sampled_from(
    [
        "e\u0301",
        "👩🏽‍⚕️",
        "שלום",
        "\u202eabc\u202c",
        "\r\n",
        "\x00",
        "\ud800",
        "\udfff",
        "İ",
        "ß",
        "Dr. ",
        "03/16/2025",
        "Mr",
        "76",
        " ",
        "\u2028",
    ]
)
PIECES = st.lists(st.one_of(ODD, st.text(st.characters(), min_size=1, max_size=8)), max_size=12)
TYPES = sorted(catalogue())
POLICIES = {name: load_policy(name) for name in shipped_policies()} | {
    name: Policy(name, "", None, 0.4, 0.5, "hold", {kind: Choice(name) for kind in TYPES}) for name in operators()
}


def scene(text: Text, spans: tuple[Span, ...], policy: Policy) -> OperatorContext:
    return OperatorContext(text, spans, Keyring(bytes(32)), "clinic", "patient-1", policy.serves)


@st.composite
def cut_texts(draw: st.DrawFn) -> tuple[Text, tuple[Span, ...]]:
    """A text of unusual pieces, some of which are spans of any type."""
    pieces = draw(PIECES)
    text = Text("".join(pieces))
    spans, at = [], 0
    for piece in pieces:
        if draw(st.booleans()):
            spans.append(Span(text, at, at + len(piece), draw(st.sampled_from(TYPES))))
        at += len(piece)
    return text, tuple(spans)


@given(cut_texts(), st.sampled_from(sorted(POLICIES)))
def test_everything_outside_the_replacements_stays(cut: tuple[Text, tuple[Span, ...]], name: str) -> None:
    text, spans = cut
    out, replacements, kept = apply(text, spans, POLICIES[name], scene(text, spans, POLICIES[name]))
    was = now = 0
    for replacement in replacements:
        outside = text.content[was : replacement.span.start]
        assert out[now : replacement.out_start] == outside
        assert out[replacement.out_start : replacement.out_end] == replacement.text
        was, now = replacement.span.end, replacement.out_end
    assert out[now:] == text.content[was:]
    assert len(replacements) + len(kept) == len(spans)


@given(cut_texts(), st.sampled_from(sorted(POLICIES)))
def test_a_span_is_replaced_whole_and_once(cut: tuple[Text, tuple[Span, ...]], name: str) -> None:
    text, spans = cut
    _, replacements, kept = apply(text, spans, POLICIES[name], scene(text, spans, POLICIES[name]))
    served = sorted([*(r.span for r in replacements), *kept], key=lambda span: span.start)
    for span, whole in zip(spans, served, strict=True):
        assert whole.start <= span.start
        assert span.end <= whole.end
        assert (whole.type, whole.score, whole.sources) == (span.type, span.score, span.sources)
    assert all(one.end <= other.start for one, other in pairwise(served))
    if name == "label":
        assert [span.text for span in kept] == [span.text for span in kept if span.text == f"[{span.type}]"]


def test_the_order_of_spans_does_not_matter(play: Callable[..., Any]) -> None:
    policy = load_policy("strict")
    text = Text("Ann Poe, 76, of Boston")
    spans = (Span(text, 0, 7, "PATIENT"), Span(text, 9, 11, "AGE"), Span(text, 16, 22, "CITY"))
    forth = apply(text, spans, policy, scene(text, spans, policy))
    assert forth == apply(text, spans[::-1], policy, scene(text, spans, policy))
    assert forth[0] == "[PERSON], [AGE], of [LOCATION]"


def test_redactors_sample_note_comes_out_as_printed(play: Callable[..., Any]) -> None:
    """Section A.9.4, except the SSN: the paper gives it two types (A.9.3), the catalogue one."""
    note = (
        "⟦John Doe⟧, a ⟦45-year-old⟧ male, presented to ⟦Stanford Medical Center⟧ on ⟦03/16/2025⟧ complaining of "
        "severe abdominal pain. He was referred by Dr. ⟦Emily Smith⟧ from ⟦Valley Health Clinic⟧. His address is "
        "⟦123 Main St, Palo Alto, CA 94301⟧. Contact number: ⟦(650) 555-1234⟧. His insurance ID is ⟦INS-789456123⟧. "
        "The patients ⟦wife⟧, ⟦Jane Doe⟧, can be reached at ⟦(650) 555-5678⟧. Patient is employed as a "
        "⟦software engineer⟧ at ⟦TechNova Corp⟧. Social Security Number: ⟦987-65-4321⟧."
    )
    stage = play(
        note,
        load_policy("paper"),
        "PATIENT",
        "AGE",
        "HOSPITAL",
        "DATE",
        "CLINICIAN",
        "HOSPITAL",
        "ADDRESS",
        "TELEPHONE_NUMBER",
        "FIN",
        "MARITAL_STATUS",
        "RELATIVE",
        "TELEPHONE_NUMBER",
        "OCCUPATION",
        "ORGANIZATION",
        "SSN_OR_TAXPAYER",
    )
    assert stage.out == (
        "[PERSON], a [AGE] male, presented to [ORGANIZATION] on 03/16/2025 complaining of severe abdominal pain. He "
        "was referred by Dr. [PERSON] from [ORGANIZATION]. His address is [ADDRESS]. Contact number: "
        "[TELEPHONE_NUMBER]. His insurance ID is [FIN]. The patients [MARITAL_STATUS], [PERSON], can be reached at "
        "[TELEPHONE_NUMBER]. Patient is employed as a [OCCUPATION] at [ORGANIZATION]. Social Security Number: "
        "[SSN_OR_TAXPAYER]."
    )
    assert [span.text for span in stage.kept] == ["03/16/2025"]


def test_a_text_without_spans_comes_out_as_it_was(play: Callable[..., Any]) -> None:
    stage = play("76 mg twice daily\r\n", load_policy("strict"))
    assert (stage.out, stage.replacements, stage.kept) == ("76 mg twice daily\r\n", (), ())


def test_overlapping_spans_are_refused_without_their_words() -> None:
    text = Text("Ann Poe of Boston")
    spans = (Span(text, 0, 7, "PERSON"), Span(text, 4, 10, "PERSON"))
    with pytest.raises(ImpossibleSpan, match=r"at 0 and 4 overlap") as caught:
        apply(text, spans, load_policy("strict"), scene(text, spans, load_policy("strict")))
    assert "Poe" not in str(caught.value)


def test_a_span_of_another_text_is_refused() -> None:
    text, other = Text("Ann Poe"), Text("Ann Doe")
    spans = (Span(other, 0, 7, "PERSON"),)
    with pytest.raises(ImpossibleSpan, match="to another text"):
        apply(text, spans, load_policy("strict"), scene(text, spans, load_policy("strict")))


def test_an_unknown_operator_is_refused(play: Callable[..., Any]) -> None:
    policy = Policy("test", "", None, 0.4, 0.5, "hold", {"PERSON": Choice("shred")})
    with pytest.raises(UnknownName, match="no operator named 'shred'"):
        play("⟦Ann⟧", policy, "PERSON")


def test_an_unknown_type_is_refused(play: Callable[..., Any]) -> None:
    with pytest.raises(UnknownName, match="no entity type"):
        play("⟦Ann⟧", load_policy("strict"), "SHOE_SIZE")


def test_a_large_text_with_many_dates_is_read_once() -> None:
    """The scene parses a document's dates once, not once for each date."""
    text = Text("03/16/2025 " * 4000)
    spans = tuple(Span(text, at, at + 10, "DATE") for at in range(0, len(text), 11))
    policy = POLICIES["date-shift"]
    stage = scene(text, spans, policy)
    out, replacements, _ = apply(text, spans, policy, stage)
    assert len(replacements) == 4000
    assert len(set(out.split())) == 1
    assert {"_meanings", "_day_first", "_dates"} <= set(vars(stage))
