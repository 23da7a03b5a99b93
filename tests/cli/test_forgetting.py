"""Forgetting as a user does it: relexicalize notes, then name the patient in a file, the way people write names."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.relex.index.base import SurrogateIndex

Run = Callable[..., Any]
WHOM, OTHER = "Zoë Quartermain 7731", "Temitope Oyelaran 12"


@pytest.fixture
def noted(index: Path, run: Run, tmp_path: Path) -> dict[str, str]:
    """Run notes of two patients through `relex`. Return the surrogate of each patient's name, by patient."""
    rows = []
    for patient in (WHOM, OTHER):
        name = patient.rpartition(" ")[0]
        text = f"{name} called about the results."
        spans = [{"start": 0, "end": len(name), "type": "PATIENT"}]
        rows.append({"id": f"note of {len(patient)}", "patient": patient, "text": text, "spans": spans})
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run("relex", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl")
    assert done.code == 0, done.err
    shown = [json.loads(line)["spans"][0]["surrogate"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    return dict(zip((WHOM, OTHER), shown, strict=True))


@pytest.fixture
def whom(tmp_path: Path) -> Callable[[str], Path]:
    """A file that names a patient."""

    def write(written: str) -> Path:
        (tmp_path / "who.txt").write_text(written, encoding="utf-8")
        return tmp_path / "who.txt"

    return write


def revealed(run: Run, file: Path, surrogate: str, *more: str) -> Any:
    return run("reveal", surrogate, "--why", "a test", "--patient-file", file, *more)


@pytest.mark.parametrize(
    "written",
    [
        WHOM,
        f"  {WHOM}\n",
        "zoë  QUARTERMAIN\t7731",
        unicodedata.normalize("NFD", WHOM),
        "Zoë\u00a0Quarter\u00admain 7731",
        "\ufeffZoë Quartermain ７７３１\r\n",
    ],
)
@pytest.mark.parametrize("command", [("index", "forget"), ("forget", "--by", "Ada")])
def test_after_forgetting_reveal_finds_nobody_however_the_name_is_written(
    run: Run, noted: dict[str, str], whom: Callable[[str], Path], written: str, command: tuple[str, ...]
) -> None:
    assert revealed(run, whom(written), noted[WHOM]).out.strip() == "Zoë Quartermain"
    done = run(*command, "--patient-file", whom(written), "--yes", "--json")
    assert done.code == 0, done.err
    assert revealed(run, whom(written), noted[WHOM]).code == 2
    assert revealed(run, whom(WHOM), noted[WHOM]).code == 2
    assert revealed(run, whom(OTHER), noted[OTHER]).out.strip() == "Temitope Oyelaran"
    assert "uartermain" not in done.out + done.err


def test_a_receipt_says_what_the_index_answered_before_and_after(
    run: Run, noted: dict[str, str], whom: Callable[[str], Path]
) -> None:
    told = run("index", "forget", "--patient-file", whom(WHOM), "--yes", "--json").data
    assert (told["revealed_before"], told["revealed_after"], told["left"]) == (1, 0, 0)
    assert told["found"] == told["deleted"] > 0
    assert [one["domain"] for one in told["receipts"]] == ["default"]


@pytest.mark.parametrize("command", [("index", "forget"), ("forget", "--by", "Ada")])
def test_a_subject_that_nobody_knows_is_said_to_be_unknown_and_the_exit_code_is_3(
    run: Run, noted: dict[str, str], whom: Callable[[str], Path], command: tuple[str, ...]
) -> None:
    done = run(*command, "--patient-file", whom("Zoe Quartermain 7732"), "--yes", "--json")
    assert done.code == 3
    assert done.data["known"] is False
    assert "know" in done.err
    assert revealed(run, whom(WHOM), noted[WHOM]).code == 0


@pytest.mark.parametrize("command", [("index", "forget"), ("forget", "--by", "Ada")])
def test_a_deletion_that_deletes_nothing_of_a_known_subject_is_an_error(
    run: Run,
    noted: dict[str, str],
    whom: Callable[[str], Path],
    command: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = SurrogateIndex.forget
    monkeypatch.setattr(SurrogateIndex, "forget", lambda self, domain, scope: real(self, domain, f"{scope} mistaken"))
    done = run(*command, "--patient-file", whom(WHOM), "--yes")
    assert done.code == 1
    assert "still" in done.err
    assert revealed(run, whom(WHOM), noted[WHOM]).code == 0


@pytest.mark.parametrize("command", [("index", "forget"), ("forget", "--by", "Ada")])
def test_every_domain_of_the_index_is_forgotten(
    run: Run, noted: dict[str, str], whom: Callable[[str], Path], command: tuple[str, ...], tmp_path: Path
) -> None:
    other = run("relex", tmp_path / "in.jsonl", "--out", tmp_path / "other.jsonl", "--domain", "research")
    assert other.code == 0, other.err
    surrogate = json.loads((tmp_path / "other.jsonl").read_text().splitlines()[0])["spans"][0]["surrogate"]
    assert revealed(run, whom(WHOM), surrogate, "--domain", "research").out.strip() == "Zoë Quartermain"
    assert run(*command, "--patient-file", whom(WHOM), "--yes").code == 0
    assert revealed(run, whom(WHOM), surrogate, "--domain", "research").code == 2
    assert revealed(run, whom(WHOM), noted[WHOM]).code == 2


def test_only_the_domain_that_is_named_is_forgotten(
    run: Run, noted: dict[str, str], whom: Callable[[str], Path]
) -> None:
    done = run("index", "forget", "--patient-file", whom(WHOM), "--domain", "research", "--yes")
    assert done.code == 3
    assert revealed(run, whom(WHOM), noted[WHOM]).code == 0
