"""The counts of a partition, as JSON, and what they become on the driver."""

from __future__ import annotations

import json
from typing import Any

import pytest

from incognote.runs.tally import Tally
from incognote.spark.tallies import counted

pa = pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
WORDS = ("incognote", "policy", "policy_version", "label", "key", "check")
SCHEMA = pa.schema(
    [
        ("verdict", pa.string()), ("codes", pa.list_(pa.string())), *((name, pa.string()) for name in WORDS),
        ("mended", pa.int32()), ("by_type", pa.map_(pa.string(), pa.int32())),
    ]
)  # fmt: skip


def row(verdict: str, codes: list[str], by_type: dict[str, int] | None, mended: int = 0) -> dict[str, Any]:
    words = dict.fromkeys(WORDS) if by_type is None else dict.fromkeys(WORDS, "x")
    return {"verdict": verdict, "codes": codes, **words, "mended": mended, "by_type": list((by_type or {}).items())}


def test_each_row_counts_once_and_only_released_ones_add_replacements() -> None:
    rows = [
        row("release", [], None),
        row("release", [], {"DATE": 2, "PERSON": 1}, 1),
        row("review", ["doubtful", "doubtful", "language"], {"DATE": 7}),
        row("quarantine", ["malformed"], None),
    ]
    batches = [pa.RecordBatch.from_pylist(part, schema=SCHEMA) for part in (rows[:2], rows[2:])]
    (made,) = counted(iter(batches))
    (told,) = made.to_pylist()
    tally = Tally.of(json.loads(told["told"]))
    tally.balance()
    assert tally.outcomes == {"release": 2, "review": 1, "quarantine": 1}
    assert tally.reasons == {("review", "doubtful"): 1, ("review", "language"): 1, ("quarantine", "malformed"): 1}
    assert (tally.replaced, tally.mended) == ({"DATE": 2, "PERSON": 1}, 1)
    assert json.loads(told["labels"])["policy"] == {"name": "x", "version": "x", "label": "x"}


def test_a_partition_without_rows_counts_nothing() -> None:
    (made,) = counted(iter(()))
    assert Tally.of(json.loads(made.to_pylist()[0]["told"])).read == 0
