"""Experiment runs: resumed after a kill, no request paid twice, and within budget."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from incognote.errors import KeyMissing, ModelUnavailable, SettingError
from incognote.evaluation.experiments.cell import Cell
from incognote.evaluation.experiments.plan import plan
from incognote.evaluation.experiments.run import run
from incognote.keys import Keyring
from incognote.llm.base import Request, Usage
from incognote.testing import LocalServer, ScriptedLLM
from incognote_benchmarks.script import Script

from .conftest import NOTES

Write = Callable[..., Path]


class Failing:
    """A server that follows the script for a number of requests and then goes down."""

    def __init__(self, script: Script, after: int) -> None:
        self._script, self._left = script, after

    def __call__(self, request: Request) -> str:
        if self._left == 0:
            raise ModelUnavailable("the script says: gone")
        self._left -= 1
        return self._script(request)


def test_a_finished_experiment_is_run_again_without_a_call(written: Write, server: LocalServer) -> None:
    path = written(models=[{"name": "openai/tiny", "api_base": server.url}], passes=[1, 2], jobs=2)
    first = run(plan(path))
    asked = server.calls
    assert len(first.finished) == 2
    assert not first.kept
    assert not first.unfinished
    # the cells share the first pass; in the second, masked notes of one visit are identical texts
    assert first.paid.calls == asked == len(NOTES) + 2
    second = run(plan(path))
    assert server.calls == asked
    assert (second.finished, set(second.kept)) == ((), set(first.finished))
    assert second.paid.calls == 0
    assert second.total.calls == asked
    heads = plan(path).results.heads()
    assert [head.scores["recall"]["value"] for head in heads] == [1.0, 1.0]


def test_the_example_compares_models_of_several_sizes_over_four_passes(written: Write, server: LocalServer) -> None:
    example = Path(__file__).parents[3] / "examples" / "model-sizes.yaml"
    spec = yaml.safe_load(example.read_text(encoding="utf-8"))
    names = [model["name"].replace("ollama_chat/", "openai/") for model in spec["models"]]
    path = written(models=[{"name": name, "api_base": server.url} for name in names], passes=spec["passes"])
    run(plan(path))
    finished = {(head.facts["model"], head.facts["asking"]["passes"]) for head in plan(path).results.heads()}
    assert finished == {(name, passes) for name in names for passes in (1, 2, 3, 4)}
    assert len(names) == 3


def test_a_killed_experiment_asks_nothing_again_but_what_was_under_way(
    written: Write, server: LocalServer, script: Script
) -> None:
    server.latency = 0.05
    system = {"name": "model", "detectors": ["llm"], "settings": {"model_attempts": 1, "model_slots": 1}}
    path = written(models=[{"name": "openai/tiny", "api_base": server.url}], systems=[system])
    command = [sys.executable, "-m", "incognote", "experiment", "run", path, "--yes"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while server.calls < 6 and process.poll() is None:
            time.sleep(0.01)
        process.kill()
    assert 6 <= server.calls < len(NOTES)
    assert plan(path).results.heads() == []
    outcome = run(plan(path))
    assert len(outcome.finished) == 1
    asked = Counter(request.address("openai/tiny") for request in server.requests)
    assert len(asked) == len(NOTES)
    assert sum(times - 1 for times in asked.values()) <= 1
    (head,) = plan(path).results.heads()
    assert head.taken["from_recording"] >= 4
    assert head.scores["recall"]["value"] == 1.0


def test_a_cell_whose_model_went_away_is_left_for_another_run(written: Write, script: Script) -> None:
    path = written()
    gone = ScriptedLLM(Failing(script, 10), name="openai/tiny")
    outcome = run(plan(path), opened=lambda cell: gone)
    assert outcome.finished == ()
    assert len(outcome.unfinished) == 1
    assert outcome.paid.calls == 10
    back = ScriptedLLM(script, name="openai/tiny")
    again = run(plan(path), opened=lambda cell: back)
    assert len(again.finished) == 1
    assert back.calls == len(NOTES) - 10
    assert again.total.calls == len(NOTES)


def test_a_failure_that_the_policy_covers_up_leaves_the_cell_unfinished_too(
    written: Write, script: Script, tmp_path: Path
) -> None:
    policy = tmp_path / "covering.toml"
    policy.write_text('name = "covering"\nextends = "strict"\n[models]\non_failure = "embedded"\n', encoding="utf-8")
    path = written(systems=[{"name": "covered", "detectors": ["rules", "llm"], "policy": policy.name}])
    outcome = run(plan(path), opened=lambda cell: ScriptedLLM(Failing(script, 0), name="openai/tiny"))
    assert outcome.finished == ()


def test_the_budget_is_over_all_runs(written: Write, script: Script) -> None:
    opened: list[ScriptedLLM] = []

    def open_(cell: Cell) -> ScriptedLLM:
        opened.append(ScriptedLLM(script, name="openai/tiny"))
        return opened[-1]

    path = written(budget_tokens=3000, systems=[{"name": "m", "detectors": ["llm"], "settings": {"model_slots": 1}}])
    first = run(plan(path), opened=open_)
    assert first.unfinished
    assert first.total.input + first.total.output >= 3000
    second = run(plan(path), opened=open_)
    assert second.unfinished
    assert second.paid.calls == 0
    assert opened[1].calls == 0
    third = run(plan(written(budget_tokens=10_000_000)), opened=open_)
    assert third.finished
    assert third.total.calls == len(NOTES)


def test_calls_that_begin_together_keep_the_budget(written: Write, script: Script) -> None:
    model = ScriptedLLM(script, name="openai/tiny")
    known = run(plan(written(seeds=[7])), opened=lambda cell: model).total
    one = (known.input + known.output) / known.calls
    budget = int(known.input + known.output + 5.5 * one)
    told = run(
        plan(written(seeds=[8], budget_tokens=budget)), opened=lambda cell: ScriptedLLM(script, name="openai/tiny")
    )
    assert told.unfinished
    assert budget <= told.total.input + told.total.output < budget + 2 * one


def test_money_cannot_be_bounded_where_a_price_is_unknown(written: Write) -> None:
    models = [{"name": "openai/nobody-knows-it", "api_base": "https://models.example/v1"}]
    with pytest.raises(SettingError, match="no price is known for openai/nobody-knows-it"):
        plan(written(models=models, budget_usd=1.0))


def test_the_estimate_counts_chunks_passes_and_votes(written: Write) -> None:
    guess = plan(written(passes=[1, 2], votes=[1, 3])).estimate
    assert guess.calls == len(NOTES) * (1 + 2) * (1 + 3)
    assert guess.usd is None  # the price table does not contain `openai/tiny`
    known = plan(written(models=[{"name": "openai/gpt-4o-mini"}])).estimate
    assert known.usd is not None
    assert known.usd > 0


def test_a_seed_is_asked_anew(written: Write, script: Script) -> None:
    models: list[ScriptedLLM] = []

    def open_(cell: Cell) -> ScriptedLLM:
        models.append(ScriptedLLM(script, name="openai/tiny"))
        return models[-1]

    run(plan(written(seeds=[0, 1])), opened=open_)
    assert [model.calls for model in models] == [len(NOTES), len(NOTES)]


def test_replies_about_real_notes_are_sealed_or_nothing_is_asked(
    written: Write, notes: Path, script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(corpora=[{"name": "notes", "path": notes.name, "synthetic": False}])
    model = ScriptedLLM(script, name="openai/tiny")
    with pytest.raises(KeyMissing):
        run(plan(path), opened=lambda cell: model)
    assert model.calls == 0
    key = tmp_path / "key"
    Keyring.write_new(key)
    monkeypatch.setenv("INCOGNOTE_KEY_FILE", str(key))
    planned = plan(path)
    assert run(planned, opened=lambda cell: model).finished
    held = b"".join(file.read_bytes() for file in planned.results.folder.rglob("*") if file.is_file())
    assert not [name for name in set(NOTES.values()) if name.encode() in held]


def test_a_document_that_the_model_declines_is_kept_as_unread(written: Write, script: Script) -> None:
    def declines(request: Request) -> Any:
        from incognote.llm.base import Reply

        return Reply("", "refusal", Usage(calls=1)) if "visit 2" in request.messages[1].content else script(request)

    planned = plan(written())
    outcome = run(planned, opened=lambda cell: ScriptedLLM(declines, name="openai/tiny"))
    assert outcome.finished
    (head,) = planned.results.heads()
    assert head.failed == len(NOTES) // 2
    assert head.scores["recall"]["value"] == pytest.approx(0.5)
