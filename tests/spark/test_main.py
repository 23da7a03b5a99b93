"""The command without a job: wrong calls, what is shown of an error, and the counts."""

from __future__ import annotations

import json

import pytest

from incognote.runs.tally import Tally
from incognote.service.drift import Alarm
from incognote.spark.__main__ import HELD, USAGE, main, of_drift, said, shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["notes.parquet", "--out", "o"], "--text: name the column"),
        (["notes.jsonl", "--out", "o", "--text", "note"], "--text, --patient, --id"),
        (["n.jsonl", "--out", "o", "--ledger", "sqlite:///l.db"], "--ledger and --release belong together"),
        (["n.jsonl", "--out", "o", "--ledger", "sqlite:///l.db", "--release", "r"], "add --quarantine FOLDER"),
    ],
)
def test_a_wrong_call_ends_before_spark_starts(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == USAGE
    assert message in capsys.readouterr().err


def test_the_codes_are_those_of_the_command_line() -> None:
    from incognote.cli import shell

    assert (HELD, USAGE) == (shell.HELD, shell.USAGE)


def test_an_error_of_a_worker_is_shown_and_that_of_spark_only_by_its_class() -> None:
    ours = ValueError("Traceback\n  incognote.spark.opening.WorkerFailed: KeyMissing: set key_file\n at org.x")
    assert said(ours) == "KeyMissing: set key_file"
    assert "Carter" not in said(ValueError("Malformed record: Emily Carter"))


def test_the_counts_are_shown_for_people_and_for_programs() -> None:
    told = Tally(read=5)
    told.outcomes.update(release=4, review=1)
    told.reasons["review", "doubtful"] += 1
    assert shown(told, as_json=False).splitlines() == [
        "5 records: 4 released, 1 for review, 0 quarantined",
        "  review: doubtful: 1",
    ]
    assert json.loads(shown(told, as_json=True))["outcomes"] == {"release": 4, "review": 1}
    told.refused = 2
    assert shown(told, as_json=False).startswith("5 records: 4 released, 1 for review, 0 quarantined, 2 refused\n")
    assert json.loads(shown(told, as_json=True))["refused"] == 2


def test_a_drift_alarm_is_shown_with_its_rates() -> None:
    alarm = Alarm("PERSON", "fewer", 0.2, 1.5, 9.0)
    assert of_drift(alarm) == "drift: fewer identifiers per record (PERSON): 0.20 instead of 1.50"
