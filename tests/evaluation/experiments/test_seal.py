"""The log of every opening of a test split."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from incognote.errors import IncognoteError, SettingError
from incognote.evaluation.convert import convert
from incognote.evaluation.experiments.plan import plan
from incognote.evaluation.experiments.run import run
from incognote.evaluation.experiments.seal import Seal
from incognote.evaluation.experiments.tallies import sides
from incognote.evaluation.lab.pool import texts_of
from incognote.evaluation.lab.units import read_notes
from incognote.evaluation.release import release
from incognote.evaluation.scores import evaluate
from incognote.sdk import Deidentifier
from incognote_benchmarks.peers.compare import compare

Write = Callable[..., Path]
RULES = [{"name": "rules", "detectors": ["rules"]}, {"name": "paper", "detectors": ["rules"], "policy": "paper"}]


@pytest.fixture
def seal(tmp_path: Path) -> Seal:
    made = Seal(tmp_path / "corpus.jsonl")
    for purpose in ("run", "compare", "gate"):
        made.open("0123456789abcdef", purpose, "Ada Example")
    return made


def test_openings_are_numbered_and_say_who_and_what_for(seal: Seal) -> None:
    assert [(o.number, o.who, o.purpose) for o in seal.openings()] == [
        (1, "Ada Example", "run"),
        (2, "Ada Example", "compare"),
        (3, "Ada Example", "gate"),
    ]


@pytest.mark.parametrize(("line", "key", "value"), [(1, "who", "Bo"), (2, "purpose", "run"), (2, "time", "2020")])
def test_an_altered_line_is_detected(seal: Seal, line: int, key: str, value: str) -> None:
    lines = seal.path.read_text().splitlines()
    lines[line - 1] = json.dumps({**json.loads(lines[line - 1]), key: value})
    seal.path.write_text("\n".join(lines) + "\n")
    with pytest.raises(IncognoteError, match=f"changed at line {line}"):
        seal.openings()
    with pytest.raises(IncognoteError, match="changed"):
        seal.open("0123456789abcdef", "run")


@pytest.mark.parametrize("gone", [0, 1])
def test_a_line_taken_out_is_detected(seal: Seal, gone: int) -> None:
    lines = seal.path.read_text().splitlines()
    del lines[gone]
    seal.path.write_text("\n".join(lines) + "\n")
    with pytest.raises(IncognoteError, match=f"changed at line {gone + 1}"):
        seal.openings()


def test_a_line_taken_off_the_end_is_known_to_who_saw_it(seal: Seal) -> None:
    last = seal.openings()[-1]
    seal.path.write_text("".join(line + "\n" for line in seal.path.read_text().splitlines()[:-1]))
    assert len(seal.openings()) == 2
    with pytest.raises(IncognoteError, match="changed at line 3"):
        seal.remembers(3, last.hash)


def test_a_test_split_is_logged_when_it_is_opened_and_not_when_it_is_left_shut(written: Write, notes: Path) -> None:
    path = written(systems=RULES, split="test")
    run(plan(path))
    assert len(Seal(notes).openings()) == 1
    assert run(plan(path)).finished == ()
    assert plan(path).opened == {"notes": 1}
    results = plan(path).results
    found = sides([results.find("notes:rules"), results.find("notes:paper")], "compare", "Ada Example")
    assert found.openings == 2
    assert [o.purpose for o in Seal(notes).openings()] == ["run", "compare"]


def test_a_log_that_is_gone_is_missed_by_the_cells_that_remember_it(written: Write, notes: Path) -> None:
    path = written(systems=RULES[:1], split="test")
    planned = plan(path)
    run(planned)
    results = planned.results
    Seal(notes).path.unlink()
    with pytest.raises(IncognoteError, match="changed"):
        plan(written(systems=RULES, split="test"))
    with pytest.raises(IncognoteError, match="changed"):
        sides([results.find("notes:rules"), results.find("notes:rules")], "gate")


def test_a_development_split_has_no_log(written: Write, notes: Path) -> None:
    run(plan(written(systems=RULES)))
    assert not Seal(notes).path.exists()


DOORS: dict[str, Callable[[Path], object]] = {
    "evaluate": lambda notes: evaluate(notes, notes, resamples=1),
    "evaluate --release": lambda notes: release(notes, Deidentifier(detectors=("rules",))),
    "convert": lambda notes: convert(notes, notes.with_name("other.jsonl"), overwrite=True),
    "prompt": texts_of,
    "review": read_notes,
    "peers": lambda notes: compare(notes, [], resamples=1),
}


@pytest.mark.parametrize("purpose", DOORS)
def test_whatever_else_reads_a_sealed_split_is_logged_by_whichever_name_it_is_reached(
    notes: Path, purpose: str
) -> None:
    other = notes.with_name("dev.jsonl")
    other.symlink_to(notes)
    DOORS[purpose](other)
    assert not Seal(notes).path.exists()
    Seal(notes).open("0123456789abcdef", "run")
    DOORS[purpose](other)
    assert [o.purpose for o in Seal(notes).openings()] == ["run", purpose]


def test_a_split_whose_log_was_altered_is_not_read_by_anything(notes: Path) -> None:
    Seal(notes).path.write_text("{}\n")
    for door in DOORS.values():
        with pytest.raises(IncognoteError, match="changed at line 1"):
            door(notes)


def test_a_sealed_split_cannot_be_called_a_development_split(written: Write, notes: Path) -> None:
    plan(written(systems=RULES))
    Seal(notes).open("0123456789abcdef", "run")
    with pytest.raises(SettingError, match="notes has a log of openings"):
        plan(written(systems=RULES))
