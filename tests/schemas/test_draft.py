"""Drafts: what samples determine, what they leave open, and that no sample value is written to the draft."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from incognote.errors import UsageError
from incognote.nouns import Span, Text
from incognote.schemas.check import problems
from incognote.schemas.draft import Draft, draft

SHAPES = (("TELEPHONE_NUMBER", r"\d{3}-\d{4}"), ("PERSON", r"Zoe|Quill|Tarn"))


def find(texts: Sequence[Text]) -> list[list[Span]]:
    """A stand-in for the detectors."""
    return [[Span(t, m.start(), m.end(), kind) for kind, shape in SHAPES for m in re.finditer(shape, t.content)]
            for t in texts]


def samples(n: int = 40) -> Iterator[dict[str, Any]]:
    for i in range(n):
        yield {
            "dataType": "other", "recordVersion": "9",
            "PatientId": f"P{i:05}", "MRN": 77_000_000 + i, "age": 20 + i, "dob": f"19{i + 10}-02-03",
            "sex": "mf"[i % 2], "alive": i % 3 > 0, "weight": 60.5 + i, "count": i % 4,
            "reach": f"555-{1000 + i}", "who": ["Zoe", "Quill", "Tarn", "Zoe"][i % 4],
            "remark": "fine" if i % 9 else "ask Zoe", "plan": "rest" if i % 2 else None,
            "story": f"Seen today with Zoe, walked {i} steps without any help at all.",
            "code": f"K{1000 + i % 3}", "blank": None, "either": i if i % 2 else "x",
            "contact": [{"name": "Quill", "rank": "first"}] * (i % 3),
            "byPerson": {f"Zoe {i}": {"seen": 1}}, "labs": {"na": 135 + i / 10, "note": "ok"},
        }


@pytest.fixture(scope="module")
def made() -> Draft:
    return draft(samples(), find, "visits")


def flags(made: Draft) -> dict[str, str]:
    return {e.path: e.proposal for e in made.evidence}


def test_names_values_and_detectors_decide_what_they_can(made: Draft) -> None:
    assert flags(made) == {
        "PatientId": "hash", "MRN": "hash", "age": "mask", "dob": "mask", "sex": "auto", "alive": "pass",
        "weight": "pass", "count": "undecided", "reach": "mask", "who": "mask", "remark": "undecided", "plan": "auto",
        "story": "auto", "code": "undecided", "blank": "undecided", "either": "undecided", "contact[].name": "mask",
        "contact[].rank": "auto", "byPerson": "undecided", "labs.na": "pass", "labs.note": "auto",
    }
    properties = made.schema["properties"]
    assert properties["MRN"]["entity_type"] == "MEDICAL_RECORD_NUMBER"
    assert properties["reach"]["entity_type"] == "TELEPHONE_NUMBER"
    assert properties["dob"]["entity_type"] == "BIRTH_DATE_TIME"
    assert made.schema["patientKey"] == "PatientId"
    assert made.records == 40


def test_the_undecided_alone_keep_a_draft_from_approval(made: Draft) -> None:
    found = problems(made.schema)
    assert {p.path for p in found} == set(made.undecided)
    assert all(p.undecided for p in found)


def test_a_decided_draft_can_be_approved(made: Draft) -> None:
    properties = {name: field for name, field in made.schema["properties"].items() if name not in made.undecided}
    assert problems({**made.schema, "properties": properties}) == []


def test_nothing_of_the_samples_is_written_down(made: Draft) -> None:
    shown = json.dumps(made.schema) + repr(made.evidence)
    values = {str(v) for r in samples() for v in (*r.values(), *r["byPerson"]) if isinstance(v, str) and len(v) > 3}
    values -= {"fine", "rest"}
    assert not [value for value in values if value in shown]
    assert not re.search(r"Zoe|Quill|Tarn|555-|K100\d|\bask\b|walked", shown)


def test_evidence_counts(made: Draft) -> None:
    by_path = {e.path: e for e in made.evidence}
    story, plan, reach = by_path["story"], by_path["plan"], by_path["reach"]
    assert (story.kind, story.filled, story.distinct, story.hits) == ("free text", 1.0, 40, {"PERSON": 40})
    assert (plan.filled, plan.distinct, plan.longest) == (0.5, 1, 4)
    assert str(reach) == ("short text, filled 100%, 40 distinct, longest 8, TELEPHONE_NUMBER in 40 of 40: "
                          "mask (by its detected identifiers)")
    assert made.schema["properties"]["reach"]["description"] == str(reach)


def test_types_are_those_seen(made: Draft) -> None:
    properties = made.schema["properties"]
    assert properties["plan"]["type"] == ["null", "string"]
    assert properties["labs"]["properties"]["na"]["type"] == "number"
    assert properties["either"]["type"] == ["integer", "string"]
    assert properties["byPerson"] == {"type": "object", "description": properties["byPerson"]["description"]}
    assert "dataType" not in properties


def test_a_coded_field_is_scanned_until_a_person_lists_its_values(made: Draft) -> None:
    sex = made.schema["properties"]["sex"]
    assert (sex["autoDeId"], sex["passThrough"], "maxLength" in sex) == (True, False, False)
    assert "list them" in sex["description"]


def test_free_text_under_the_name_of_an_identifier_is_left_to_a_person() -> None:
    long = {"patient_name": "The patient did not want to give a name and left before anybody could ask."}
    assert flags(draft([long] * 9, find, "x")) == {"patient_name": "undecided"}


def test_few_samples_pass_nothing_through() -> None:
    assert "pass" not in flags(draft([{"sex": "f", "unit": "ward"}] * 5, find, "x")).values()


def test_a_column_name_of_two_words_is_kept_where_every_row_has_it() -> None:
    assert flags(draft([{"Patient Name": "Quill", "Visit Note": "ok"}] * 6, find, "x")) == {
        "Patient Name": "mask", "Visit Note": "auto"}


@pytest.mark.parametrize("records", [
    [], [{}], [{"dataType": "x"}], [[]], [{"a": {1, 2}}], [{f"Zoe {i}": 1} for i in range(9)],
    [{f"k{chr(97 + i % 26)}{i // 26}": 1} for i in range(40)],
])
def test_samples_that_name_no_fields_make_no_draft(records: list[Any]) -> None:
    with pytest.raises(UsageError) as caught:
        draft(records, find, "x")
    assert "Zoe" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "1x", "two words", "x" * 65])
def test_a_draft_needs_a_proper_data_type(name: str) -> None:
    with pytest.raises(UsageError):
        draft([{"a": "b"}], find, name)
