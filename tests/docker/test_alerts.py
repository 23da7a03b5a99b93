"""The alerts name metrics and events that exist, and each has a runbook."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from incognote.service.telemetry.events import _table
from incognote.service.vocabulary import events

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
RULES = yaml.safe_load((ROOT / "docker" / "alerts.yaml").read_text())["groups"][0]["rules"]
SERIES = {f"incognote_{name}" + ("_total" if told["kind"] == "counter" else "") for name, told in _table().items()}


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    page = (ROOT / "docs" / "runbooks.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", page, re.M) == [rule["alert"] for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_metrics_events_and_labels_that_there_are(rule: dict[str, str]) -> None:
    assert set(re.findall(r"incognote_\w+", rule["expr"])) <= SERIES | {"incognote_events_total"}
    assert set(re.findall(r'event="([^"]+)"', rule["expr"])) <= events().keys()
    assert set(re.findall(r"(\w+)=\"", rule["expr"])) <= {"event", "outcome", "reason", "job"}
