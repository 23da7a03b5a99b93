"""Entity types that a policy defines, on the command line: explained, used in packs, and handled by operators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.align.merge import standings
from incognote.schemas.catalogue import catalogue

from .conftest import Run

POLICY = """
name = "own"
extends = "strict"
[entities.STUDY_ARM]
about = "the arm of a trial"
[entities.TRIAL_DAY]
about = "a day of a trial"
parent = "DATE"
[types.STUDY_ARM]
operator = "OPERATOR"
[types.TRIAL_DAY]
operator = "generalize"
"""
RULE = """
[[rule]]
id = "arm"
type = "STUDY_ARM"
code = true
pattern = 'QX\\d{7}(?!\\w)'
score = 0.9
"""
NOTE = "Patient MRN QX7711234, seen at Larkmoor Infirmary. QX7711234 again."


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Restore the catalogue after the test, without the types that a policy added."""
    monkeypatch.setattr(catalogue(), "_types", dict(catalogue()._types))
    yield
    standings.cache_clear()


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(POLICY.replace("OPERATOR", "label"))
    return path


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "pack.toml").write_text('name = "larkmoor"\nversion = "1"\n')
    (folder / "patterns.toml").write_text(RULE)
    (folder / "deny.csv").write_text("type,value\nSTUDY_ARM,Larkmoor Infirmary\n")
    (folder / "examples.jsonl").write_text(
        '{"text": "On QX7711234.", "spans": [{"text": "QX7711234", "type": "STUDY_ARM"}]}\n')
    return folder


def test_own_types_are_explained_with_an_invented_example(run: Run, policy: Path) -> None:
    rows = {row["type"]: row for row in run("policy", "explain", policy, "--json").data["types"]}
    assert rows["STUDY_ARM"]["result"] == "the arm of a trial: [STUDY_ARM]"
    assert rows["TRIAL_DAY"]["operator"] == "generalize"
    assert rows["TRIAL_DAY"]["result"] == rows["TRIAL_DAY"]["example"].replace("03/15/2024", "2024")
    assert "STUDY_ARM" in run("policy", "explain", policy, "STUDY_ARM").out


def test_a_pack_is_tested_with_the_types_of_a_policy(process: Run, policy: Path, pack: Path) -> None:
    told = process("pack", "test", pack)  # separate, since types join the catalogue of the whole process
    assert told.code == 1
    assert "--policy" in told.out
    done = process("pack", "test", pack, "--policy", policy)
    assert (done.code, "0 failures" in done.out) == (0, True)


@pytest.mark.parametrize(("operator", "arm"), [
    ("label", "[STUDY_ARM]"), ("same-length", "*********"), ("fixed-length", "********"), ("keep", "QX7711234")])
def test_the_type_of_a_pack_wins_over_that_of_a_rule_and_its_operator_serves_it(
    operator: str, arm: str, policy: Path, pack: Path
) -> None:
    policy.write_text(POLICY.replace("OPERATOR", operator))
    result = Deidentifier(policy, packs=[pack], key="6b" * 32).deidentify(NOTE)
    assert result.text.startswith(f"Patient MRN {arm}, seen at ")
    assert result.text.endswith(f"{arm} again.")
    assert {span.type for span in Deidentifier(policy, packs=[pack]).detect([NOTE], types="all")[0]} == {"STUDY_ARM"}
