"""`incognote sample`: from a released folder to a statement about leaks, with the command line only."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
CANARY = "Featherstonehaugh"


@pytest.fixture
def released(tmp_path: Path, run: Run) -> Path:
    """Thirty texts that `deid` released."""
    (tmp_path / "in").mkdir()
    for n in range(30):
        (tmp_path / "in" / f"{n}.txt").write_text(
            f"Seen on 03/{n % 27 + 1:02}/2025. Stable on day {n}; rest and fluids."
        )
    assert run("deid", tmp_path / "in", "--out", tmp_path / "released").code == 0
    return tmp_path / "released"


def decided(folder: Path, leaks: dict[int, list[list[Any]]]) -> list[Path]:
    """Write the decisions of both reviewers. `leaks`, by reviewer, are marks on the first drawn case."""
    key = json.loads(folder.with_name(f"{folder.name}.key.json").read_text())
    first = next(case for case in key["cases"] if case["plant"] is None)
    paths = []
    for number, given in enumerate(key["sets"]):
        marks: dict[str, Any] = {case["items"][number]: [] for case in key["cases"]}
        marks[first["items"][number]] = leaks.get(number, [])
        told = {"kind": "incognote-review", "set": given["name"], "decisions": marks}
        paths.append(folder.with_name(f"decisions-{number + 1}.json"))
        paths[-1].write_text(json.dumps(told))
    return paths


def test_a_release_is_drawn_reviewed_and_proven(released: Path, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "review"
    done = run("sample", "draw", released, "--out", folder, "--bound", "0.1", "--plant", "4", "--seed", "1")
    assert done.code == 0, done.err
    assert "of 30 documents drawn and 4 with planted leaks, for 2 reviewers" in done.out
    assert "PHI" in done.err
    done = run("sample", "report", folder, *decided(folder, {}))
    assert done.code == 0, done.err
    assert "PROVEN: at most 10% leak" in done.out
    assert "of 4 planted leaks they found 0" in done.out


def test_a_leak_too_many_is_not_proven_and_fails(released: Path, tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "review"
    told = run("sample", "draw", released, "--out", folder, "--bound", "0.1", "--json").data
    assert (told["population"], told["unvouched"]) == (30, 0)
    assert Path(told["key"]) == tmp_path / "review.key.json"
    done = run("sample", "report", folder, *decided(folder, {0: [[0, 4, "PERSON"]]}), "--json")
    assert done.code == 1
    assert (done.data["proven"], done.data["leaking"], done.data["open"]) == (False, 1, 1)
    assert "NOT PROVEN" in run("sample", "report", folder, *decided(folder, {0: [[0, 4, "PERSON"]]})).out


def test_a_draw_that_cannot_prove_its_bound_says_how_many_can(released: Path, tmp_path: Path, run: Run) -> None:
    done = run("sample", "draw", released, "--out", tmp_path / "review", "--bound", "0.1", "--size", "3")
    assert done.code == 2
    assert "of 30 are needed" in done.err
    assert "are needed" in done.err
    assert not (tmp_path / "review").exists()


def test_no_word_of_a_document_and_no_name_of_an_output_is_printed(tmp_path: Path, run: Run) -> None:
    (tmp_path / "out").mkdir()
    for n in range(25):
        (tmp_path / "out" / f"{CANARY}-{n}.txt").write_text(f"{CANARY} was seen, visit {n}.")
    folder = tmp_path / "review"
    said = [run("sample", "draw", tmp_path / "out", "--out", folder, "--bound", "0.2")]
    assert "No manifest lists 25 of the files" in said[0].err
    paths = decided(folder, {0: [[0, 17, "PERSON"]], 1: [[0, 17, "PERSON"]]})
    said += [run("sample", "report", folder, *paths), run("sample", "report", folder, *paths, "--json")]
    (tmp_path / "out" / f"{CANARY}-3.txt").write_text("changed")
    said.append(run("sample", "report", folder, *paths))
    assert said[-1].code == 2
    assert all(CANARY not in one.out + one.err for one in said)
