"""`incognote replay` gives the same bytes without a model, or reports exactly what has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.testing import LocalServer

Run = Callable[..., Any]
Options = tuple[str, ...]


@pytest.fixture
def done(run: Run, folder: Path, tmp_path: Path, model: Options, server: LocalServer) -> Path:
    """The manifest of a run over several kinds of files. The model is gone after the run."""
    texts = [file.read_text() for file in sorted(folder.iterdir())]
    (folder / "more.jsonl").write_text("".join(json.dumps({"id": "7", "text": text}) + "\n" for text in texts))
    args = ("--recording", tmp_path / "rec.db", "--passes", "3", "--keep-names", "--domain", "ward-7")
    assert run("deid", folder, "--out", tmp_path / "out", *args, *model).code == 0
    server.stop()
    return tmp_path / "out" / "manifest.json"


@pytest.fixture
def again(done: Path, folder: Path, tmp_path: Path) -> tuple[object, ...]:
    """The arguments that repeat the run."""
    return ("replay", done, folder, "--recording", tmp_path / "rec.db", "--out", tmp_path / "again")


def _bytes(folder: Path) -> dict[str, bytes]:
    kept = ("manifest.json", ".incognote.journal")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in kept}


def test_a_run_is_rebuilt_byte_for_byte_without_its_model(
    run: Run, again: tuple[object, ...], tmp_path: Path, server: LocalServer
) -> None:
    asked = server.calls
    replayed = run(*again)
    assert (replayed.code, replayed.out) == (0, f"3 files rebuilt in {tmp_path / 'again'}, byte for byte\n")
    assert _bytes(tmp_path / "again") == _bytes(tmp_path / "out")
    assert len(_bytes(tmp_path / "out")) == 3
    assert b"[PERSON] brought" in _bytes(tmp_path / "out")["0.txt"]
    assert server.calls == asked


def test_one_record_is_rebuilt_onto_the_standard_output(run: Run, again: tuple[object, ...], folder: Path) -> None:
    replayed = run(*again[:2], folder / "0.txt", *again[3:5])
    assert replayed.code == 0
    assert replayed.out == "Seen by Dr. [PERSON] on [DATE]. Her sister [PERSON] brought the keys."


def test_the_files_settings_do_not_change_what_the_manifest_says(
    run: Run, again: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "settings.toml"
    config.write_text('model = "openai/other"\npasses = 1\n[models."openai/tiny"]\nchunk_words = 32\n')
    monkeypatch.setenv("INCOGNOTE_VOTES", "5")
    assert run(*again, "--config", config).code == 0


def test_what_is_not_as_it_was_is_named_and_nothing_is_written(
    run: Run, again: tuple[object, ...], done: Path, tmp_path: Path
) -> None:
    def edited(change: Callable[[dict[str, Any]], Any]) -> Path:
        told = json.loads(done.read_text())
        change(told)
        path = tmp_path / "edited.json"
        path.write_text(json.dumps(told))
        return path

    (tmp_path / "subject").write_text("p1")
    for more, said in (
        (("--policy", "paper"), "the policy (the run had strict "),
        (("--domain", "other"), "domain (the run had ward-7)"),
        (("--data-type", "note"), "data_type (the run had none)"),
        (("--patient-file", str(tmp_path / "subject")), "--patient-file, which the run was not given"),
        (("--detectors", "llm"), "detectors (the run had rules, encoder, llm)"),
    ):
        refused = run(*again, *more)
        assert refused.code == 2
        assert said in refused.err
    for change, said in (
        (lambda m: m.update(incognote="0.0.1"), "incognote's version (the run had 0.0.1"),
        (lambda m: m["versions"].update({"detector:rules": "x"}), "the version of detector:rules"),
        (lambda m: m["versions"].update({"pack:0": "x"}), "add the packs that the run had"),
        (lambda m: m["schemas"].update(note="x"), "the schema note (the run had x"),
        (lambda m: m["schemas"].update(visit="x"), "the schema visit, which does not exist here"),
        (lambda m: m["models"]["prompt"].update(version="x"), "the prompt (the run had extract/v2 x)"),
        (lambda m: m["key"].update(id="x"), "the key (the run had x"),
        (lambda m: m["settings"].update(told=["roster"]), "--roster, which the run was given"),
    ):
        refused = run(again[0], edited(change), *again[2:])
        assert refused.code == 2
        assert said in refused.err
    assert not (tmp_path / "again").exists()


def test_other_inputs_are_seen_by_the_recording_and_by_the_bytes(
    run: Run, again: tuple[object, ...], folder: Path, tmp_path: Path
) -> None:
    (folder / "0.txt").write_text("Nothing at all.")
    replayed = run(*again)
    assert replayed.code == 1
    assert "model-unavailable: The recording has no reply" in replayed.err
    assert "0.txt differs from the output of the run" in replayed.err
    assert "released: 3 now, 4 in the run" in replayed.err
    told = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert {output["name"] for output in told["outputs"]} == {"0.txt", "1.txt", "more.jsonl"}


def test_tables_are_rebuilt_with_what_was_said_of_their_columns(
    run: Run, folder: Path, tmp_path: Path, model: Options, server: LocalServer
) -> None:
    rows = "".join(f"{i},{file.read_text()}\n" for i, file in enumerate(sorted(folder.iterdir())))
    (folder / "rows.csv").write_text("id,note\n" + rows)
    columns = ("--text-column", "note", "--pass-column", "id")
    recording = ("--recording", tmp_path / "rec.db")
    assert run("deid", folder, "--out", tmp_path / "out", *recording, *columns, *model).code == 0
    server.stop()
    again = ("replay", tmp_path / "out" / "manifest.json")
    untold = run(*again, folder, "--out", tmp_path / "untold", *recording)
    assert untold.code == 1
    assert "unknown-data-type" in untold.err
    assert run(*again, folder, "--out", tmp_path / "again", *recording, *columns).code == 0
    assert _bytes(tmp_path / "again") == _bytes(tmp_path / "out")
    assert run(*again, folder / "0.txt", *recording).out.startswith("Seen by Dr. [PERSON]")


def test_a_recording_needs_its_key_and_its_file(run: Run, again: tuple[object, ...], tmp_path: Path) -> None:
    run("key", "new", tmp_path / "other.key")
    other = run(*again, "--key-file", tmp_path / "other.key")
    assert (other.code, "This was made under key" in other.err) == (1, True)
    absent = run(*again[:4], tmp_path / "absent.db", *again[5:])
    assert (absent.code, absent.err) == (2, f"incognote: --recording: {tmp_path / 'absent.db'} does not exist.\n")
    assert not (tmp_path / "absent.db").exists()


@pytest.mark.parametrize("content", ["", "[]", '{"settings": 1}'])
def test_what_is_no_manifest_is_refused(run: Run, again: tuple[object, ...], tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    assert run(again[0], tmp_path / "x.json", *again[2:]).code == 2


def test_a_run_without_a_model_is_repeated_by_deid(run: Run, folder: Path, tmp_path: Path) -> None:
    run("deid", folder, "--out", tmp_path / "out")
    (tmp_path / "rec.db").write_bytes(b"")
    refused = run("replay", tmp_path / "out" / "manifest.json", folder, "--recording", tmp_path / "rec.db")
    assert (refused.code, "Run `incognote deid` again" in refused.err) == (2, True)


VISITS = (
    "Seen by Dr. Temitope Oyelaran on 03/14/2024.",
    "Dr. Oyelaran called.",
    "Dr. Beth Oyelaran, MRN 7781920, was told by Dr. Oyelaran.",
)


def test_a_run_with_surrogates_is_rebuilt_with_its_index_gone(run: Run, index: Path, tmp_path: Path) -> None:
    folder = tmp_path / "visits"
    folder.mkdir()
    (folder / "a.jsonl").write_text("".join(json.dumps({"id": str(n), "text": t}) + "\n" for n, t in enumerate(VISITS)))
    (folder / "b.txt").write_text(VISITS[1])
    record = {"dataType": "clinicalRecord", "PatientId": "1", "AGE": "45 years", "note": "Jane Doe is 45 years old."}
    (folder / "c.json").write_text(json.dumps(record))
    ask = ("--policy", "surrogate", "--detectors", "rules", "--recording", tmp_path / "rec.db")
    assert run("deid", folder, "--out", tmp_path / "first", *ask).code == 0
    (folder / "d.txt").write_text("Dr. Ann Oyelaran signed.")  # the surname alone can now be any of three people
    assert run("deid", folder, "--out", tmp_path / "second", *ask).code == 0
    outputs = [_bytes(tmp_path / name) for name in ("first", "second")]
    index.unlink()
    stolen = b"".join(path.read_bytes() for path in tmp_path.glob("rec.db*"))
    assert b"Oyelaran" not in stolen
    for name, wanted in zip(("second", "first"), reversed(outputs), strict=True):
        if name == "first":
            (folder / "d.txt").unlink()
        again = ("replay", tmp_path / name / "manifest.json", folder, "--recording", tmp_path / "rec.db")
        done = run(*again, "--out", tmp_path / f"{name} again")
        assert (done.code, "byte for byte" in done.out) == (0, True), done.err
        assert _bytes(tmp_path / f"{name} again") == wanted
    (folder / "b.txt").write_text("Dr. Zebulon Quartermain called.")
    done = run(*again, "--out", tmp_path / "other")
    assert (done.code, "index-unavailable" in done.err) == (1, True)


def test_a_run_with_surrogates_that_recorded_nothing_is_repeated_by_deid(run: Run, index: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(VISITS[0])
    out = tmp_path / "out"
    assert run("deid", tmp_path / "a.txt", "--out", out, "--policy", "surrogate", "--detectors", "rules").code == 0
    (tmp_path / "rec.db").write_bytes(b"")
    refused = run("replay", out / "manifest.json", tmp_path / "a.txt", "--recording", tmp_path / "rec.db")
    assert (refused.code, "Run `incognote deid` again" in refused.err) == (2, True)
