"""Processes that detect: the same answers as without them, and none lost where they die."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.testing import ScriptedLLM

NOTES = [
    "Mrs. Adaeze Okonkwo, 66, was seen by Dr. Wieczorek on 03/09/2025.",
    "No complaints. BP 120/80.",
    "\ud800 lone surrogate, then Dr. Abara \U0001f600 in Oslo",
    "",
]
RECORD = {"dataType": "note", "id": "r1", "text": "Adaeze Okonkwo called; MRN 00718823."}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deidentifier, Deidentifier]]:
    """The same settings with processes and without."""
    roster: Path = tmp_path_factory.mktemp("r") / "roster.jsonl"
    roster.write_text('{"name": "Quill Tennant"}\n', encoding="utf-8")
    words = {"roster": roster, "key": "00" * 32}
    with Deidentifier(processes=1, **words) as many, Deidentifier(**words) as one:  # type: ignore[arg-type] # shared
        yield many, one


def test_detection_in_processes_gives_the_same_results(pair: tuple[Deidentifier, Deidentifier]) -> None:
    many, one = pair
    items = [*NOTES, RECORD, "quill tennant rang"]
    for ours, theirs in zip(many.batch(items), one.batch(items), strict=True):
        assert ours.output(even_if_unreleased=True) == theirs.output(even_if_unreleased=True)
        assert ours.verdict == theirs.verdict
        assert ours.replacements == theirs.replacements
    assert many.detect(NOTES) == one.detect(NOTES)
    known = {"name": "Zed Quux"}
    assert many.deidentify("zed quux again", known=known).text == one.deidentify("zed quux again", known=known).text


async def test_the_async_face_gives_them_too(pair: tuple[Deidentifier, Deidentifier]) -> None:
    many, one = pair
    ours = await asyncio.gather(*(many.adeidentify(note) for note in NOTES))
    assert [r.text for r in ours] == [one.deidentify(note).text for note in NOTES]


def test_processes_that_are_killed_lose_no_record() -> None:
    with Deidentifier(processes=1) as deid:
        first = deid.deidentify(NOTES[0])
        workers = deid.tools.workers
        assert workers is not None
        assert workers._pool is not None
        for process in workers._pool._processes.values():
            os.kill(process.pid, signal.SIGKILL)
        assert [deid.deidentify(NOTES[0]).text for _ in range(3)] == [first.text] * 3


def test_the_audit_hears_the_rules_where_only_a_model_was_asked() -> None:
    silent = ScriptedLLM(lambda request: "{}")
    with Deidentifier(model=silent, detectors=("llm",), passes=1) as deid:
        result = deid.deidentify(NOTES[0])
    assert "Okonkwo" not in result.text
    assert result.manifest["counts"]["mended"] > 0
