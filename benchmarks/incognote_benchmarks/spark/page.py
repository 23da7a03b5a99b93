"""The figures of docs/spark.md and docs/scale.md, written from the JSON of the benchmarks.

    python -m incognote_benchmarks.spark.page docs
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

BILLION_IN_MILLIONS = 1000
NETWORK_MB = 1000
"""MB per second that all workers exchange together: an assumption."""


def rates(spark: dict[str, Any], _: dict[str, Any]) -> str:
    """Return the table of notes per second."""
    rows = [
        ["plain processes", one["processes"], one["notes_per_second"], one["times_that_of_1"], "–"]
        for one in spark["processes"]
    ]
    rows += [
        ["Spark executors", one["executors"], one["notes_per_second"], one["times_that_of_1"],
         one["identity_seconds"]] for one in spark["spark"]
    ]  # fmt: skip
    head = ["", "Number", "Notes per second", "Times that of 1", "The same job without de-identification, seconds"]
    starts = spark["spark"][0]
    memory = spark["memory"]
    detectors = " and ".join(spark["detectors"])
    said = (
        f"{spark['notes']:,} synthetic notes of {spark['characters']:,} characters, {detectors}, {spark['cores']} "
        f"cores with a load of {spark['load']}. {spark['remark']}\n\n"
    )
    early = memory["python_mb"][min(1, len(memory["python_mb"]) - 1)]
    more = (
        f"\nA session started in {starts['session_seconds']} s, and the first job took {starts['first_job_seconds']} s "
        f"longer, because it opens the workers. With {memory['notes']:,} short notes and the rules alone, a Python "
        f"worker used {early} MB in the second tenth of the job and {memory['python_mb'][-1]} MB in the last.\n"
    )
    if alone := spark.get("spark_alone"):
        more += (
            f"\nSpark itself takes {alone['seconds_per_10000']} s per 10,000 notes, in a job that returns "
            f"{alone['notes']:,} notes as they are.\n"
        )
    return said + _table(head, rows) + more


def costs(spark: dict[str, Any], contention: dict[str, Any]) -> str:
    """Return the table of costs, and what is exchanged."""
    cost = spark["cost"]
    hours, usd = cost["core_hours_per_million"], cost["usd_per_million"]
    gigabytes = spark["characters"] * BILLION_IN_MILLIONS / 1000
    days, exchanged = hours * BILLION_IN_MILLIONS / 1000 / 24, gigabytes * 1000 / NETWORK_MB / 3600
    rows = [
        ["Core hours", f"{hours:,}", f"{hours * BILLION_IN_MILLIONS:,.0f}"],
        [f"US dollars at ${cost['price_per_core_hour_assumed']} per core hour (assumed)", f"{usd:,}",
         f"{usd * BILLION_IN_MILLIONS:,.0f}"],
        ["Days with 1,000 cores, if nothing else is in the way", "–", f"{days:,.1f}"],
        ["Text, GB", f"{gigabytes / BILLION_IN_MILLIONS:,.1f}", f"{gigabytes:,.0f}"],
        [f"Hours to exchange it once at {NETWORK_MB:,} MB/s (assumed)", "–", f"{exchanged:,.2f}"],
    ]  # fmt: skip
    said = f"Measured on {spark['cores']} cores with a load of {spark['load']}. {spark['remark']}\n\n"
    return said + _table(["", "1 million notes", "1 billion notes"], rows)


def simulated(_: dict[str, Any], contention: dict[str, Any]) -> str:
    """Return the table of the simulation."""
    rows = [
        [case["load"]["index_slots"], f"{row['workers']:,}", f"{row['notes_per_second']:,}",
         f"{row['of_the_ideal']:.0%}", f"{min(row['index_busy'], 1):.0%}", f"{min(row['ledger_busy'], 1):.0%}",
         f"{row['index_wait_ms_a_note']:,.0f}"]
        for case in contention["cases"] for row in case["rows"]
    ]  # fmt: skip
    head = ["Requests at once", "Workers", "Notes per second", "Of the ideal", "Index busy", "Ledger busy",
            "Wait for the index, ms per note"]  # fmt: skip
    return _table(head, rows)


BLOCKS: dict[str, Callable[[dict[str, Any], dict[str, Any]], str]] = {
    "rates": rates,
    "costs": costs,
    "simulated": simulated,
}


def written(page: str, spark: dict[str, Any], contention: dict[str, Any]) -> str:
    """Return a page with the figures between its marks."""
    for name, block in BLOCKS.items():
        mark = re.compile(rf"(<!-- figures: {name} -->\n).*?(<!-- end -->)", re.S)
        new = block(spark, contention)
        page = mark.sub(lambda found, new=new: f"{found[1]}\n{new}\n{found[2]}", page)  # type: ignore[misc]  # a default in a lambda
    return page


def _table(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def main() -> None:
    """Write the figures into the pages of a folder."""
    docs = Path(sys.argv[1])
    spark, contention = (
        json.loads((docs / "measured" / f"{name}.json").read_text(encoding="utf-8")) for name in ("spark", "contention")
    )
    for name in ("spark.md", "scale.md"):
        page = docs / name
        page.write_text(written(page.read_text(encoding="utf-8"), spark, contention), encoding="utf-8")


if __name__ == "__main__":
    main()
