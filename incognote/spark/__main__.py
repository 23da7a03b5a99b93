"""De-identify notes, records, or documents on Spark, on one machine or on a cluster.

    python -m incognote.spark notes.parquet --text note --patient patient_id --key-file KEY --out clean
    spark-submit --master spark://HOST:7077 FILE-OF-THIS-MODULE notes.parquet ...

The workers read the key, from the file or from INCOGNOTE_KEY_FILE in their environment. With plain Python, --master
names the cluster; without it, all cores of this machine are used.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incognote.errors import IncognoteError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from incognote.runs.tally import Tally
    from incognote.service.drift import Alarm

FAILURE, USAGE, HELD, INTERRUPTED = 1, 2, 3, 130
FORMS = ("parquet", "jsonl", "files")
_SETTINGS = ("policy", "config", "key_file")
_SMALL_BATCH = "64"  # documents in one Arrow batch


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    made = argparse.ArgumentParser(
        prog="python -m incognote.spark", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("source", metavar="SOURCE", help="a folder or file that the workers can read, or a storage URL")
    made.add_argument("--out", required=True, metavar="FOLDER", help="for the result, in a folder per verdict")
    made.add_argument("--form", choices=FORMS, help="default: parquet, or jsonl for a SOURCE that ends so")
    made.add_argument("--write", choices=("parquet", "jsonl"), default="parquet", help="form of the result")
    made.add_argument("--text", metavar="COLUMN", help="the notes; required for a Parquet source")
    made.add_argument("--patient", metavar="COLUMN", help="identifies the patient of each row")
    made.add_argument("--id", metavar="COLUMN", help="identifies each row in its source")
    made.add_argument("--known", action="append", default=[], metavar="COLUMN", help="identifiers to search for")
    made.add_argument("--keep", action="append", default=[], metavar="COLUMN", help="columns that come along unchanged")
    made.add_argument("--policy", metavar="NAME|FILE")
    made.add_argument("--config", metavar="FILE", help="settings file on the workers")
    made.add_argument("--pack", action="append", dest="packs", metavar="FOLDER", help="site pack on the workers")
    made.add_argument("--detectors", metavar="NAMES", help="names, separated by commas")
    made.add_argument("--data-type", metavar="NAME", help="schema of records that name none")
    made.add_argument("--index", metavar="URL|partition", help="where surrogates are stored")
    made.add_argument("--key-file", metavar="FILE", help="file with the master key on each worker")
    made.add_argument("--quarantine", metavar="FOLDER", help="where the workers store held records, encrypted")
    made.add_argument("--by-patient", action="store_true", help="bring all rows of a patient into one task")
    made.add_argument("--partitions", type=int, metavar="N", help="spread the source over N tasks")
    made.add_argument("--ledger", metavar="URL", help="write each record once, as shards; see --release")
    made.add_argument("--release", metavar="NAME", help="with --ledger: the name of the release")
    made.add_argument("--source", metavar="NAME", dest="of", help="for drift alarms: the name of the source")
    made.add_argument("--master", metavar="URL", help="the cluster; default: that of spark-submit, or this machine")
    made.add_argument("--overwrite", action="store_true", help="replace an earlier result in --out")
    made.add_argument("--json", action="store_true", help="print the counts as JSON")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job. Return 0, 3 if a row was not released, 2 if the call is wrong, 1 if it failed, 130 if stopped."""
    asked = parser().parse_args(arguments)
    spark: SparkSession | None = None
    try:
        _check(asked)
        spark = session(asked)
        counts, alarms = run(spark, asked)
    except IncognoteError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 -- the output of a command
        return USAGE if isinstance(error, UsageError) else FAILURE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        print(f"error: {said(error)}", file=sys.stderr)  # noqa: T201 -- the output of a command
        return FAILURE
    finally:
        if spark is not None:
            spark.stop()
    print(shown(counts, as_json=asked.json))  # noqa: T201 -- the output of a command
    for alarm in alarms:
        print(f"warning: {of_drift(alarm)}", file=sys.stderr)  # noqa: T201 -- the output of a command
    return HELD if counts.held or counts.refused else 0


def _check(asked: argparse.Namespace) -> None:
    if asked.form is None:
        asked.form = "jsonl" if asked.source.rstrip("/").endswith((".jsonl", ".ndjson", ".jsonl.gz")) else "parquet"
    if asked.form == "parquet" and asked.text is None:
        raise UsageError("--text: name the column with the notes.")
    if asked.form != "parquet" and (asked.text or asked.patient or asked.id or asked.known or asked.keep):
        raise UsageError("--text, --patient, --id, --known, and --keep name columns of a Parquet source. Remove them.")
    if bool(asked.ledger) != bool(asked.release):
        raise UsageError("--ledger and --release belong together. Add the other one.")
    if asked.ledger and not asked.quarantine:
        raise UsageError("--ledger: add --quarantine FOLDER, so that no held record is lost.")


def session(asked: argparse.Namespace) -> SparkSession:
    """Return the session of `spark-submit`, or start one."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        from incognote.errors import MissingExtra

        raise MissingExtra("spark", "incognote on Spark") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("incognote").config("spark.ui.showConsoleProgress", "false")
    if asked.by_patient or asked.partitions:  # the rows are exchanged between the workers, by their disks
        builder = builder.config("spark.io.encryption.enabled", "true")
    if asked.master:
        builder = builder.master(asked.master)
    if asked.form == "files":
        builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", _SMALL_BATCH)
    return builder.getOrCreate()


def run(spark: SparkSession, asked: argparse.Namespace) -> tuple[Tally, list[Alarm]]:
    """Read, de-identify, write, and count. Return the counts and the drift alarms.

    Raises:
        AccountingError: rows were lost.
    """
    from incognote.spark import deidentify, drift, tally

    whole = _source(spark, asked)
    source = whole.repartition(asked.partitions) if asked.partitions else whole
    words = _words(asked)
    if asked.ledger:
        from incognote.spark.delivery import deliver

        place = {"destination": asked.out, "ledger": asked.ledger, "release": asked.release, "source": asked.of}
        return deliver(source, **place, **words), []
    made = deidentify(source, by_patient=asked.by_patient, **words)
    writer = made.write.mode("overwrite" if asked.overwrite else "error").partitionBy("verdict")
    if asked.write == "parquet":
        writer.parquet(asked.out)
        written: DataFrame = spark.read.schema(made.schema).parquet(asked.out)
    else:
        writer.json(asked.out)
        written = spark.read.schema(made.schema).json(asked.out)
    counts = tally(written, read=whole.count())
    named = {name: words[name] for name in _SETTINGS}
    return counts, drift(written, source=asked.of, **named) if asked.of else []


def _source(spark: SparkSession, asked: argparse.Namespace) -> DataFrame:
    if asked.form == "files":
        source = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(asked.source)
    elif asked.form == "jsonl":
        source = spark.read.text(asked.source)
        source = source.filter("length(trim(value)) > 0")
    else:
        source = spark.read.parquet(asked.source)
    return source


def _words(asked: argparse.Namespace) -> dict[str, Any]:
    roles: dict[str, dict[str, Any]] = {
        "files": {"text": "content", "path": "path"},
        "jsonl": {"text": "value", "records": True},
        "parquet": {
            "text": asked.text, "patient": asked.patient, "id": asked.id, "known": asked.known, "keep": asked.keep,
        },
    }  # fmt: skip
    return {
        **roles[asked.form],
        **{name: getattr(asked, name) for name in (*_SETTINGS, "packs", "data_type", "index", "quarantine")},
        "detectors": asked.detectors.split(",") if asked.detectors else None,
    }


def said(error: Exception) -> str:
    """Return what may be shown of an error of Spark: the message of a worker's error of ours, or else its class."""
    for line in str(error).splitlines():
        _, found, message = line.partition("WorkerFailed: ")
        if found:
            return message
    condition = getattr(error, "getCondition", lambda: None)()
    return f"The job failed: {condition or type(error).__name__}. Spark's log tells more."


def of_drift(alarm: Alarm) -> str:
    """Return a drift alarm as text."""
    kind = alarm.entity_type or "all types"
    return f"drift: {alarm.outlook} identifiers per record ({kind}): {alarm.rate:.2f} instead of {alarm.expected:.2f}"


def shown(counts: Tally, *, as_json: bool) -> str:
    """Return the counts as text."""
    if as_json:
        names = ("read", "outcomes", "refused", "reasons", "replaced")
        return json.dumps({name: counts.as_dict()[name] for name in names})
    parts = [f"{counts.outcomes[outcome]:,} {name}" for outcome, name in
             (("release", "released"), ("review", "for review"), ("quarantine", "quarantined"))]  # fmt: skip
    parts += [f"{counts.refused:,} refused"] * bool(counts.refused)
    lines = [f"{counts.read:,} records: {', '.join(parts)}"]
    lines += [f"  {outcome}: {code}: {number:,}" for (outcome, code), number in sorted(counts.reasons.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]
    sys.exit(main())
