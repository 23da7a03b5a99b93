"""The audit searches every value of the new record, including those that the policy keeps."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.schemas.registry import approve

FLAGS = {"autoDeId": False, "shouldMask": False, "shouldHash": False}


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Deidentifier:
    """A user-defined, approved schema with pass-through fields."""
    folder = tmp_path_factory.mktemp("schemas")
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "dataType": "visit",
        "recordVersion": "1.0",
        "properties": {
            "patientId": {"type": "string", **FLAGS, "shouldHash": True, "entity_type": "MEDICAL_RECORD_NUMBER"},
            "name": {"type": "string", **FLAGS, "shouldMask": True, "entity_type": "PERSON"},
            "ward": {"type": "string", "passReason": "a test of what passes", **FLAGS},
            "count": {"type": "integer", **FLAGS},
            "note": {"type": "string", **FLAGS, "autoDeId": True},
        },
    }
    path = folder / "visit.json"
    path.write_text(json.dumps(schema), encoding="utf-8")
    approve(path, "R. Officer")
    return Deidentifier(key="6b" * 32, schemas=[folder])


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"ward": "Zyx Plughfoo"}, "ward"),
        ({"ward": "file 7782-1345"}, "ward"),
        ({"count": 77821345}, "count"),
    ],
)
def test_a_known_identifier_in_a_field_that_passes_means_quarantine(
    visits: Deidentifier, fields: dict[str, Any], path: str
) -> None:
    record = {"dataType": "visit", "patientId": "77821345", "name": "Zyx Plughfoo", "note": "seen Zyx Plughfoo"}
    assert visits.deidentify(record).verdict.released
    held = visits.deidentify({**record, **fields})
    assert held.verdict.outcome == "quarantine"
    assert [(r.code, r.field) for r in held.verdict.reasons] == [("known-identifier-left", path)]


@pytest.mark.parametrize("policy", ["strict", "paper", "limited-data-set", "safe-harbor"])
@pytest.mark.parametrize("tail", ["", "\nSeen 03/16/2025 in Boston."])
def test_what_a_policy_keeps_does_not_switch_the_search_off(
    policy: str, tail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deid = Deidentifier(policy)
    monkeypatch.setattr("incognote.agents.detection.sweep", lambda *_: [])
    text = "Dr. Plughfoo came. the quiet plughfoo left" + tail
    result = deid.deidentify(text)
    assert "plughfoo" not in result.output(even_if_unreleased=True).lower() or not result.verdict.released


def test_utf_16_that_was_read_as_something_else_is_refused() -> None:
    text = "Patient John Smithson".encode("utf-16-le").decode("utf-8")
    result = Deidentifier().deidentify("ordinary words. " * 900 + text)
    assert result.verdict.outcome == "quarantine"
    assert "charset" in str(result.verdict.reasons[0])


def test_known_values_that_nothing_seeks_are_counted_by_type_in_the_manifest() -> None:
    known = {"mrn": ["A-12", "007", "778-21"], "name": ["Al", "Q", "Ng"], "dob": "unknown", "age": 46, "state": "MA"}
    told = Deidentifier(key="6b" * 32, detectors=["rules"]).deidentify("A-12 was seen with 007.", known=known)
    expected = {"BIRTH_DATE_TIME": 1, "MEDICAL_RECORD_NUMBER": 2, "PERSON": 2, "STATE": 1}
    assert told.manifest["counts"]["unsought"] == expected
    kept = Deidentifier(key="6b" * 32, detectors=["rules"], policy="safe-harbor")
    assert "STATE" not in kept.deidentify("Seen.", known=known).manifest["counts"]["unsought"]


def test_the_same_value_twice_is_sought_once_and_counts_as_sought() -> None:
    known = {"name": ["Emily Carter", "emily carter"], "patient": "Emily Carter", "mrn": ["778-21", "77821"]}
    told = Deidentifier(key="6b" * 32, detectors=["rules"]).deidentify("Well.", known=known)
    assert told.manifest["counts"]["unsought"] == {}


def test_a_short_name_in_the_letters_of_our_own_hash_does_not_hold_a_message() -> None:
    chance = re.compile(r"(?<=[0-9])ada(?=[0-9])")
    with Deidentifier(detectors=("rules",), key="6b" * 32) as deid:
        for number in range(2_000):
            message = (
                f"MSH|^~\\&|LAB|HOSP|EHR|HOSP|20240117093412||ORU^R01|M{number}|P|2.5.1\r"
                f"PID|1||77302{number}^^^HOSP^MR||FEE^ADA||19880923|F\rOBX|1|TX|1^NOTE||Seen with Ada today||||||F\r"
            )
            result = deid.deidentify(message.encode(), media_type="application/hl7-v2")
            assert result.verdict.outcome == "release"
            if chance.search(result.data.decode()):
                return
    raise AssertionError("no hash has these letters")
