"""User-defined entity types, named in a policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.align.merge import merge, standings
from incognote.errors import PolicyProblem
from incognote.nouns import Span, Text
from incognote.prompts.loader import asked, load
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import load_policy
from incognote.testing import ScriptedLLM

OWN = """
name = "trials"
extends = "strict"
[entities.STUDY_ARM]
about = "the arm of a trial a person is in"
parent = "ORGANIZATION"
[entities.PET_NAME]
about = "the name of a pet"
[types.STUDY_ARM]
operator = "label"
[types.PET_NAME]
operator = "label"
"""


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo a policy's additions to the catalogue after the test."""
    monkeypatch.setattr(catalogue(), "_types", dict(catalogue()._types))
    standings.cache_clear()


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "trials.toml"
    path.write_text(OWN, encoding="utf-8")
    return str(path)


def test_a_type_of_ones_own_is_asked_for_in_prompt_and_reply_schema(policy: str) -> None:
    types = asked(load_policy(policy))
    rendered = load("extract/v2").render(["x"], types)
    assert "- PET_NAME: the name of a pet" in rendered.system
    assert "STUDY_ARM" in rendered.schema["properties"]


def test_what_a_model_finds_of_it_is_aligned_and_replaced(policy: str) -> None:
    reply = '{"PET_NAME": ["a <<grey tabby>>"], "STUDY_ARM": ["arm <<B-blue>>"]}'
    with Deidentifier(policy, model=ScriptedLLM(lambda request: reply), passes=1) as deid:
        result = deid.deidentify("Lives with a grey tabby. Randomised to arm B-blue.")
    assert result.output(even_if_unreleased=True) == "Lives with a [PET_NAME]. Randomised to arm [STUDY_ARM]."


def test_it_merges_where_its_parent_stands(policy: str) -> None:
    load_policy(policy)
    text = Text("Arm B-blue of Mercy")
    united = merge([Span(text, 0, 10, "STUDY_ARM"), Span(text, 4, 10, "PET_NAME")])
    assert [(s.start, s.end, s.type) for s in united] == [(0, 10, "STUDY_ARM")]
    assert catalogue()["STUDY_ARM"].group == "LOCATION"


def test_other_policies_leave_it_alone_or_serve_its_parent(policy: str) -> None:
    load_policy(policy)
    assert load_policy("strict").serves("STUDY_ARM") == "ORGANIZATION"
    assert load_policy("strict").serves("PET_NAME") is None


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("STUDY_ARM]\nabout", "study arm]\nabout", "TOML|capitals"),
        ('parent = "ORGANIZATION"', 'parent = "NOWHERE"', "parent"),
        ('about = "the name of a pet"', 'group = "OTHER"', "about"),
        ('about = "the name of a pet"', 'about = "a pet"\nhue = "red"', "PET_NAME needs about"),
        ("[entities.PET_NAME]", "[entities.PERSON]", "already exists"),
    ],
)
def test_a_malformed_type_is_refused_by_name(tmp_path: Path, old: str, new: str, what: str) -> None:
    path = tmp_path / "wrong.toml"
    assert old in OWN
    path.write_text(OWN.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(PolicyProblem, match=what):
        load_policy(str(path))
