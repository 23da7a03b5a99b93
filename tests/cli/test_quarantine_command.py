"""`incognote quarantine`: what is held is listed, shown to who may see it, retried, dropped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

LINES = (
    '{"id": "1", "text": "Seen on 03/16/2025."}',
    '{"id": "2", "text": "Seen on 03/17/2025."}',
    '{"id": "3", "text": broken',
)


@pytest.fixture
def held(tmp_path: Path, run: Run, per_patient: Path) -> Path:
    """A quarantine of two records without a subject and a broken one."""
    (tmp_path / "Doe.jsonl").write_text("\n".join(LINES))
    done = run("deid", tmp_path / "Doe.jsonl", "--out", tmp_path / "out", "--policy", per_patient)
    assert done.code == 3
    assert not (tmp_path / "out" / "Doe.jsonl").exists()
    return tmp_path / "out-quarantine"


def test_what_is_held_is_listed_without_a_key_and_without_phi(held: Path, run: Run, monkeypatch: Any) -> None:
    monkeypatch.setenv("INCOGNOTE_HOME", str(held / "nowhere"))
    done = run("quarantine", "list", held)
    assert done.code == 0
    assert [line.split()[1] for line in done.out.splitlines()[1:4]] == ["review", "review", "quarantine"]
    assert "3 held" in done.out
    assert "Doe" not in done.out
    told = run("quarantine", "list", held, "--json").data["held"]
    assert [(one["position"], one["outcome"]) for one in told] == [(1, "review"), (2, "review"), (3, "quarantine")]


def test_an_original_is_shown_only_with_the_key_and_to_a_terminal(
    held: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = run("quarantine", "list", held, "--json").data["held"][0]["name"]
    assert run("quarantine", "show", held, item).code == 2
    shown = run("quarantine", "show", held, item[:8], "--show-anyway")
    assert shown.out == LINES[0]
    assert "no-subject" in shown.err
    assert run("quarantine", "show", held, "zz", "--show-anyway").code == 2
    run("key", "new", tmp_path / "other.key")
    wrong = run("quarantine", "show", held, item, "--show-anyway", "--key-file", tmp_path / "other.key")
    assert (wrong.code, wrong.out) == (1, "")
    monkeypatch.setenv("INCOGNOTE_HOME", str(tmp_path / "nowhere"))
    assert "a persistent key is needed" in run("quarantine", "show", held, item, "--show-anyway").err


def test_a_retry_releases_what_passes_now_and_keeps_the_rest(held: Path, run: Run, tmp_path: Path) -> None:
    done = run("quarantine", "retry", held, "--out", tmp_path / "again", "--keep-names", "--json")
    assert done.code == 3
    assert (done.data["records"], done.data["released"], done.data["quarantined"]) == (3, 2, 1)
    first, second = (tmp_path / "again" / "Doe.jsonl").read_text().splitlines()
    assert json.loads(first)["text"] == json.loads(second)["text"] == "Seen on [DATE]."
    left = run("quarantine", "list", held, "--json").data["held"]
    assert [one["position"] for one in left] == [3]
    assert left[0]["policy"].startswith("strict ")


def test_a_retry_takes_what_the_run_was_not_told(held: Path, run: Run, tmp_path: Path, per_patient: Path) -> None:
    args = ("quarantine", "retry", held, "--policy", per_patient)
    assert run(*args, "--out", tmp_path / "one", "--reason", "no-subject").code == 3
    assert run(*args, "--out", tmp_path / "two", "--reason", "no-subject", "--patient", "p1").code == 0
    assert len(run("quarantine", "list", held, "--json").data["held"]) == 1


def test_chosen_items_are_retried_alone(held: Path, run: Run, tmp_path: Path) -> None:
    item = run("quarantine", "list", held, "--json").data["held"][1]["name"]
    done = run("quarantine", "retry", held, item[:10], "--out", tmp_path / "again", "--json")
    assert (done.code, done.data["records"]) == (0, 1)
    assert len(run("quarantine", "list", held, "--json").data["held"]) == 2


def test_a_retry_into_the_quarantine_itself_is_refused(held: Path, run: Run) -> None:
    assert run("quarantine", "retry", held, "--out", held / "out").code == 2


def test_rows_of_a_table_are_retried_under_their_header(run: Run, tmp_path: Path, per_patient: Path) -> None:
    (tmp_path / "a.csv").write_text("id,note\n1,Seen on 03/16/2025.\n2,Nothing.\n3\n")
    columns = ("--text-column", "note", "--pass-column", "id")
    first = run("deid", tmp_path / "a.csv", "--out", tmp_path / "out", "--policy", per_patient, *columns)
    assert first.code == 3
    done = run("quarantine", "retry", tmp_path / "out-quarantine", "--out", tmp_path / "again", "--keep-names")
    assert done.code == 3
    assert (tmp_path / "again" / "a.csv").read_text() == "id,note\n1,Seen on [DATE].\n2,Nothing.\n"
    assert len(run("quarantine", "list", tmp_path / "out-quarantine", "--json").data["held"]) == 1


def test_dropping_asks_and_is_for_good(held: Path, run: Run) -> None:
    assert run("quarantine", "drop", held).code == 2
    assert "Delete 3 for good?" in run("quarantine", "drop", held, "--all", stdin="n\n").out
    assert run("quarantine", "list", held).out.endswith("3 held\n")
    item = run("quarantine", "list", held, "--json").data["held"][0]["name"]
    assert run("quarantine", "drop", held, item, "--yes").out == "1 dropped.\n"
    assert run("quarantine", "drop", held, "--all", "--yes").out == "2 dropped.\n"
    assert run("quarantine", "list", held).out == "Nothing is held.\n"


def test_a_folder_that_is_not_there_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    for args in (("list",), ("drop", "--all"), ("show", "x", "--show-anyway"), ("retry", "--out", tmp_path / "o")):
        done = run("quarantine", args[0], tmp_path / "nowhere", *args[1:])
        assert (done.code, done.err) == (2, "incognote: there is no such quarantine folder\n")
