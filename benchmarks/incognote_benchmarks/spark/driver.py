"""A driver of Spark in a process of its own. It runs one job after the other and prints what each took, as JSON.

    python -m incognote_benchmarks.spark.driver MASTER WARM SOURCE [--identity] [--detectors rules] [--patience N]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def main() -> None:
    """Warm the workers up, run the job, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("master")
    parser.add_argument("warm", type=Path, help="a few notes for each worker")
    parser.add_argument("source", type=Path)
    parser.add_argument("--detectors", default="rules,encoder")
    parser.add_argument("--memory", default="700m", help="of each executor's JVM")
    asked = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    began = time.perf_counter()
    from pyspark.sql import SparkSession

    from incognote.spark import deidentify

    builder = SparkSession.builder.master(asked.master).appName("incognote benchmark")
    for name, value in (("spark.ui.enabled", "false"), ("spark.driver.host", "127.0.0.1"),
                        ("spark.driver.bindAddress", "127.0.0.1"), ("spark.executor.memory", asked.memory),
                        ("spark.scheduler.minRegisteredResourcesRatio", "1.0"),
                        ("spark.ui.showConsoleProgress", "false")):  # fmt: skip
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    told: dict[str, Any] = {"session_seconds": _since(began)}

    def made(folder: Path) -> DataFrame:
        frame = spark.read.parquet(str(folder))
        return deidentify(frame, text="note", patient="patient", detectors=asked.detectors.split(","))

    told["first_job_seconds"] = _run(made(asked.warm))
    _say("warm")
    source = spark.read.parquet(str(asked.source))
    told["seconds"] = _run(made(asked.source))
    _say("done")

    def same(batches: Any) -> Any:
        yield from batches

    told["identity_seconds"] = _run(source.mapInArrow(same, source.schema))
    spark.stop()
    _say(json.dumps(told))


def _run(frame: DataFrame) -> float:
    """Compute all rows and keep none. Return the seconds."""
    began = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return _since(began)


def _since(began: float) -> float:
    return round(time.perf_counter() - began, 2)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
