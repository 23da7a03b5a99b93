"""`incognote evaluate-relex` prints a table with intervals, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Two patients with two notes each. Wilson becomes Chang in all of them."""
    gold: list[dict[str, Any]] = []
    out: list[dict[str, Any]] = []
    for patient in ("p", "q"):
        for at in range(2):
            words, surrogate = ("Wilson", "Chang") if at else ("Adam Wilson", "Kevin Chang")
            head, tail, id_ = "Seen by Dr. ", " today for diabetes", f"{patient}{at}"
            span = {"start": len(head), "end": len(head + words), "type": "CLINICIAN", "identity": "w"}
            made = {"identity": "1", "surrogate": surrogate, "out_start": len(head), "out_end": len(head + surrogate)}
            gold.append({"id": id_, "patient": patient, "text": head + words + tail, "spans": [span]})
            out.append({"id": id_, "text": head + surrogate + tail, "spans": [span | made]})
    paths = tmp_path / "gold.jsonl", tmp_path / "out.jsonl"
    for path, rows in zip(paths, (gold, out), strict=True):
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return paths


def test_the_table_has_every_metric_and_no_word_of_a_note(run: Run, files: tuple[Path, Path]) -> None:
    done = run("evaluate-relex", *files, "--resamples", "20")
    assert done.code == 0
    for name in ("entity preservation", "contextual coherence", "replacement consistency", "hiding in plain sight"):
        assert name in done.out
    assert not [word for word in ("Wilson", "Chang", "Adam", "Kevin") if word in done.out + done.err]


def test_json_has_figures_with_intervals(run: Run, files: tuple[Path, Path]) -> None:
    data = run("evaluate-relex", *files, "--resamples", "20", "--json").data
    assert data["found"]["exact"] == {"value": 1.0, "low": 1.0, "high": 1.0, "of": 4}
    assert data["consistency"]["names"]["f1"]["value"] == 1
    assert data["preservation"]["role"]["value"] == 1
    assert {name.split(",")[0] for name in data["hiding"]} == {"outsider", "insider", "contradictions"}


def test_a_second_output_is_shown_beside_the_first(run: Run, files: tuple[Path, Path]) -> None:
    done = run("evaluate-relex", *files, "--gold-out", files[1], "--resamples", "20")
    assert "OUT: figure [95% interval]" in done.out
    assert "gold spans: figure [95% interval]" in done.out
    row = next(line for line in done.out.splitlines() if "B-cubed F1, names" in line)
    assert row.count("1.000 [1.000, 1.000]") == 2
    data = run("evaluate-relex", *files, "--gold-out", files[1], "--resamples", "20", "--json").data
    assert data["gold_spans"]["consistency"] == data["consistency"]


def test_requests_hold_the_new_notes_and_replies_are_scored(
    run: Run, files: tuple[Path, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "readers"
    done = run("evaluate-relex", *files, "--requests", folder)
    assert (done.code, done.err.split(" ")[1]) == (0, "4")
    asked = {path.stem: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert sorted(asked) == [f"clinician-0{at}" for at in (1, 2, 3, 4)]  # a note with a single mention is not planted
    assert all("Chang" in text and "Wilson" not in text for text in asked.values())
    missing = run("evaluate-relex", *files, "--replies", folder)
    assert (missing.code, "NAME.reply.txt" in missing.err) == (2, True)
    reply = {"score": 4, "false_facts": [], "odd": [{"words": "today", "why": "no date"}]}
    (folder / "clinician-02.reply.txt").write_text(f"```json\n{json.dumps(reply)}\n```", encoding="utf-8")
    (folder / "clinician-03.reply.txt").write_text("I would give it a 4.", encoding="utf-8")
    data = run("evaluate-relex", *files, "--replies", folder, "--resamples", "20", "--json").data["readers"]
    assert {name: (figure["value"], figure["of"]) for name, figure in data.items()} == {
        "clinician score": (4, 1), "clinician: outputs with a false fact": (0, 1),
        "clinician: outputs with an oddity": (1, 1), "unreadable": (0.5, 2),
    }  # fmt: skip
    listed = (folder / "complaints.txt").read_text(encoding="utf-8")
    assert listed == "clinician-02: score 4\nclinician-02: odd: today: no date\n"
    (folder / "clinician-02.txt").write_text("other", encoding="utf-8")
    assert "clinician-02.txt was written for another output" in run("evaluate-relex", *files, "--replies", folder).err


def test_files_of_two_runs_are_an_error_of_use(run: Run, files: tuple[Path, Path]) -> None:
    done = run("evaluate-relex", files[0], files[0])
    assert done.code == 2
    assert "OUT" in done.err
