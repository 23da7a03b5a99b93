"""The counts of a job: the only thing that comes to the driver."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from incognote.runs.tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def tally(df: DataFrame, *, read: int | None = None) -> Tally:
    """Count the rows of a result of `deidentify`. Count what was written: a lazy result would be computed again.

    Rows without a text count as released.

    Args:
        read: how many rows the source has, to check that none was lost. Default: the rows of `df`.

    Raises:
        AccountingError: the rows with a verdict are not as many as were read.
    """
    from pyspark.sql import functions as f

    told = Tally()
    outcomes = df.groupBy("verdict").agg(
        f.count(f.lit(1)).alias("rows"),
        f.sum("manifest.mended").alias("mended"),
        f.first("manifest", ignorenulls=True).alias("one"),
    )
    for row in outcomes.collect():
        told.outcomes[row["verdict"]] += row["rows"]
        told.mended += row["mended"] or 0
        if row["one"] is not None and not told.labels:
            one = row["one"]
            told.labels = {
                "incognote": one["incognote"],
                "policy": {"name": one["policy"], "version": one["policy_version"], "label": one["label"]},
                "key": {"id": one["key"], "check": one["check"]},
            }
    codes = df.select("verdict", f.explode(f.array_distinct(f.col("reasons.code"))).alias("code"))
    for row in codes.groupBy("verdict", "code").count().collect():
        told.reasons[row["verdict"], row["code"]] += row["count"]
    types = df.filter(f.col("verdict") == "release").select(f.explode("manifest.by_type").alias("type", "number"))
    for row in types.groupBy("type").agg(f.sum("number").alias("number")).collect():
        told.replaced[row["type"]] += row["number"]
    told.replaced = Counter(dict(sorted(told.replaced.items())))
    told.read = sum(told.outcomes.values()) if read is None else read
    told.balance()
    return told
