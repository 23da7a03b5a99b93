"""The commands for policies, schemas, keys, and the graph, and `incognote doctor`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SCHEMA = {
    "type": "object",
    "dataType": "visit",
    "properties": {
        "name": {"type": "string", "shouldMask": True, "entity_type": "PERSON"},
        "note": {"type": "string", "autoDeId": True},
    },
}


@pytest.fixture
def visit(tmp_path: Path) -> Path:
    """A valid schema that is not approved, alone in its folder."""
    path = tmp_path / "schemas" / "visit.json"
    path.parent.mkdir()
    path.write_text(json.dumps(SCHEMA))
    return path


def test_the_shipped_policies_are_listed_strict_first(run: Run) -> None:
    rows = run("policy", "list").out.splitlines()
    assert rows[1].startswith("strict ")
    names = [p["name"] for p in run("policy", "list", "--json").data["policies"]]
    assert set(names) >= {"strict", "paper", "safe-harbor", "limited-data-set", "intelligent"}


def test_lint_passes_a_sound_policy_and_names_every_fault_of_another(run: Run, tmp_path: Path) -> None:
    assert run("policy", "lint", "safe-harbor").code == 0
    bad = tmp_path / "bad.toml"
    bad.write_text('name = "bad"\nextends = "safe-harbor"\n[types.DATE]\noperator = "date-shift"\n')
    done = run("policy", "lint", bad)
    assert done.code == 1
    assert "derived: DATE" in done.out
    assert run("policy", "lint", bad, "--json").data["faults"][0]["code"] == "derived"


def test_explain_says_what_becomes_of_a_type_with_an_example(run: Run) -> None:
    done = run("policy", "explain", "strict", "DATE")
    assert done.code == 0
    assert "03/15/2024 -> " in done.out
    assert "[DATE]" in done.out
    assert len(run("policy", "explain", "strict", "--json").data["types"]) > 33
    assert run("policy", "explain", "strict", "NOPE").code == 2


def test_a_schema_goes_from_check_to_approval_and_back_when_it_changes(run: Run, visit: Path) -> None:
    folder = visit.parent
    assert run("schema", "check", visit).code == 0
    states = []
    for step in (None, "approve", "change"):
        if step == "approve":
            done = run("schema", "approve", visit, "--by", "Ada Officer")
            assert "approved by Ada Officer" in done.out
        elif step == "change":
            visit.write_text(visit.read_text().replace("visit", "visits"))
        rows = run("schema", "list", "--schemas", folder, "--json").data["schemas"]
        states += [row["state"] for row in rows if not row["shipped"]]
    assert states == ["unapproved", "approved", "changed"]


def test_a_schema_with_problems_is_told_field_by_field(run: Run, visit: Path) -> None:
    visit.write_text(json.dumps({**SCHEMA, "properties": {"name": {"type": "string"}}}))
    done = run("schema", "check", visit)
    assert done.code == 1
    assert "name: has no flag" in done.out
    assert run("schema", "approve", visit, "--by", "Ada").code == 1


def test_a_schema_is_shown_by_name_and_by_file(run: Run, visit: Path) -> None:
    assert "PERSON" in run("schema", "show", visit).out
    assert json.loads(run("schema", "show", visit, "--raw").out) == SCHEMA
    fields = run("schema", "show", "note", "--json").data["fields"]
    assert ("text", "auto") in [(field["path"], field["flag"]) for field in fields]
    assert run("schema", "show", "nope").code == 2
    assert json.loads(run("schema", "show", "note", "--raw").out)["dataType"] == "note"


def test_a_difference_says_what_loosens(run: Run, visit: Path, tmp_path: Path) -> None:
    looser = tmp_path / "looser.json"
    looser.write_text(visit.read_text().replace('"shouldMask": true, "entity_type": "PERSON"', '"passThrough": true'))
    done = run("schema", "diff", visit, looser)
    assert done.code == 0
    assert "name: " in done.out
    assert "2 of them let more data through" in done.out
    assert run("schema", "diff", visit, visit).out == "The schemas do not differ.\n"


def test_a_draft_is_a_schema_that_holds_no_value_of_the_samples(run: Run, tmp_path: Path) -> None:
    lines = [
        {"mrn": f"77{i}-1", "sex": "F" if i % 2 else "M", "note": f"Emily Carter came on day {i}."} for i in range(40)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\nbroken\n")
    done = run("schema", "draft", tmp_path / "a.jsonl", "--name", "visit", "--out", tmp_path / "visit.json")
    assert done.code == 0
    drafted = (tmp_path / "visit.json").read_text()
    assert set(json.loads(drafted)["properties"]) == {"mrn", "sex", "note"}
    assert "Emily" not in drafted + done.out + done.err
    assert "40 records, 3 fields" in done.err
    assert run("schema", "draft", tmp_path / "a.jsonl", "--name", "visit", "--out", tmp_path / "visit.json").code == 2
    (tmp_path / "a.csv").write_text("mrn,note\n1,Emily\n2,Carter\n")
    assert json.loads(run("schema", "draft", tmp_path / "a.csv", "--name", "v").out)["dataType"] == "v"


def test_samples_in_another_encoding_or_compressed_are_read_as_far_as_they_can_be(run: Run, tmp_path: Path) -> None:
    table = b"mrn,note\n1,Jos\xe9\n2,Carter came\n"
    (tmp_path / "a.csv").write_bytes(table)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(table))
    for name in ("a.csv", "b.csv.gz"):
        done = run("schema", "draft", tmp_path / name, "--name", "v")
        assert (done.code, set(json.loads(done.out)["properties"])) == (0, {"mrn", "note"})
        assert "1 row skipped: not UTF-8" in done.err
        assert "1 records, 2 fields" in done.err


@pytest.mark.parametrize(
    ("stdin", "more"),
    [
        ("mrn,note\n1,Emily\n2,Carter\n", ()),
        ('{"mrn": "1", "note": "x"}\n{"mrn": "2", "note": "y"}\n', ()),
        ("mrn\tnote\n1\tEmily\n2\tCarter\n", ("--format", "tsv")),
    ],
)
def test_samples_come_from_the_standard_input_in_every_format(process: Run, stdin: str, more: tuple[str, ...]) -> None:
    done = process("schema", "draft", "-", "--name", "v", *more, stdin=stdin.encode())
    assert (done.code, set(json.loads(done.out)["properties"])) == (0, {"mrn", "note"})
    assert "2 records, 2 fields" in done.err


def test_a_schema_file_that_cannot_be_read_is_told_and_is_no_bug(run: Run, tmp_path: Path) -> None:
    done = run("schema", "show", tmp_path / "absent.json", "--raw")
    assert done.err == "incognote: absent.json cannot be read. Check the path.\n"
    (tmp_path / "bad.json").write_bytes(b"\xff{}")
    done = run("schema", "show", tmp_path / "bad.json", "--raw")
    assert (done.code, done.err) == (1, "incognote: bad.json is not UTF-8 text.\n")


def test_a_key_is_never_written_over(run: Run, tmp_path: Path) -> None:
    first = run("key", "new", tmp_path / "a.key")
    assert first.code == 0
    assert "--key-file" in first.out
    written = (tmp_path / "a.key").read_text()
    assert written.strip() not in first.out
    assert run("key", "new", tmp_path / "a.key").code == 2
    assert (tmp_path / "a.key").read_text() == written


def test_a_key_without_a_path_goes_where_runs_look(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INCOGNOTE_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    run("key", "new")
    assert (tmp_path / "incognote" / "master.key").exists()
    assert "Created key" not in run("doctor").out


def test_the_graph_is_printed_as_mermaid(run: Run) -> None:
    done = run("graph")
    assert done.code == 0
    assert "graph TD" in done.out
    assert "identify" in done.out


def test_the_doctor_finds_a_fresh_installation_sound_but_without_a_key(run: Run) -> None:
    lines = run("doctor", "--json").data["lines"]
    assert {line["about"]: line["state"] for line in lines if line["state"] not in ("ok", "off")} == {"key": "warn"}
    assert run("doctor").code == 0
    assert run("doctor", "--strict").code == 1


def test_the_doctor_lists_every_extra_of_the_package_with_its_purpose_and_how_to_install_it(run: Run) -> None:
    listed = {line["about"]: line for line in run("doctor", "--json").data["lines"] if line["about"].startswith("[")}
    extras = set(metadata("incognote").get_all("Provides-Extra") or ()) - {"all", "dev"}
    assert listed.keys() == {f"[{extra}]" for extra in extras}
    assert {line["state"] for line in listed.values()} <= {"ok", "off"}
    absent = listed["[azure]"]
    assert "storage on Azure" in absent["seen"]
    assert absent["state"] == "ok" or absent["remedy"] == "pip install 'incognote[azure]'"


def test_the_doctor_opens_the_index_that_is_configured_and_names_the_settings_it_read(
    run: Run, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = run("doctor", "--json").data["lines"]
    lines = {line["about"]: line for line in told}
    assert lines["index"] | {"remedy": ""} == {"state": "ok", "about": "index", "seen": "0 identities", "remedy": ""}
    assert "INCOGNOTE_INDEX" in lines["settings"]["seen"]
    assert any("en: rules, encoder, names" in line["seen"] for line in told if line["about"] == "language")
    monkeypatch.setenv("INCOGNOTE_INDEX", f"sqlite:///{index.parent / 'absent.db'}")
    assert run("doctor").code == 1


def test_the_doctor_opens_the_index_with_the_key_in_the_home_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("key", "new")
    monkeypatch.setenv("INCOGNOTE_INDEX", f"sqlite:///{tmp_path / 'index.db'}")
    assert run("index", "create").code == 0
    assert run("doctor").code == 0


@pytest.mark.parametrize("command", [("optout", "list"), ("key", "api", "list"), ("reveals", "list")])
def test_a_command_that_lists_creates_neither_a_key_nor_a_database(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("INCOGNOTE_HOME", str(tmp_path / "home"))
    assert run(*command).code != 0
    assert not (tmp_path / "home").exists()
    run("key", "new", tmp_path / "a.key")
    for _ in range(2):
        done = run(*command, "--key-file", tmp_path / "a.key")
        assert (done.code, "service.db does not exist" in done.err) == (2, True)


def test_the_doctor_says_what_to_do_where_something_is_wrong(run: Run, visit: Path, tmp_path: Path) -> None:
    run("key", "new", tmp_path / "a.key")
    (tmp_path / "a.key").chmod(0o644)
    done = run("doctor", "--schemas", visit.parent, "--key-file", tmp_path / "a.key")
    assert done.code == 0
    assert "visit (visit.json) is unapproved" in done.out
    assert "chmod 600" in done.out
    broken = tmp_path / "broken.toml"
    broken.write_text('name = "x"\n[types.NOPE]\noperator = "label"\n')
    assert run("doctor", "--policy", broken).code == 1
    wrong = run("doctor", "--config", tmp_path / "nowhere.toml")
    assert wrong.code == 1
    assert "fail" in wrong.out


def test_a_new_pack_is_a_skeleton_that_passes_and_is_never_written_over(run: Run, tmp_path: Path) -> None:
    pack = tmp_path / "clinic"
    assert run("pack", "new", pack).code == 0
    done = run("pack", "test", pack)
    assert (done.code, "0 failures" in done.out) == (0, True)
    assert run("pack", "new", pack).code == 2
    assert run("doctor", "--pack", pack).code == 0


def test_a_pack_is_tested_by_its_examples_without_showing_their_words(run: Run, tmp_path: Path) -> None:
    pack = tmp_path / "clinic"
    run("pack", "new", pack)
    (pack / "staff.csv").write_text("name\nZzyzx Qwopp\n")
    example = {"text": "seen with Zzyzx Qwopp today", "spans": [{"start": 10, "end": 21, "type": "CLINICIAN"}]}
    missed = {"text": "then xyzzy came", "spans": [{"start": 5, "end": 10, "type": "PERSON"}]}
    (pack / "examples.jsonl").write_text(json.dumps(example) + "\n")
    assert run("pack", "test", pack).code == 0
    (pack / "examples.jsonl").write_text(json.dumps(example) + "\n" + json.dumps(missed) + "\n")
    done = run("pack", "test", pack)
    assert done.code == 1
    assert "examples.jsonl line 2: characters 5 to 10: PERSON was missed" in done.out
    assert "xyzzy" not in done.out
    piped = run("pack", "test", pack, "--show")
    assert (piped.code, "--show-anyway" in piped.err) == (2, False)  # the command does not have this option
    (tmp_path / "a.txt").write_text("then zzyzx qwopp called")
    assert run("deid", tmp_path / "a.txt", "--pack", pack).out == "then [PERSON] called"


def test_a_pack_that_cannot_be_used_is_told_by_file_and_line(run: Run, tmp_path: Path) -> None:
    pack = tmp_path / "clinic"
    run("pack", "new", pack)
    (pack / "patterns.toml").write_text("[[rule]\n")
    done = run("pack", "test", pack, "--json")
    assert done.code == 1
    assert "patterns.toml" in done.data["problems"][0]
    assert run("deid", pack / "allow.txt", "--pack", pack).code == 2
    assert run("doctor", "--pack", pack).code == 1


GOLD = {"id": "1", "text": "Dr. Emily Carter on 03/16/2025.", "spans": [{"start": 20, "end": 30, "type": "DATE"}]}


def test_evaluation_scores_a_file_of_predictions_or_this_program(run: Run, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps(GOLD) + "\n")
    pred = tmp_path / "pred.jsonl"
    run("detect", gold, "--out", pred)
    args = ("--types", "DATE", "--synthetic", "--json")
    scored = [run("evaluate", gold, *more, *args).data for more in ((), ("--pred", pred))]
    assert scored[0] == scored[1]
    assert scored[0]["figures"]["recall"]["value"] == 1.0
    assert scored[0]["synthetic"] is True
    table = run("evaluate", gold, "--html", tmp_path / "page.html")
    assert "Characters: recall" in table.out
    assert "as PHI" in table.err
    assert "Carter" in (tmp_path / "page.html").read_text()


def test_a_document_that_cannot_be_scored_is_told_and_fails_the_command(run: Run, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    bad = {"id": "2", "text": "x", "spans": [{"start": 0, "end": 9, "type": "DATE"}]}
    gold.write_text(json.dumps(GOLD) + "\n" + json.dumps(bad) + "\n")
    done = run("evaluate", gold)
    assert done.code == 1
    assert "1 problem" in done.out
    assert run("evaluate", tmp_path / "nowhere.jsonl").code == 2


def test_a_look_at_releases_refuses_what_only_scores_take(run: Run, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps(GOLD) + "\n")
    done = run("evaluate", gold, "--release", "--seed", "0", "--corpus", "x", "--not-synthetic")
    assert done.code == 2
    assert "Remove --corpus, --synthetic, --seed" in done.err
    assert run("evaluate", gold, "--release").code == 0
