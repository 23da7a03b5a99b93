"""Advice about valid schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incognote.schemas.check import advice
from incognote.schemas.registry import check


def schema(**field: Any) -> dict[str, Any]:
    return {"dataType": "x", "type": "object", "additionalProperties": False, "properties": {
        "tags": {"type": "array", "items": {"type": "string", **field}}}}


@pytest.mark.parametrize("pattern", ["[A-Z]", "^[A-Z]", "[A-Z]$", "^a|b$", r"^a\$", "^(a)|(b)$"])
def test_a_pattern_on_a_passing_field_that_is_not_anchored_is_warned_of(pattern: str, tmp_path: Path) -> None:
    found = advice(schema(passThrough=True, pattern=pattern))
    assert [(problem.path, "anchored" in problem.message) for problem in found] == [("tags[]", True)]
    (tmp_path / "x.json").write_text(json.dumps(schema(passThrough=True, pattern=pattern)))
    assert check(tmp_path / "x.json") == found


@pytest.mark.parametrize("pattern", ["^[A-Z|]$", "^(a|b)$", r"^a\|b$", "^(?:[0-9]{2})$"])
def test_an_anchored_pattern_needs_no_advice(pattern: str) -> None:
    assert advice(schema(passThrough=True, pattern=pattern)) == []


def test_a_pattern_on_a_field_that_does_not_pass_needs_no_advice() -> None:
    assert advice(schema(autoDeId=True, pattern="a")) == []
