"""Recorded replies of a large language model to the request for a better guideline (tests/data/replies/README.md)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from incognote.evaluation.lab.growing import write_overlay
from incognote.evaluation.lab.proposing import quotes, read_guideline, some
from incognote.llm.recording import Recording
from incognote.prompts.loader import asked, load
from incognote.schemas.policy import load_policy
from incognote_benchmarks.recorded import MODEL

REPLIES = Path(__file__).parents[2] / "data" / "replies"


@pytest.fixture(scope="module")
def asking() -> Any:
    spec = importlib.util.spec_from_file_location("propose", REPLIES / "propose.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# The recorded question about LOCATION under prompt 1 does not arise any more: the place that was missed is now found.
@pytest.mark.parametrize(("number", "type_", "missed", "wrong"), [(1, "AGE", 8, 0)])
def test_the_recorded_errors_lead_to_the_recorded_question_and_a_guideline_that_can_be_tried(
    asking: Any, tmp_path: Path, number: int, type_: str, missed: int, wrong: int
) -> None:
    system = asking.SYSTEMS[number]
    found, errors = asking.worst(system)
    assert (found, len(errors.missed), len(errors.wrong)) == (type_, missed, wrong)
    recording = Recording(REPLIES / "propose-v1.jsonl", plain=True, create=False)
    reply = recording.reply(asking.request(system, found, errors).address(MODEL))
    recording.close()
    assert reply is not None, "the question changed: ask anew with tests/data/replies/propose.py"
    line = read_guideline(reply.text)
    assert line is not None
    base = load(system.prompt)
    types = asked(load_policy("strict"))
    assert not quotes(line, [*some(errors.missed, 1), *some(errors.wrong, 1)], base.render([""], types).system)
    write_overlay(tmp_path / "mine.toml", system.prompt, "a real model's", replaced={found: line})
    made = load(str(tmp_path / "mine.toml"))
    assert f"- {found}: {line}\n" in made.render(["x"], types).system
    assert made.contract == base.contract
