"""The vocabulary and the code that uses it: events and facts that it does not define are never reported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import incognote
from incognote.errors import UnknownName, UsageError
from incognote.service.telemetry.events import Metrics, _table
from incognote.service.vocabulary import audited, checked, events, facts, level
from incognote.settings import ServiceSettings

PACKAGE = Path(incognote.__file__).parent


def spoken() -> Iterator[tuple[str, str, set[str]]]:
    """Return (file, event, facts) of every place in the package that reports an event by name."""
    for path in sorted([*(PACKAGE / "service").rglob("*.py"), *(PACKAGE / "cli").glob("*.py")]):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args):
                continue
            first = call.args[0]
            if call.func.attr in ("tell", "append", "timed") and isinstance(first, ast.Constant):
                named = {word.arg for word in call.keywords if word.arg is not None} - {"stream"}
                if isinstance(first.value, str) and (named or "." in first.value):
                    yield path.relative_to(PACKAGE).as_posix(), first.value, named


def test_whoever_tells_an_event_tells_one_that_there_is() -> None:
    told = list(spoken())
    assert len(told) > 20
    for file, event, named in told:
        assert event in events(), file
        assert named <= facts().keys(), (file, event)


def test_every_event_is_told_somewhere() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert [event for event in events() if f'"{event}"' not in code] == []


def test_levels_and_the_audit_log_are_of_events_that_there_are() -> None:
    assert {level(event) for event in events()} == {"debug", "info", "warning", "error"}
    assert 0 < sum(map(audited, events())) < len(events())


@given(st.text(min_size=1, max_size=80))
def test_no_kind_admits_a_text_with_two_words_or_beyond_ascii_but_a_persons_name(text: str) -> None:
    assert facts()
    for name, kind in facts().items():
        try:
            checked("worker.started", {name: text}, staff=True)
        except (UsageError, UnknownName):
            continue
        assert kind == "who" or (text.isascii() and len(text.split()) == 1), (name, kind)


@pytest.mark.parametrize("value", ["Emeka Okonkwo", "o'neill", "4155550199", "555-0199", "zqx@x.example", "03/04/2025"])
def test_nothing_but_names_of_the_staff_and_versions_admits_what_looks_like_an_identifier(value: str) -> None:
    closed = [name for name, kind in facts().items() if kind not in ("who", "version")]
    assert closed
    for name in closed:
        with pytest.raises(UsageError):
            checked("worker.started", {name: value}, staff=True)


def test_the_page_for_operators_names_events_metrics_and_settings_that_there_are() -> None:
    page = (PACKAGE.parent / "docs" / "operations.md").read_text(encoding="utf-8")
    metrics = {sample.name for family in Metrics().registry.collect() for sample in family.samples} | {
        f"incognote_{name}_total" for name, told in _table().items() if told["kind"] == "counter"
    }
    metrics |= {f"incognote_{name}" for name in _table()} | {"incognote_events_total"}
    assert set(re.findall(r"`(incognote_[a-z_]+)", page)) <= metrics
    assert set(re.findall(r'event="([a-z.]+)"', page)) <= events().keys()
    rows = re.findall(
        r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", page[page.index("## Settings") : page.index("## The audit")], re.M
    )
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named
    assert named <= ServiceSettings.model_fields.keys()
    told = re.findall(r"^\| `([a-z]+\.[a-z]+)`", page, re.M)
    assert told
    assert set(told) <= events().keys()
