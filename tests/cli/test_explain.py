"""`incognote index explain`: reasons without words; words only with the permission and the audit entry of `reveal`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.settings import home

Run = Callable[..., Any]
TEXT = "Patient: Zebulon Quartermain. Zeb slept. Seen by Dr. Temitope Oyelaran. Oyelaran agrees."
SPANS = (("Zebulon Quartermain", "PATIENT"), ("Zeb", "PATIENT"), ("Temitope Oyelaran", "CLINICIAN"))
ORIGINALS = ("Zeb", "Quartermain", "Temitope", "Oyelaran", "subject-7731", "visit-1")


@pytest.fixture
def spans(tmp_path: Path, run: Run, index: Path) -> list[dict[str, Any]]:
    """The spans of a relexicalized note."""
    places = [(TEXT.index(words), words, kind) for words, kind in SPANS[:1]]
    places += [(TEXT.index("Zeb slept"), "Zeb", "PATIENT"), (TEXT.index("Temitope"), *SPANS[2])]
    places += [(TEXT.rindex("Oyelaran"), "Oyelaran", "CLINICIAN")]
    given = [{"start": at, "end": at + len(words), "type": kind} for at, words, kind in places]
    note = {"id": "visit-1", "patient": "subject-7731", "text": TEXT, "spans": given}
    (tmp_path / "in.jsonl").write_text(json.dumps(note) + "\n", encoding="utf-8")
    assert run("relex", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl").code == 0
    return json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))["spans"]


def test_each_join_has_a_reason_and_no_word_is_shown(run: Run, spans: list[dict[str, Any]]) -> None:
    done = run("index", "explain", "--identity", spans[0]["identity"])
    assert done.code == 0
    assert "PATIENT 2" in done.out
    assert "annotated as the patient of this chart" in done.out
    staff = run("index", "explain", spans[2]["surrogate"])
    assert "a lone surname that only one person here has" in staff.out
    assert not any(word in done.out + staff.out + done.err for word in ORIGINALS)
    assert not (home() / "reveals.jsonl").exists()


def test_words_need_a_reason_and_are_written_to_the_audit_file_first(
    run: Run, spans: list[dict[str, Any]], tmp_path: Path
) -> None:
    asked = ("index", "explain", "--identity", spans[0]["identity"], "--originals")
    refused = run(*asked)
    assert (refused.code, refused.out, "--why" in refused.err) == (2, "", True)
    shown = run(*asked, "--why", "check a join", "--json").data
    assert [one["words"] for one in shown["mentions"]] == ["Zebulon Quartermain", "Zeb"]
    (entry,) = (home() / "reveals.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(entry)["why"] == "check a join"
    (tmp_path / "no.toml").write_text('name = "no"\nextends = "surrogate"\n[relex]\nreveal = false\n')
    forbidden = run(*asked, "--why", "check a join", "--policy", tmp_path / "no.toml")
    assert (forbidden.code, forbidden.out) == (1, "")


def test_an_unknown_identity_says_what_to_name(run: Run, spans: list[dict[str, Any]]) -> None:
    done = run("index", "explain", "--identity", "0" * 32)
    assert (done.code, "--patient-file" in done.err) == (2, True)
    assert run("index", "explain").code == 2
