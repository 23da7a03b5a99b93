"""Sync and async, single and batch, inside and outside a running loop: the results are the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from incognote import Deidentifier, Item

EXAMPLES = Path(__file__).parents[1] / "examples"
RECORDS = [json.loads(line) for line in (EXAMPLES / "records.jsonl").read_text(encoding="utf-8").splitlines()][:20]
KEY = "6b" * 32


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    """An instance with a key, so that hashes can be compared."""
    return Deidentifier(key=KEY, concurrency=3)


@pytest.fixture(scope="module")
def answers(deid: Deidentifier) -> list[str]:
    """The results of the sync API, one record at a time."""
    return [deid.deidentify(record).output(even_if_unreleased=True) for record in RECORDS]


async def test_async_says_what_sync_says(deid: Deidentifier, answers: list[str]) -> None:
    each = await asyncio.gather(*(deid.adeidentify(record) for record in RECORDS))
    assert [r.output(even_if_unreleased=True) for r in each] == answers


async def test_the_sync_face_works_inside_a_running_loop(deid: Deidentifier, answers: list[str]) -> None:
    assert deid.deidentify(RECORDS[0]).output(even_if_unreleased=True) == answers[0]


def test_a_batch_keeps_order_and_answers(deid: Deidentifier, answers: list[str]) -> None:
    assert [r.output(even_if_unreleased=True) for r in deid.batch(RECORDS)] == answers


async def test_an_async_batch_takes_both_kinds_of_iterable(deid: Deidentifier, answers: list[str]) -> None:
    async def trickle() -> AsyncIterator[dict[str, object]]:
        for record in RECORDS:
            yield record

    assert [r.output(even_if_unreleased=True) async for r in deid.abatch(RECORDS)] == answers
    assert [r.output(even_if_unreleased=True) async for r in deid.abatch(trickle())] == answers


def test_a_batch_reads_no_further_ahead_than_its_window(deid: Deidentifier) -> None:
    taken = []

    def items() -> object:
        for i in range(50):
            taken.append(i)
            yield Item("Nothing here.", id=str(i))

    results = deid.batch(items())  # type: ignore[arg-type] -- a generator is an iterable
    assert next(results).id == "0"
    assert len(taken) == 3
    assert [r.id for r in results] == [str(i) for i in range(1, 50)]


def test_another_process_with_the_same_key_gives_the_same_bytes(
    deid: Deidentifier, answers: list[str], tmp_path: Path
) -> None:
    import subprocess
    import sys

    code = (
        "import json, sys\nfrom incognote import Deidentifier\n"
        f"d = Deidentifier(key='{KEY}')\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps(d.deidentify(json.loads(line)).output(even_if_unreleased=True)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="\n".join(map(json.dumps, RECORDS)),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == answers
