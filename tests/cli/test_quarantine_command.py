"""`incognote quarantine`: list held records, show them to authorized users, retry them, and delete them."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from incognote.files.atomic import exclusive

Run = Callable[..., Any]

LINES = (
    '{"id": "1", "text": "Seen on 03/16/2025."}',
    '{"id": "2", "text": "Seen on 03/17/2025."}',
    '{"id": "3", "text": broken',
)


@pytest.fixture
def held(tmp_path: Path, run: Run, per_patient: Path) -> Path:
    """A quarantine with two records that have no subject, and a malformed one."""
    (tmp_path / "Doe.jsonl").write_text("\n".join(LINES))
    done = run("deid", tmp_path / "Doe.jsonl", "--out", tmp_path / "out", "--policy", per_patient)
    assert done.code == 3
    assert not (tmp_path / "out" / "Doe.jsonl").exists()
    return tmp_path / "out-quarantine"


def test_what_is_held_is_listed_without_a_key_and_without_phi(held: Path, run: Run, monkeypatch: Any) -> None:
    monkeypatch.setenv("INCOGNOTE_HOME", str(held / "nowhere"))
    done = run("quarantine", "list", held)
    said = "incognote: No key is configured. To show source files and details, add --key-file FILE.\n"
    assert (done.code, done.err) == (0, said)
    assert [line.split()[1] for line in done.out.splitlines()[1:4]] == ["review", "review", "quarantine"]
    assert "3 held" in done.out
    assert "Doe" not in done.out
    told = run("quarantine", "list", held, "--json").data["held"]
    assert [(one["position"], one["outcome"]) for one in told] == [(1, "review"), (2, "review"), (3, "quarantine")]


def test_an_original_is_shown_only_with_the_key_and_to_a_terminal(
    held: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = run("quarantine", "list", held, "--json").data["held"][0]["name"]
    piped = run("quarantine", "show", held, item)
    assert (piped.code, "add --show-anyway" in piped.err) == (2, True)
    shown = run("quarantine", "show", held, item[:8], "--show-anyway")
    assert shown.out == LINES[0]
    assert "no-subject" in shown.err
    assert run("quarantine", "show", held, "zz", "--show-anyway").code == 2
    run("key", "new", tmp_path / "other.key")
    wrong = run("quarantine", "show", held, item, "--show-anyway", "--key-file", tmp_path / "other.key")
    assert (wrong.code, wrong.out) == (1, "")
    monkeypatch.setenv("INCOGNOTE_HOME", str(tmp_path / "nowhere"))
    assert "A persistent key is needed" in run("quarantine", "show", held, item, "--show-anyway").err


def test_a_retry_releases_what_passes_now_and_keeps_the_rest(held: Path, run: Run, tmp_path: Path) -> None:
    done = run("quarantine", "retry", held, "--out", tmp_path / "again", "--keep-names", "--json")
    assert done.code == 3
    assert (done.data["records"], done.data["released"], done.data["quarantined"]) == (3, 2, 1)
    first, second = (tmp_path / "again" / "Doe.retry-1.jsonl").read_text().splitlines()
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


@pytest.mark.parametrize("named", [(), ("--keep-names",)])
def test_a_retry_into_the_runs_own_output_removes_nothing(
    held: Path, run: Run, tmp_path: Path, named: tuple[str, ...]
) -> None:
    out = tmp_path / "released"
    assert run("deid", tmp_path / "Doe.jsonl", "--out", out, *named).code == 3  # the same name as the held records
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    items = [one["name"] for one in run("quarantine", "list", held, "--json").data["held"]]
    for item in items[:2]:
        assert run("quarantine", "retry", held, item, "--out", out, *named).code == 0
    after = {path.name: path.read_bytes() for path in out.iterdir()}
    assert before.items() <= after.items()
    [stem] = {name.removesuffix(".jsonl") for name in before} - {"manifest.json", ".incognote.journal"}
    new = {f"{stem}.retry-{n}.jsonl" for n in (1, 2)} | {f"manifest.retry-{n}.json" for n in (1, 2)}
    assert after.keys() - before.keys() == new
    assert json.loads(after[f"{stem}.retry-2.jsonl"])["text"] == "Seen on [DATE]."
    assert json.loads(after["manifest.retry-2.json"])["outputs"] == [
        {"name": f"{stem}.retry-2.jsonl", "records": 1, "sha256": sha256(after[f"{stem}.retry-2.jsonl"]).hexdigest()}
    ]


def test_a_folder_another_run_writes_into_is_refused_with_nothing_changed(held: Path, run: Run, tmp_path: Path) -> None:
    before = sorted(held.iterdir())
    retry = ("quarantine", "retry", held, "--out", tmp_path / "again")
    for busy in (held, tmp_path / "again"):
        with exclusive(busy):
            done = run(*retry)
        assert (done.code, done.err.count("\n")) == (1, 1)
        assert "Another run is writing to this folder" in done.err
        assert sorted(held.iterdir()) == before
    with exclusive(held):
        assert run("quarantine", "drop", held, "--all", "--yes").code == 1
        assert run("deid", tmp_path / "Doe.jsonl", "--out", tmp_path / "more", "--quarantine", held).code == 1
        assert run("quarantine", "list", held).out.endswith("3 held\n")
    assert not (tmp_path / "more").exists()
    assert run(*retry).code == 3


def test_details_are_listed_with_the_key_only(held: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert "line 1, column" in run("quarantine", "list", held, "--long").out
    assert "line 1, column" not in run("quarantine", "list", held, "--json").out
    assert "line 1, column" in run("quarantine", "list", held, "--long", "--json").out
    monkeypatch.setenv("INCOGNOTE_HOME", str(held / "nowhere"))
    done = run("quarantine", "list", held, "--long")
    assert done.code == 0
    assert "malformed" in done.out
    assert "line 1, column" not in done.out


def test_a_retry_into_the_quarantine_itself_is_refused(held: Path, run: Run) -> None:
    assert run("quarantine", "retry", held, "--out", held / "out").code == 2


def test_rows_of_a_table_are_retried_under_their_header(run: Run, tmp_path: Path, per_patient: Path) -> None:
    (tmp_path / "a.csv").write_text("id,note\n1,Seen on 03/16/2025.\n2,Nothing.\n3\n")
    columns = ("--text-column", "note", "--pass-column", "id")
    first = run("deid", tmp_path / "a.csv", "--out", tmp_path / "out", "--policy", per_patient, *columns)
    assert first.code == 3
    done = run("quarantine", "retry", tmp_path / "out-quarantine", "--out", tmp_path / "again", "--keep-names")
    assert done.code == 3
    assert (tmp_path / "again" / "a.retry-1.csv").read_text() == "id,note\n1,Seen on [DATE].\n2,Nothing.\n"
    assert len(run("quarantine", "list", tmp_path / "out-quarantine", "--json").data["held"]) == 1


def test_dropping_asks_and_is_for_good(held: Path, run: Run) -> None:
    assert run("quarantine", "drop", held).code == 2
    assert "Permanently delete 3 held records?" in run("quarantine", "drop", held, "--all", stdin="n\n").out
    assert run("quarantine", "list", held).out.endswith("3 held\n")
    item = run("quarantine", "list", held, "--json").data["held"][0]["name"]
    assert run("quarantine", "drop", held, item, "--yes").out == "1 item dropped.\n"
    assert run("quarantine", "drop", held, "--all", "--yes").out == "2 items dropped.\n"
    assert run("quarantine", "list", held).out == "Nothing is held.\n"


def test_an_item_that_is_named_twice_is_one(held: Path, run: Run, tmp_path: Path) -> None:
    first, second, _ = (one["name"] for one in run("quarantine", "list", held, "--json").data["held"])
    done = run("quarantine", "retry", held, first, first[:12], "--out", tmp_path / "again", "--json")
    assert (done.code, done.data["records"]) == (0, 1)
    assert run("quarantine", "drop", held, second, second, "--yes").out == "1 item dropped.\n"


def test_a_reason_that_is_none_is_refused_with_those_there_are(held: Path, run: Run, tmp_path: Path) -> None:
    retry = ("quarantine", "retry", held, "--out", tmp_path / "again", "--reason")
    done = run(*retry, "no-subjekt")
    assert done.code == 2
    said = "--reason: nothing is held for 'no-subjekt'. Reasons in this folder: malformed, no-subject."
    assert done.err == f"incognote: {said}\n"
    assert run(*retry, "doubtful", "--json").data["records"] == 0


def test_a_folder_that_is_not_there_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    for args in (("list",), ("drop", "--all"), ("show", "x", "--show-anyway"), ("retry", "--out", tmp_path / "o")):
        done = run("quarantine", args[0], tmp_path / "nowhere", *args[1:])
        said = f"incognote: {tmp_path}/nowhere is not a quarantine folder. Check the path.\n"
        assert (done.code, done.err) == (2, said)


def test_the_holder_of_the_key_is_told_which_file_an_item_came_from(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "in" / "ward").mkdir(parents=True)
    (tmp_path / "in" / "ward" / "Carter.ps").write_bytes(b"%!PS-Adobe-3.0\n1 0 obj\n")
    assert run("deid", "./in", "--out", "out").code == 3
    assert "./in/ward/Carter.ps" in run("quarantine", "list", "out-quarantine").out
    assert run("quarantine", "list", "out-quarantine", "--json").data["held"][0]["path"] is None  # a path can be PHI
    (told,) = run("quarantine", "list", "out-quarantine", "--long", "--json").data["held"]
    assert told["path"] == "./in/ward/Carter.ps"
    assert run("quarantine", "retry", "out-quarantine", "--out", "again").code == 3  # held again, from the first path
    assert "./in/ward/Carter.ps" in run("quarantine", "list", "out-quarantine").out
    (held,) = (tmp_path / "out-quarantine").iterdir()
    assert b"Carter" not in held.read_bytes()
    assert "Carter" not in held.name
    monkeypatch.setenv("INCOGNOTE_HOME", str(tmp_path / "nowhere"))
    done = run("quarantine", "list", "out-quarantine")
    assert done.code == 0
    assert "Carter" not in done.out
    (told,) = run("quarantine", "list", "out-quarantine", "--long", "--json").data["held"]
    assert told["path"] is None


def test_a_wrong_key_and_a_folder_of_other_files_are_not_passed_over(
    held: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("key", "new", tmp_path / "other.key")
    monkeypatch.setenv("INCOGNOTE_KEY_FILE", str(tmp_path / "other.key"))
    done = run("quarantine", "list", held)
    assert (done.code, "3 held" in done.out) == (1, True)
    assert "Source files and details are not shown. This was made under key" in done.err
    done = run("quarantine", "list", tmp_path)
    assert (done.code, "is not a quarantine folder" in done.err) == (2, True)


def test_a_retry_says_which_items_it_cannot_open_and_what_to_do(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.abc").write_text("Seen on 03/16/2025.")
    assert run("deid", tmp_path / "note.abc", "--out", tmp_path / "out").code == 3
    retry = ("quarantine", "retry", tmp_path / "out-quarantine", "--out", tmp_path / "out")
    done = run(*retry)
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert done.err.startswith("incognote: 1 item cannot be retried")
    assert "incognote deid" in done.err
    assert f"incognote quarantine drop {tmp_path / 'out-quarantine'} ITEM" in done.err
    assert run(*retry, "--json").data["never_opened"] == 1


def test_a_damaged_item_keeps_no_other_from_being_listed(held: Path, run: Run) -> None:
    item = held / f"{run('quarantine', 'list', held, '--json').data['held'][0]['name']}.held"
    item.write_bytes(item.read_bytes()[:-3])
    assert len(run("quarantine", "list", held, "--json").data["held"]) == 3
    done = run("quarantine", "list", held)
    assert (done.code, done.out.count("Doe.jsonl"), "3 held" in done.out) == (0, 2, True)
