"""Sentinel notes: drawn for each check, scored by the identifiers that remain, reported, and able to stop a run."""

from __future__ import annotations

import io
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from incognote.agents.manifest import incognote_version
from incognote.errors import SentinelsMissed
from incognote.keys import Keyring
from incognote.nouns import Reason, Result, Verdict
from incognote.schemas.policy import load_policy
from incognote.sdk import Deidentifier
from incognote.service.audit import AuditLog, entries
from incognote.service.sentinels import SentinelScore, SentinelWatch, draw, nightly, score
from incognote.service.telemetry import Telemetry

KEY = Keyring(bytes(range(32)))


def result(text: str | None, verdict: str = "release") -> Result:
    """Return a result as the engine would."""
    reasons = () if verdict == "release" else (Reason("doubtful"),)
    manifest = {"incognote": incognote_version()}
    return Result(None, Verdict(verdict, reasons), manifest, _output=text)  # type: ignore[arg-type]  # one of three


def test_every_note_holds_its_identifiers_once_drawn_and_no_slot_is_left() -> None:
    drawn = list(draw(200, Random(7)))
    assert len(drawn) == 200
    for sentinel in drawn:
        assert not re.search(r"[{}]", sentinel.text)
        assert sentinel.planted
        assert all(words in sentinel.text for _, words in sentinel.planted)
        words = [words for _, words in sentinel.planted]
        assert not any(one in other for one in words for other in words if one is not other)


@pytest.mark.parametrize("code", ["ar", "de", "es", "fr"])
def test_the_notes_of_an_accepted_language_are_drawn_and_found(code: str) -> None:
    drawn = draw(40, Random(3), [code])
    with Deidentifier(detectors=("rules",), languages=[code]) as deid:
        assert deid.engine.reads == {"en", code}
        results = [deid.deidentify(one.text) for one in drawn]
        scored = score(drawn, results, deid.engine.policy)
    assert {result.verdict.outcome for result in results} == {"release"}
    assert (scored.recall.value or 0.0) >= 0.8


def test_a_language_without_a_package_has_no_notes() -> None:
    assert draw(3, Random(1), ["zu"]) == []


def test_no_two_draws_are_alike() -> None:
    assert len({sentinel.text for sentinel in draw(100)}) > 90
    assert len({sentinel.id for sentinel in draw(100)}) == 100


def test_an_identifier_that_still_stands_is_missed_and_leaks_only_where_it_was_released() -> None:
    policy = load_policy("strict")
    (one,) = draw(1, Random(1))
    kind, words = one.planted[0]
    blank = "nothing of it"
    assert score([one], [result(blank)], policy).found == len(one.planted)
    leaked = score([one], [result(f"then {words.upper()} came")], policy)
    assert (leaked.missed, leaked.leaked, leaked.found) == ({kind: 1}, 1, len(one.planted) - 1)
    held = score([one], [result(f"then {words} came", "review")], policy)
    assert (held.missed, held.leaked) == ({kind: 1}, 0)
    failed = score([one], [result(None, "quarantine")], policy)
    assert (failed.failed, failed.planted, failed.recall.value) == (1, 0, None)


def test_a_type_that_the_policy_lets_stand_does_not_count() -> None:
    paper = load_policy("paper")
    drawn = draw(40, Random(2))
    scored = score(drawn, [result(one.text) for one in drawn], paper)
    assert "DATE" not in scored.missed
    assert scored.missed["TELEPHONE_NUMBER"] > 0
    assert scored.found == 0


def test_scores_add_up() -> None:
    total = SentinelScore(1, 0, 5, 4, 1, {"DATE": 1}) + SentinelScore(2, 1, 3, 3, 0, {})
    assert total == SentinelScore(3, 1, 8, 7, 1, {"DATE": 1})
    assert total.recall.of == 8


async def test_a_look_is_told_in_log_and_lines_and_the_notes_are_found(tmp_path: Path) -> None:
    stream = io.StringIO()
    audit, telemetry = AuditLog(tmp_path / "audit", KEY), Telemetry(stream)
    with Deidentifier(detectors=("rules",)) as deid:
        watch = SentinelWatch(deid, audit, telemetry, count=6, floor=0.5, least=10, chance=Random(3))
        scored = await watch.look("r1")
    assert scored.notes == 6
    assert (scored.recall.value or 0) > 0.8
    (day,) = nightly(entries(tmp_path / "audit")).values()
    assert day == scored
    told = stream.getvalue() + "".join(path.read_text() for path in (tmp_path / "audit").glob("*.jsonl"))
    for sentinel in draw(6, Random(3)):
        assert not any(words in told for _, words in sentinel.planted)


class Blind:
    """A deidentifier that finds nothing."""

    def __init__(self) -> None:
        self.engine: Any = Deidentifier(detectors=("rules",)).engine

    async def adeidentify(self, text: str, **words: Any) -> Result:
        """Return the text unchanged."""
        return result(text)


async def test_a_machine_that_finds_too_little_is_stopped(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path, KEY)
    watch = SentinelWatch(Blind(), audit, count=3, floor=0.8, least=1)  # type: ignore[arg-type]  # has the methods that are used
    with pytest.raises(SentinelsMissed, match="sentinel_floor"):
        await watch.look("r1")
    assert [entry.event for entry in entries(tmp_path)][-1] == "sentinels.failed"


async def test_without_notes_nothing_runs(tmp_path: Path) -> None:
    watch = SentinelWatch(Blind(), AuditLog(tmp_path, KEY), count=0, floor=1.0)  # type: ignore[arg-type]  # not used
    assert await watch.look("r1") == SentinelScore()
