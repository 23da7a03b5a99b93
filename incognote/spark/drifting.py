"""`drift`: the identifiers per record in a result, compared with those of the same source on the days before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from incognote.service.drift import Alarm, Day
from incognote.settings import SettingKeywords
from incognote.spark.frames import checked, session_of
from incognote.spark.opening import WorkerSettings, keyring_of, without_values

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_TOLD = "told string"


def drift(
    df: DataFrame,
    *,
    source: str,
    policy: str | Path | None = None,
    config: str | Path | None = None,
    model: str | None = None,
    detectors: Sequence[str] | None = None,
    **settings: Unpack[SettingKeywords],
) -> list[Alarm]:
    """Add the counts of a result of `deidentify` to those of its source, and return the alarms of today.

    Call it once for each result, after you wrote it. The counts are in the database of the service, under a keyed name
    of the source. Without a database, nothing is stored or compared, and there is no alarm.

    Args:
        df: the result that was written.
        source: the name of the source. Results with the same name are compared with each other.
        policy, config, model, detectors, settings: as in `deidentify`.

    Raises:
        UsageError, SettingError: an argument is wrong. Nothing was started.
    """
    from pyspark.sql import functions as f

    words = {**settings, "policy": None if policy is None else str(policy), "model": model, "detectors": detectors}
    session = session_of(df)
    made = checked(session, words, config, None)

    def incognote(batches: Any) -> Any:
        return days(batches)

    rows = df.filter("manifest is not null").select(f.col("manifest.by_type").alias("by_type"))
    day = Day()
    for row in rows.mapInArrow(incognote, _TOLD).collect():
        day += Day(**json.loads(row["told"]))
    work = DriftTask(made, source, day)

    def comparing(batches: Any) -> Any:
        return work(batches)

    (last,) = session.range(1).coalesce(1).mapInArrow(comparing, _TOLD).collect()
    return [Alarm(**alarm) for alarm in json.loads(last["told"])]


@dataclass(frozen=True)
class DriftTask:
    """Compares the counts of a result on a worker, which has the key and can reach the database.

    Args:
        settings: what opens the database.
        source: the name of the source.
        day: the counts.
    """

    settings: WorkerSettings
    source: str
    day: Day

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the alarms as JSON, in one row."""
        import pyarrow as pa

        for _ in batches:
            pass
        with without_values():
            found = self._found()
        yield pa.RecordBatch.from_pydict({"told": [json.dumps([asdict(alarm) for alarm in found])]})

    def _found(self) -> list[Alarm]:
        from incognote.spark.monitor import Reports, compare, database, drift_store

        settings = self.settings.load()
        url = database(settings)
        if url is None:
            return []
        keyring = keyring_of(settings)
        store = drift_store(settings, keyring, url)
        try:
            return compare(store, self.source, self.day, Reports(settings, keyring))
        finally:
            store.close()


def days(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the counts of a partition as JSON, in one row."""
    import pyarrow as pa

    day = Day()
    for batch in batches:
        day += Day.of(dict(one or ()) for one in batch.column("by_type").to_pylist())
    yield pa.RecordBatch.from_pydict({"told": [json.dumps(asdict(day))]})
