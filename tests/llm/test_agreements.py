from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from incognote.errors import EgressRefused, SettingError
from incognote.llm.agreements import FILE, Agreements, AgreementTerms

URL = "https://models.example.org/v1"
TERMS = AgreementTerms("BAA 2026-14", 0)


def test_the_loopback_needs_no_agreement(tmp_path: Path) -> None:
    assert Agreements(tmp_path).require("openai/m", "http://localhost:8000/v1") is None


def test_a_missing_agreement_names_the_command_to_run(tmp_path: Path) -> None:
    with pytest.raises(EgressRefused, match="incognote model agree openai/m"):
        Agreements(tmp_path).require("openai/m", URL)


def test_a_recorded_agreement_says_who_when_and_on_what_terms(tmp_path: Path) -> None:
    folder = Agreements(tmp_path / "new" / "home")
    folder.record("openai/m", URL, by=" Dr. A. Sule ", terms=TERMS)
    found = Agreements(tmp_path / "new" / "home").require("openai/m", "https://models.example.org/other/path")
    assert found is not None
    assert (found.by, found.terms, found.address) == ("Dr. A. Sule", TERMS, "https://models.example.org:443")
    assert abs((datetime.now(UTC) - datetime.fromisoformat(found.at)).total_seconds()) < 60
    assert [p.name for p in (tmp_path / "new" / "home").iterdir()] == [FILE]


@pytest.mark.parametrize(
    ("model", "url"), [("openai/m2", URL), ("openai/m", "https://models.example.org:8443/v1"), ("litellm/m", URL)]
)
def test_an_agreement_holds_for_its_model_and_address_only(tmp_path: Path, model: str, url: str) -> None:
    folder = Agreements(tmp_path)
    folder.record("openai/m", URL, by="A. Sule", terms=TERMS)
    with pytest.raises(EgressRefused):
        folder.require(model, url)


def test_an_edited_entry_is_ignored(tmp_path: Path) -> None:
    folder = Agreements(tmp_path)
    folder.record("openai/m", URL, by="A. Sule", terms=AgreementTerms("BAA 2026-14", 30))
    path = tmp_path / FILE
    path.write_text(path.read_text().replace('"retention_days": 30', '"retention_days": 0'))
    assert folder.all() == []
    with pytest.raises(EgressRefused, match="changed"):
        folder.require("openai/m", URL)
    folder.record("openai/m", URL, by="B. Noor", terms=TERMS)
    found = folder.require("openai/m", URL)
    assert found is not None
    assert found.by == "B. Noor"
    assert len(json.loads(path.read_text())["agreements"]) == 2, "an entry was thrown away"


def test_the_latest_agreement_counts(tmp_path: Path) -> None:
    folder = Agreements(tmp_path)
    for person in ("A. Sule", "B. Noor"):
        folder.record("openai/m", URL, by=person, terms=TERMS)
    assert [a.by for a in folder.all()] == ["A. Sule", "B. Noor"]
    found = folder.require("openai/m", URL)
    assert found is not None
    assert found.by == "B. Noor"


def test_nobody_and_no_terms_are_no_agreement(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="by"):
        Agreements(tmp_path).record("openai/m", URL, by=" ", terms=TERMS)
    with pytest.raises(SettingError, match="BAA"):
        AgreementTerms(" ", 0)
    with pytest.raises(SettingError, match="days"):
        AgreementTerms("BAA", -1)
    assert list(tmp_path.iterdir()) == []


def test_a_note_is_kept_with_its_agreement_and_is_part_of_it(tmp_path: Path) -> None:
    folder = Agreements(tmp_path)
    folder.record("openai/m", URL, by="A. Sule", terms=TERMS, note=" contract 2026/118 ")
    folder.record("openai/m", URL, by="B. Noor", terms=TERMS, note="x" * 200)
    assert [a.note for a in folder.all()] == ["contract 2026/118", "x" * 200]
    path = tmp_path / FILE
    path.write_text(path.read_text().replace("2026/118", "2026/119"))
    assert [a.by for a in folder.all()] == ["B. Noor"]


def test_an_agreement_from_before_there_were_notes_still_counts_until_one_is_written_in(tmp_path: Path) -> None:
    entry = {
        "model": "openai/m", "address": "https://models.example.org:443", "by": "A. Sule",
        "at": "2026-01-02T03:04:05+00:00", "terms": {"baa": "BAA 2026-14", "retention_days": 0},
    }  # fmt: skip
    written = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    entry["hash"] = sha256(written.encode()).hexdigest()
    for note, counted in ({}, ["A. Sule"]), ({"note": "contract 7"}, []):
        (tmp_path / FILE).write_text(json.dumps({"agreements": [entry | note]}))
        assert [a.by for a in Agreements(tmp_path).all()] == counted


@pytest.mark.parametrize("note", ["zyx" * 67, "zyx\nzyx", "zyx\x1b[2J", "zyx\u202e"])
def test_a_note_that_is_long_or_steers_a_terminal_is_refused_and_not_quoted(tmp_path: Path, note: str) -> None:
    with pytest.raises(SettingError, match="at most 200 characters") as raised:
        Agreements(tmp_path).record("openai/m", URL, by="A. Sule", terms=TERMS, note=note)
    assert "zyx" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "[]", '{"agreements": [{}]}', '{"agreements": 3}', "\x00"])
def test_a_damaged_file_opens_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(SettingError, match="cannot be read"):
        Agreements(tmp_path).require("openai/m", URL)
