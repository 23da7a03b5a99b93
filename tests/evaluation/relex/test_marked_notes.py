"""The converter of notes with inline marks (tests/data/longitudinal/make.py)."""

import importlib.util
import json
from pathlib import Path

import pytest

MAKE = Path(__file__).parents[2] / "data" / "longitudinal" / "make.py"
MARKED = """=== patient R01
--- note R01-1
Patient: [[PATIENT|per-lee|LEE, ANN]]
-----
Seen [[DATE|d-2024-03-14|the 14th of
March]] by Dr. [[CLINICIAN|per-cho|Cho]].

--- note R01-2
[[PATIENT|per-lee|Ann]]'s [x] list
"""


def convert(folder: Path, marked: str) -> Path:
    spec = importlib.util.spec_from_file_location("make_longitudinal", MAKE)
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    source, out = folder / "marked.txt", folder / "out.jsonl"
    source.write_text(marked, encoding="utf-8")
    make.main([str(source), str(out)])
    return out


def test_marks_become_spans_with_identities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(line) for line in convert(tmp_path, MARKED).read_text(encoding="utf-8").splitlines()]
    assert capsys.readouterr().out.startswith("1 patients, 2 notes, 4 marks, 3 identities")
    assert rows[0]["text"] == "Patient: LEE, ANN\n-----\nSeen the 14th of\nMarch by Dr. Cho."
    cut = [(row["text"][s["start"] : s["end"]], s["identity"]) for row in rows for s in row["spans"]]
    assert cut == [
        ("LEE, ANN", "per-lee"), ("the 14th of\nMarch", "d-2024-03-14"), ("Cho", "per-cho"), ("Ann", "per-lee"),
    ]  # fmt: skip


def test_every_fault_is_reported_by_line_and_without_words(tmp_path: Path) -> None:
    faults = {
        "per-lee|LEE": "xyzzy|LEE", "[[PATIENT|per-lee|Ann]]": "[[PATIENT|per-lee|Ann]", "CLINICIAN": "XYZZY",
        "d-2024-03-14": "d-2024-02-30", "--- note R01-2": "--- Note R01-2", "\nSeen": "\n[[Seen",
    }  # fmt: skip
    marked = MARKED
    for good, bad in faults.items():
        marked = marked.replace(good, bad)
    with pytest.raises(SystemExit) as stopped:
        convert(tmp_path, marked)
    listed = str(stopped.value)
    assert [line.split(":")[0] for line in listed.splitlines()] == [
        "line 3", "line 5", "line 5", "line 6", "line 8", "line 9", "6 problems; nothing was written",
    ]  # fmt: skip
    assert not any(word in listed.lower() for word in ("xyzzy", "lee", "ann]", "cho"))
    assert not (tmp_path / "out.jsonl").exists()


def test_a_code_used_twice_and_a_person_used_as_a_date_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"line 5: the identity of a DATE[^$]*line 8: this code is already used"):
        convert(tmp_path, MARKED.replace("R01-2", "R01-1").replace("DATE|d-2024-03-14", "DATE|per-cho"))
