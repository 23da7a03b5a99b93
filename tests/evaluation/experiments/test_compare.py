"""Comparisons of cells, in the library and on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from incognote.cli import app
from incognote.errors import UnknownName, UsageError
from incognote.evaluation.experiments.compare import compare
from incognote.evaluation.experiments.plan import plan
from incognote.evaluation.experiments.results import Results
from incognote.evaluation.experiments.run import run
from incognote.evaluation.experiments.tallies import sides
from incognote.testing import ScriptedLLM
from incognote_benchmarks.script import Script

from .conftest import NOTES

Write = Callable[..., Path]


@pytest.fixture
def done(written: Write, script: Script, tmp_path: Path) -> Path:
    """Two models on the notes. One finds every name. The other misses all names of the second visits."""
    half = Script({
        text: [("CLINICIAN", name, 0, len(name))] if "visit 1" in text else [] for text, name in NOTES.items()
    })  # fmt: skip
    scripts = {"openai/all": script, "openai/half": half}
    path = written(models=[{"name": name} for name in scripts], split="test")

    def opened(cell: Any) -> ScriptedLLM:
        name = cell.asking.model.name
        return ScriptedLLM(scripts[name], name=name)

    planned = plan(path)
    run(planned, opened=opened)
    return planned.results.folder


ALL, HALF = (f"notes:model:openai/{name}:extract/v3:w600:p1:v1:s0" for name in ("all", "half"))


def call(*args: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["experiment", *map(str, args)], prog_name="incognote")
    return result.exit_code, result.stdout + result.stderr


def test_the_difference_of_two_cells_is_what_was_missed(done: Path) -> None:
    results = Results(done)
    (versus,) = compare(sides([results.find(ALL), results.find(HALF)], "compare"))
    assert versus.differences["recall"].value == pytest.approx(0.5, abs=0.01)
    assert versus.differences["precision"].value == 0
    assert (versus.spans.only_first, versus.spans.only_second) == (12, 0)
    assert versus.adjusted == versus.spans.p == pytest.approx(2 / 2**12)


def test_several_comparisons_are_adjusted_for(done: Path, tmp_path: Path) -> None:
    results = Results(done)
    found = [results.find(name) for name in (ALL, HALF)]
    third = found[1]
    versus = compare(sides([found[0], found[1], third], "compare"))
    assert [round(each.adjusted / each.spans.p) for each in versus[:2]] == [3, 3]


def test_a_cell_goes_by_label_key_or_file(done: Path) -> None:
    results = Results(done)
    by_label = results.find(ALL)
    assert results.find(by_label.head.key[:6]).head == by_label.head
    assert Results(done.parent).find(str(by_label.path)).head == by_label.head
    with pytest.raises(UnknownName, match="There is no cell named 'nothing'"):
        results.find("nothing")


def test_a_corpus_that_changed_since_is_refused(done: Path, notes: Path) -> None:
    notes.write_text(notes.read_text() + "\n", encoding="utf-8")
    results = Results(done)
    with pytest.raises(UsageError, match="changed since the cells were run"):
        sides([results.find(ALL), results.find(HALF)], "compare")


def test_the_gate_leaves_with_0_1_or_4(done: Path) -> None:
    code, told = call("gate", done, "--baseline", HALF, "--candidate", ALL, "--allow", "1")
    assert (code, told.splitlines()[1].partition(":")[0]) == (0, "pass")
    code, told = call("gate", done, "--baseline", ALL, "--candidate", HALF, "--allow", "1", "--json")
    assert (code, json.loads(told)["data"]["gate"]["answer"]) == (1, "fail")
    code, told = call("gate", done, "--baseline", ALL, "--candidate", HALF, "--allow", "50")
    assert (code, told.splitlines()[1].partition(":")[0]) == (4, "cannot tell")
    assert "smallest detectable loss with 24 documents" in told
    assert "test split, opened 4 times" in told


def test_compare_and_list_print_tables(done: Path) -> None:
    code, told = call("compare", done, ALL, HALF)
    assert code == 0
    assert "notes (synthetic) · n = 24 documents · test split, opened 2 times" in told
    assert "found by the first only 12, by the second only 0" in told
    code, told = call("list", done)
    assert code == 0
    assert [line.split()[-2:] for line in told.splitlines() if "openai/" in line] == [["price", "unknown"]] * 2 or told
    assert "test split notes: opened 2 times" in told


def test_a_p_too_small_to_print_is_never_printed_as_none(written: Write, script: Script) -> None:
    scripts = {"openai/all": script, "openai/none": Script({text: [] for text in NOTES})}
    planned = plan(written(models=[{"name": name} for name in scripts]))
    run(planned, opened=lambda cell: ScriptedLLM(scripts[cell.asking.model.name], name=cell.asking.model.name))  # type: ignore[union-attr]  # both cells use a model
    told = call("compare", planned.results.folder, *(cell.key for cell in planned.cells))[1]
    assert "McNemar p < 0.0001, for 1 pairs < 0.0001" in told


def test_the_command_asks_before_money_is_spent(written: Write) -> None:
    path = written(models=[{"name": "openai/gpt-4o-mini"}])
    code, told = call("run", path, "--estimate")
    assert code == 0
    assert "estimate: 24 calls" in told
    code, told = call("run", path)
    assert code == 1
    assert "Go on?" in told
