"""`incognote replay` gives the same bytes without a model, or reports exactly what has changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote.files.outputs import Outputs
from incognote.keys import Keyring
from incognote.llm.base import Request
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
        (lambda m: m["models"]["prompt"].update(version="x"), "the prompt (the run had extract/v3 x)"),
        (lambda m: m["key"].update(id="x"), "the key (the run had x"),
        (lambda m: m["settings"].update(told=["roster"]), "--roster, which the run was given"),
    ):
        refused = run(again[0], edited(change), *again[2:])
        assert refused.code == 2
        assert said in refused.err
    assert not (tmp_path / "again").exists()


def test_inputs_that_are_not_those_of_the_run_are_named_and_nothing_is_written(
    run: Run, again: tuple[object, ...], folder: Path, tmp_path: Path
) -> None:
    whole = (folder / "0.txt").read_bytes()
    (folder / "0.txt").write_text("Nothing at all.")
    for arguments in (again, (*again[:2], folder / "0.txt", *again[3:5])):
        changed = run(*arguments)
        assert changed.code == 2
        assert f"have changed since the run, or it did not read them:\n  {folder / '0.txt'}\n" in changed.err
        assert "1.txt" not in changed.err
    (folder / "0.txt").unlink()
    missing = run(*again)
    assert (missing.code, "1 input of the run is missing" in missing.err) == (2, True)
    (folder / "0.txt").write_bytes(whole)
    (folder / "9.txt").write_text("Another.")
    more = run(*again)
    assert (more.code, f"  {folder / '9.txt'}\n" in more.err) == (2, True)
    (folder / "9.txt").unlink()
    reverse = run(*again[:2], *sorted(folder.iterdir(), reverse=True), *again[3:])
    assert (reverse.code, "in another order" in reverse.err) == (2, True)
    assert not (tmp_path / "again").exists()
    assert run(*again).code == 0


def test_an_answer_that_the_recording_lacks_is_named(
    run: Run, again: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incognote.llm.recording.Recording.reply", lambda self, address: None)
    replayed = run(*again)
    assert replayed.code == 1
    assert "model-unavailable: The recording has no reply" in replayed.err
    assert "0.txt differs from the output of the run" in replayed.err
    assert "released: 0 now, 4 in the run" in replayed.err


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
    assert (done.code, "have changed since the run" in done.err) == (2, True)


def test_a_run_with_surrogates_that_recorded_nothing_is_repeated_by_deid(run: Run, index: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(VISITS[0])
    out = tmp_path / "out"
    assert run("deid", tmp_path / "a.txt", "--out", out, "--policy", "surrogate", "--detectors", "rules").code == 0
    (tmp_path / "rec.db").write_bytes(b"")
    refused = run("replay", out / "manifest.json", tmp_path / "a.txt", "--recording", tmp_path / "rec.db")
    assert (refused.code, "Run `incognote deid` again" in refused.err) == (2, True)


NAMES = "velmira tashkin okoro dunsany".split()
"""Names that no rule and no encoder finds."""
FENCED = re.compile(r"^(=== [0-9a-f]{16} ===)\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)


def named(request: Request) -> str:
    """Return the names in each text, by its number if there are several."""
    shown = [found.group(2) for found in FENCED.finditer(request.messages[1].content)]
    said = [{"PERSON": [f"<<{name}>>" for name in NAMES if name in text]} for text in shown]
    return json.dumps(said[0] if len(said) == 1 else {str(n): each for n, each in enumerate(said, 1)})


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[LocalServer, tuple[object, ...]]]:
    """A model that finds these names, and the options for it."""
    Keyring.write_new(tmp_path / "a.key")
    monkeypatch.setenv("INCOGNOTE_KEY_FILE", str(tmp_path / "a.key"))
    monkeypatch.setenv("OPENAI_API_KEY", LocalServer.api_key)
    with LocalServer(named) as server:
        words = ("--model", "openai/tiny", "--api-base", server.url, "--passes", "1", "--detectors", "rules,llm")
        yield server, (*words, "--recording", tmp_path / "rec.db")


def observations(folder: Path, count: int, *, patients: int = 1) -> Path:
    """Write one file per Observation."""
    folder.mkdir(parents=True)
    for number in range(count):
        record = {
            "resourceType": "Observation", "id": str(number), "status": "final", "code": {"text": "dose"},
            "subject": {"reference": f"Patient/p{number % patients}"},
            "note": [{"text": f"Dose {number} was taken, as {NAMES[number % 4]} said."}],
        }  # fmt: skip
        (folder / f"{number:02}.json").write_text(json.dumps(record))
    return folder


@pytest.mark.parametrize(("lines", "jobs"), [(False, ()), (True, ("--jobs", "2"))])
def test_six_observations_of_one_patient_take_one_call_and_are_rebuilt(
    run: Run, asked: tuple[LocalServer, Options], tmp_path: Path, lines: bool, jobs: Options
) -> None:
    server, words = asked
    folder = observations(tmp_path / "in", 6)
    if lines:
        texts = [path.read_text() for path in sorted(folder.iterdir())]
        folder = tmp_path / "in.jsonl"
        folder.write_text("\n".join(texts))
    assert run("deid", folder, "--out", tmp_path / "out", *words).code == 0
    assert server.calls == 1
    server.stop()
    replay = ("replay", tmp_path / "out" / "manifest.json", folder, "--recording", words[-1], *jobs)
    done = run(*replay, "--out", tmp_path / "again")
    assert (done.code, done.err) == (0, "")
    outputs = _bytes(tmp_path / "again")
    assert outputs == _bytes(tmp_path / "out")
    if not lines:
        part = run(*replay[:2], folder / "00.json", *replay[3:5])
        assert (part.code, "Name all inputs of the run" in part.err) == (3, True)
    assert not [name for name in NAMES if name in "".join(map(str, outputs.values()))]


def test_a_run_that_was_broken_off_and_resumed_is_rebuilt(
    run: Run, asked: tuple[LocalServer, Options], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of three blocks has one request. The block in which the run ended is repeated as a whole."""
    server, words = asked
    monkeypatch.setattr("incognote.files.sources.BLOCK_FILES", 4)
    folder, left, real = observations(tmp_path / "in", 12), iter(range(6)), Outputs.release

    def ending(self: Outputs, *rest: Any) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        real(self, *rest)

    deid = ("deid", folder, "--out", tmp_path / "out", *words)
    with monkeypatch.context() as patch:
        patch.setattr(Outputs, "release", ending)
        assert run(*deid).code != 0
    resumed = run(*deid, "--resume", "--json")
    assert (resumed.code, resumed.data["already_complete"], resumed.data["records"]) == (0, 4, 12)
    assert server.calls == 3
    server.stop()
    replay = ("replay", tmp_path / "out" / "manifest.json", folder, "--recording", words[-1])
    assert run(*replay, "--out", tmp_path / "again").code == 0
    assert _bytes(tmp_path / "again") == _bytes(tmp_path / "out")


def test_a_retry_is_rebuilt_from_the_inputs_of_the_run(
    run: Run, asked: tuple[LocalServer, Options], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, words = asked
    folder = observations(tmp_path / "in", 6, patients=2)
    (folder / "note.txt").write_text("Seen by okoro.")
    server.stop()
    monkeypatch.setenv("INCOGNOTE_MODEL_ATTEMPTS", "1")
    assert run("deid", folder, "--out", tmp_path / "out", *words).code == 3
    server.start()
    held = tmp_path / "out-quarantine"
    assert run("quarantine", "retry", held, "--out", tmp_path / "out", *words).code == 0
    assert server.calls == 3
    server.stop()
    replay = ("replay", tmp_path / "out" / "manifest.retry-1.json", folder, "--recording", words[-1])
    done = run(*replay, "--out", tmp_path / "again")
    assert (done.code, done.out) == (0, f"7 files rebuilt in {tmp_path / 'again'}, byte for byte\n")
    made = {name: data for name, data in _bytes(tmp_path / "out").items() if name.endswith(("retry-1.json", "1.txt"))}
    assert _bytes(tmp_path / "again") == {name: data for name, data in made.items() if "manifest" not in name}
    (folder / "note.txt").write_text("Seen by velmira.")
    changed = run(*replay, "--out", tmp_path / "other")
    assert (changed.code, "1 record that it read is not in the inputs" in changed.err) == (2, True)
    assert not (tmp_path / "other").exists()
