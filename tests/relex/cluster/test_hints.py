"""Words around a mention that describe its person."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.relex.nouns import Hints, MentionVariant

Marked = Callable[..., list[MentionVariant]]


@pytest.mark.parametrize(
    ("note", "hints"),
    [
        ("seen by Dr. [CLINICIAN Wilson] today", Hints(title="dr")),
        ("[CLINICIAN Adam Wilson], MD, FACC wrote", Hints(degrees=("facc", "md"))),
        ("[CLINICIAN Alice Wilson] NP", Hints(degrees=("np",))),
        ("his wife, [RELATIVE Eleanor], called", Hints(kin="wife", side="above")),
        ("her mother Mrs. [RELATIVE Okafor]", Hints(title="mrs", kin="mother", side="above")),
        ("[RELATIVE Eleanor] (wife) called", Hints(kin="wife", side="above")),
        ("[RELATIVE Eleanor], his wife, called", Hints(kin="wife", side="above")),
        ("the wife left. [RELATIVE Eleanor] came", Hints()),
        ("Anna Petrova, née [RELATIVE Sokolova],", Hints(maiden=True)),
        ("(formerly Mrs. [PATIENT Lindqvist])", Hints(title="mrs", maiden=True)),
        ("[RELATIVE Eleanor Whitcomb] before she married", Hints(maiden=True)),
        ("[RELATIVE Robert] was born here", Hints()),
        ("the mother-in-law [RELATIVE Colette]", Hints(kin="motherinlaw", side="above")),
    ],
)
def test_hints(marked: Marked, note: str, hints: Hints) -> None:
    assert marked(note)[0].hints == hints


def test_only_persons_have_hints(marked: Marked) -> None:
    assert marked("Dr. [HOSPITAL Wilson Clinic]")[0].hints == Hints()


def test_offsets_are_those_of_the_span(marked: Marked) -> None:
    (found,) = marked("Dr. [CLINICIAN Wilson]")
    assert (found.start, found.end, found.words, found.owner) == (4, 10, "Wilson", "patient:p1")
    assert marked("[PERSON Ann]", patient="")[0].owner == "record:r1"
