"""The example Bundle under the shipped policies and operators stays valid, whatever they do to its dates."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from fhir.resources.R4B.bundle import Bundle

from incognote.formats.base import FieldAction
from incognote.keys import Keyring
from incognote.nouns import Span
from incognote.operators.apply import apply
from incognote.operators.base import OperatorContext
from incognote.operators.registry import operators
from incognote.schemas.policy import Policy, load_policy

from .fhir_samples import answer, dangling, opened

RAW = (Path(__file__).resolve().parents[2] / "examples" / "bundle.json").read_text(encoding="utf-8")
KEYRING = Keyring(b"k" * 32)


def scene_of(action: FieldAction, patient: str | None, policy: Policy) -> tuple[Span, OperatorContext]:
    span = Span(action.text, action.start, action.end, action.entity_type or "GUID", 1.0, ("schema",))
    return span, OperatorContext(text=action.text, spans=(span,), keyring=KEYRING, domain="d", patient=patient,
                       served=policy.serves, anchor=None)


def under(policy: Policy, *, dates_by: str | None = None) -> Any:
    """Process the example's structured fields under a policy, optionally with one operator for its dates."""
    record = opened(RAW)
    values = {}
    for action in record.actions:
        span, scene = scene_of(action, record.patient, policy)
        if action.action == "hash":
            values[action] = str(operators()["hash"].replace(span, scene, {}))
        elif action.action == "date":
            new = operators()[dates_by].replace(span, scene, {}) if dates_by else None
            values[action] = new or apply(action.text, (span,), policy, scene)[0]
        else:
            values[action] = answer(action)
    made = record.rewritten({}, values)
    Bundle.model_validate_json(made)
    return json.loads(made)


@pytest.mark.parametrize("name", ["strict", "paper", "safe-harbor", "limited-data-set", "intelligent"])
def test_the_example_comes_out_valid_under_every_shipped_policy(name: str) -> None:
    made = under(load_policy(name))
    assert dangling(made) == []


def test_under_strict_no_date_is_left_and_under_safe_harbor_only_years() -> None:
    period = under(load_policy("strict"))["entry"][4]["resource"]["period"]
    assert set(period) == {"_start", "_end"}
    assert under(load_policy("safe-harbor"))["entry"][4]["resource"]["period"] == {"start": "2024", "end": "2024"}


def test_shifted_dates_are_fhir_dates_and_keep_the_length_of_a_stay() -> None:
    before = json.loads(RAW)["entry"][4]["resource"]["period"]
    after = under(load_policy("strict"), dates_by="date-shift")["entry"][4]["resource"]["period"]
    stays = [datetime.fromisoformat(p["end"]) - datetime.fromisoformat(p["start"]) for p in (before, after)]
    assert stays[0] == stays[1]
    assert after["start"] != before["start"]
