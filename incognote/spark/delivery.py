"""`deliver`: shards of released records, each record once across jobs, repeated tasks, and killed executors.

Spark repeats a task whose executor died, and may run one twice. So a table that Spark writes is right only as a whole.
Here each task settles its records in the ledger, as the worker does, and the ledger decides which shards are valid.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from incognote.errors import AccountingError, LeaseLost, UsageError
from incognote.nouns import Outcome, Result, Verdict
from incognote.runs.tally import Tally
from incognote.settings import SettingKeywords
from incognote.spark.frames import checked, quoted, session_of
from incognote.spark.inputs import SparkRow
from incognote.spark.opening import opened, without_values
from incognote.spark.roles import Roles
from incognote.spark.secrets import check_addresses
from incognote.spark.task import Task, output_of, settle, slices

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from incognote.ledger import FilePart, Ledger, RecordClaim, Release, SettledRecord, State, Wanted
    from incognote.runs.destination import Destination
    from incognote.runs.shards import Form, Packing
    from incognote.sdk import Deidentifier

_TOLD = "told string"
_OUTCOMES: dict[str, Outcome] = {"released": "release", "review": "review", "quarantined": "quarantine"}


def deliver(
    df: DataFrame,
    *,
    destination: str,
    ledger: str,
    release: str,
    quarantine: str | Path,
    source: str | None = None,
    text: str,
    patient: str | None = None,
    id: str | None = None,
    known: str | Sequence[str] = (),
    path: str | None = None,
    media_type: str | None = None,
    records: bool = False,
    form: Form = "lines",
    packing: Packing = "none",
    policy: str | Path | None = None,
    config: str | Path | None = None,
    model: str | None = None,
    detectors: Sequence[str] | None = None,
    **settings: Unpack[SettingKeywords],
) -> Tally:
    """De-identify a table and deliver the released records as shards, each record once.

    A record is identified by `id` or `path`, or else by the id in it (`records`) or its content. A record that was
    settled before, by any job, task, or worker with this ledger, is not processed again. A killed executor loses and
    doubles nothing: its claims end with its lease, and the repeated task takes them.

    Args:
        destination: a folder that all workers share, or a storage URL.
        ledger: `postgresql://USER@HOST/NAME`, or on one machine `sqlite:///FILE`.
        release: the name of the release. It fixes policy, key, models, and code.
        quarantine: a folder that all workers share, for records that were not released.
        source: the name of the source, for drift alarms. Jobs with the same name are compared with each other.
        form, packing: of the shards, as in `incognote worker`.
        others: as in `deidentify`.

    Returns:
        The counts of the whole release: earlier jobs with this ledger are included.

    Raises:
        UsageError, SettingError: an argument is wrong. Nothing was started.
    """
    words = {**settings, "policy": None if policy is None else str(policy), "model": model, "detectors": detectors}
    roles = Roles.named(text, patient, id, known, path, media_type, ())
    session = session_of(df)
    made = checked(session, words, config, quarantine)
    made.check_url("ledger", ledger)
    check_addresses({"ledger": ledger, "destination": destination})
    if df.isStreaming:
        raise UsageError("deliver: the table is a stream. Call it for each batch (foreachBatch).")
    roles.check(df.schema)
    lines = records or words.get("data_type") is not None
    if not (id or path or lines):
        raise UsageError("deliver: name the column that identifies each row (id=), so that none is delivered twice.")
    work = DeliveryTask(Task(roles, made, lines), destination, ledger, release, form, packing, source)

    def incognote(batches: Any) -> Any:
        return work(batches)

    def closing(batches: Any) -> Any:
        return work.closed(batches)

    df.select(*map(quoted, roles.read)).mapInArrow(incognote, _TOLD).foreach(lambda row: None)
    (last,) = session.range(1).coalesce(1).mapInArrow(closing, _TOLD).collect()
    states = json.loads(last["told"])
    told = Tally(read=sum(states.values()))
    told.refused = states.pop("refused", 0)
    for state, number in states.items():
        told.outcomes[_OUTCOMES[state]] += number
    told.balance()
    return told


@dataclass(frozen=True)
class DeliveryTask:
    """Delivers the rows of a partition. It travels with the job, so it holds no secret.

    Args:
        task: what reads the rows.
        destination, ledger, release, form, packing, source: as in `deliver`.
    """

    task: Task
    destination: str
    ledger: str
    release: str
    form: Form
    packing: Packing
    source: str | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Deliver the rows of all batches. Yield nothing."""
        with without_values(), Delivery(self) as delivery:
            made, _, _ = opened(self.task.settings)
            for batch in batches:
                for some in slices(batch, self.task.roles.text, self.task.together):
                    delivery.serve(self.task.rows(some, made))
            delivery.flush()
        return iter(())

    def closed(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Finish what killed tasks left. Yield the number of records in each state."""
        import pyarrow as pa

        for _ in batches:
            pass
        with without_values(), Delivery(self) as delivery:
            states = delivery.close()
        return iter([pa.RecordBatch.from_pydict({"told": [json.dumps(states)]})])


@dataclass(frozen=True)
class _Claimed:
    row: SparkRow = field(repr=False)
    claim: RecordClaim


class Delivery:
    """The work of one attempt of a task: it claims records, serves them, and settles them with their shards."""

    def __init__(self, work: DeliveryTask) -> None:
        from incognote.files.inputs import RecordDefaults
        from incognote.ledger import Ledger
        from incognote.runs.destination import open_destination
        from incognote.runs.freezing import deciding
        from incognote.runs.heartbeat import Heartbeat
        from incognote.runs.location import keep_apart, open_location
        from incognote.runs.shards import OpenShards, ShardDelivery, begun

        made, quarantine, self._monitor = opened(work.task.settings)
        assert quarantine is not None  # `deliver` requires one
        self._made: Deidentifier = made
        self._quarantine = quarantine
        engine = made.engine
        where = open_location(work.destination)
        keep_apart({"the destination": where, "the quarantine": open_location(str(work.task.settings.quarantine))})
        self._destination: Destination = open_destination(where)
        self._ledger: Ledger = Ledger(work.ledger, engine.keyring)
        settings = engine.settings.service
        shards = {"form": work.form, "packing": work.packing}
        frozen = {**deciding(made, layout=None, words=RecordDefaults()), "shards": shards}
        self._release: Release = begun(self._ledger, self._destination, work.release, frozen)
        self._shards = OpenShards(
            work.release, work.form, work.packing, records=settings.shard_records, size=settings.shard_bytes
        )
        self._delivery = ShardDelivery(self._ledger, self._destination, self._release)
        self._lease = settings.lease_seconds
        self._worker = self._ledger.join(self._lease)
        self._heart = Heartbeat(self._ledger, self._worker, self._lease)
        self._part: FilePart | None = None
        self._leaving: list[str] = []
        self._subjects: dict[int, str] = {}  # of the rows that are decided now, by their positions
        self._patients: set[str] = set()  # of records in open shards
        self._counts: list[Mapping[str, int]] = []
        self._source = work.source
        self._records = work.task.records

    def serve(self, rows: Sequence[SparkRow]) -> None:
        """Claim and settle rows. Wait for those that another attempt has claimed, until its lease ends.

        Raises:
            AccountingError: not each row was settled.
        """
        part = self._part or self._begin()
        wanted = {self._wanted(row, part).key: row for row in rows if row.item is not None or row.line is not None}
        asked = {key: self._wanted(row, part) for key, row in wanted.items()}
        settled = 0
        waiting = dict(asked)
        while waiting:
            claims = self._ledger.claim(self._worker, self._release.id, list(waiting.values()))
            mine = [_Claimed(wanted[key], one) for key, one in claims.items() if one.outcome == "mine"]
            alone = [key for key, one in claims.items() if one.outcome == "suspect"]
            settled += len(mine) + sum(one.outcome in ("settled", "again") for one in claims.values())
            self._decide(mine)
            for key in alone:  # an executor died with this record
                self.flush()
                (one,) = self._ledger.claim(self._worker, self._release.id, [waiting[key]], alone=True).values()
                if one.outcome == "mine":
                    self._decide([_Claimed(wanted[key], one)])
                    self.flush()
                    settled += 1
                    claims[key] = one
            waiting = {key: one for key, one in waiting.items() if claims[key].outcome in ("busy", "suspect")}
            if waiting:
                self.flush()
                time.sleep(self._lease / 4)
                self._ledger.beat(self._worker)  # ends the leases of killed attempts
        if settled != len(asked):
            raise AccountingError(f"{len(asked)} records were read, but {settled} were settled")
        if self._shards.full:
            self.flush()

    def flush(self) -> None:
        """Run sentinel notes, settle what was decided, and deliver the shards.

        Raises:
            SentinelsMissed: too few identifiers of all sentinel notes were found. Nothing of this shard is settled.
            LeaseLost: a patient opted out since the records were claimed. Nothing of this shard is settled.
        """
        from incognote.runs.shards import token

        if self._shards.empty:
            return
        self._monitor.look(self._release.name)
        if self._monitor.refused(self._patients):
            raise LeaseLost("A patient opted out while the records were processed. Run the job again.")
        staged = self._delivery.stage(self._worker, self._shards)
        try:
            self._delivery.settle(self._worker, token(), staged, self._shards)
        except BaseException:
            self._delivery.discard(staged)
            raise
        self._shards.clear()
        self._patients.clear()
        counts, self._counts = self._counts, []
        if self._source is not None:
            self._monitor.counted(self._source, counts)
        for name in self._leaving:
            self._quarantine.discard(name)
        self._leaving.clear()
        self._delivery.place()

    def close(self) -> dict[State, int]:
        """Place or remove the shards of killed attempts, and close their parts. Return the records in each state.

        Raises:
            AccountingError: a record is claimed by nobody that lives.
        """
        while not self._ledger.complete(self._release.id):
            self._ledger.beat(self._worker)
            self._delivery.recover()
            left = self._ledger.claim_parts(self._worker, self._release.id, most=256, bytes=256)
            self._shards.parts += [part.id for part in left]
            self.flush()
            if not left:
                time.sleep(self._lease / 4)
        states = self._ledger.counts(self._release.id)
        if open_ones := states.get("found", 0) + states.get("claimed", 0):
            raise AccountingError(f"{open_ones} records were claimed and not settled")
        return states

    def __enter__(self) -> Delivery:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._heart.stop()
        self._ledger.leave(self._worker)  # what is not settled is returned
        self._ledger.close()

    def _begin(self) -> FilePart:
        """Enter this attempt as a part of the source: each record of the ledger belongs to one."""
        from incognote.ledger import FoundFile

        location = self._ledger.key("spark", self._worker)
        self._ledger.found(self._release.id, [FoundFile(location, location, "spark", 1)])
        while self._part is None:
            taken = self._ledger.claim_parts(self._worker, self._release.id, most=1, bytes=1)
            self._part = taken[0] if taken else None
        self._shards.parts.append(self._part.id)
        return self._part

    def _wanted(self, row: SparkRow, part: FilePart) -> Wanted:
        from incognote.agents.item import opened as opened_record
        from incognote.agents.item import patient_of
        from incognote.ledger import Wanted

        ledger, item = self._ledger, row.item
        record = opened_record(item, self._made.engine) if item is not None and self._records else None
        content = row.line.data if row.line is not None else item.content if item is not None else b""
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content or b""
        digest = sha256(data).hexdigest()
        subject = patient_of(item, record) if item is not None else None
        own = row.id or row.path or (item.id if item is not None else None) or (record.id if record else None)
        source = ledger.key("record", "spark", *(("id", own) if own else ("content", subject or "", digest)))
        return Wanted(
            source, ledger.key("content", digest), part.id, None if subject is None else ledger.subject(subject)
        )

    def _decide(self, mine: Sequence[_Claimed]) -> None:
        from incognote.runs.driver import Driver
        from incognote.service.worker.records import refusal

        rows = [replace(one.row, at=at) for at, one in enumerate(mine)]
        self._subjects = self._monitor.subjects(rows, self._made.engine)
        refused = self._monitor.refused(set(self._subjects.values()))
        self._shards.held += [refusal(mine[at].claim.id) for at, name in self._subjects.items() if name in refused]
        rows = [row for row in rows if self._subjects.get(row.at) not in refused]
        settle(self._made, Driver[SparkRow](lambda row, result: self._released(mine[row.at], row, result),
                                       lambda row, verdict, result: self._held(mine[row.at], row, verdict, result)),
               rows)  # fmt: skip

    def _released(self, mine: _Claimed, row: SparkRow, result: Result) -> None:
        from incognote.runs.shards import digest_of, line_of, shape_of

        keyring = self._made.engine.keyring
        one, output = row.input(keyring), output_of(row, result, keyring)
        shape = shape_of(one, output)
        line = line_of(one, output, self._shards.next_id(shape))
        self._leaving.append(cast(str, one.held))
        self._shards.add(shape, line, mine.claim.id, digest_of(result.manifest), None, result.image)
        self._counts.append(result.manifest["counts"]["by_type"])
        if row.at in self._subjects:
            self._patients.add(self._subjects[row.at])

    def _held(self, mine: _Claimed, row: SparkRow, verdict: Verdict, result: Result | None) -> None:
        from incognote.files.holding import hold
        from incognote.ledger import SettledRecord
        from incognote.runs.shards import digest_of
        from incognote.service.worker.records import refusal

        manifest = result.manifest if result is not None else {}
        keyring = self._made.engine.keyring
        one = row.input(keyring)
        hold(self._quarantine, keyring, one, verdict, manifest)
        if (subject := self._subjects.get(row.at)) is not None and self._monitor.refused({subject}):
            self._quarantine.discard(cast(str, one.held))
            self._shards.held.append(refusal(mine.claim.id))
            return
        if manifest:
            self._counts.append(manifest["counts"]["by_type"])
        state: State = "review" if verdict.outcome == "review" else "quarantined"
        codes = tuple(sorted({reason.code for reason in verdict.reasons}))
        held: SettledRecord = SettledRecord(
            mine.claim.id, state, None, codes, digest_of(manifest) if manifest else None
        )
        self._shards.held.append(held)
