"""The counts of a job: the only thing that comes to the driver. Each task counts its rows; nothing is exchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from incognote.nouns import Outcome
from incognote.runs.tally import Tally
from incognote.spark.task import REFUSED

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_LABELS = ("incognote", "policy", "policy_version", "label", "key", "check")


def tally(df: DataFrame, *, read: int | None = None) -> Tally:
    """Count the rows of a result of `deidentify`. Count what was written: a lazy result would be computed again.

    Rows without a text count as released.

    Args:
        read: how many rows the source has, to check that none was lost. Default: the rows of `df`.

    Raises:
        AccountingError: the rows with a verdict are not as many as were read.
    """
    from pyspark.sql import functions as f

    members = [f.col(f"manifest.{name}").alias(name) for name in (*_LABELS, "mended", "by_type")]
    rows = df.select("verdict", f.col("reasons.code").alias("codes"), *members)

    def incognote(batches: Any) -> Any:
        return counted(batches)

    told = Tally()
    for row in rows.mapInArrow(incognote, "told string, labels string").collect():
        part = Tally.of(json.loads(row["told"]))
        part.labels = json.loads(row["labels"])
        told.merge(part)
    told.read = sum(told.outcomes.values()) + told.refused if read is None else read
    told.balance()
    return told


def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the counts of a partition as JSON, in one row, and what its manifests share."""
    import pyarrow as pa

    told, labels = Tally(), dict[str, Any]()
    for batch in batches:
        for row in batch.to_pylist():
            told.read += 1
            if row["verdict"] == REFUSED:
                told.refused += 1
                continue
            outcome = cast(Outcome, row["verdict"])
            told.outcomes[outcome] += 1
            told.reasons.update({(outcome, code) for code in row["codes"] or ()})
            told.mended += row["mended"] or 0
            if outcome == "release":
                told.replaced.update(dict(row["by_type"] or ()))
            if not labels and row["policy"] is not None:
                labels = {
                    "incognote": row["incognote"],
                    "policy": {"name": row["policy"], "version": row["policy_version"], "label": row["label"]},
                    "key": {"id": row["key"], "check": row["check"]},
                }
    yield pa.RecordBatch.from_pydict(
        {"told": [json.dumps(told.as_dict(), default=vars)], "labels": [json.dumps(labels)]}
    )
