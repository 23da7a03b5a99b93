"""The work of a task: rows of Arrow batches through the driver to rows with a verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from incognote.agents.item import TOGETHER
from incognote.nouns import Reason, Result, Verdict
from incognote.spark.inputs import RowWords, SparkRow, held_name
from incognote.spark.opening import WorkerSettings, opened, warmed, without_values
from incognote.spark.roles import COUNTS, WORDS, Roles

if TYPE_CHECKING:
    import pyarrow as pa

    from incognote.files.quarantine import Quarantine
    from incognote.keys import Keyring
    from incognote.runs.driver import Driver
    from incognote.sdk import Deidentifier
    from incognote.spark.monitor import Monitor

ROWS = 256
"""Rows that are in memory at once as Python values, with their results."""
BYTES = 8 * 2**20
"""Bytes at which fewer rows are."""
REFUSED = "refused"
"""The value of `verdict` for a row whose patient opted out."""
_OPTED_OUT = Verdict("quarantine", (Reason("opted-out", "", "the subject opted out or was deleted"),))


@dataclass(frozen=True)
class Served:
    """The outcome of one row.

    Args:
        output: the new text or bytes; None if the row was not released.
        refused: whether its patient opted out. Then nothing of the row is in the result.
    """

    verdict: Verdict
    result: Result | None = field(default=None, repr=False)
    output: str | bytes | None = field(default=None, repr=False)
    refused: bool = False


@dataclass(frozen=True)
class Task:
    """Maps the Arrow batches of a partition. Spark sends it to the workers, so it holds no secret.

    Args:
        roles: the roles of the columns.
        settings: what opens the Deidentifier.
        records: whether each text is a line of JSON, a record.
    """

    roles: Roles
    settings: WorkerSettings
    records: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of each batch with their outcome, in the same order.

        Raises:
            WorkerFailed: the configuration does not work here. No value of a row is in the message.
        """
        for batch in batches:
            yield from self._served(batch)

    def _served(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        for some in slices(batch, self.roles.text, self.together):
            with without_values():
                new = self._mapped(some)
            yield new

    @cached_property
    def together(self) -> int:
        """How many rows are served together: more under a policy with surrogates, which are chosen together."""
        with without_values():
            return TOGETHER if opened(self.settings)[0].engine.policy.surrogates else ROWS

    def _mapped(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        made, quarantine, monitor = opened(self.settings)
        rows = self.rows(batch, made)
        served = serve(made, quarantine, rows, monitor)
        monitor.served(len(rows))
        warmed(self.settings)
        return self._output(batch, made, served)

    def rows(self, batch: pa.RecordBatch, made: Deidentifier) -> list[SparkRow]:
        """Return the rows of a batch."""
        roles = self.roles
        names = dict.fromkeys((roles.text, *roles.linked, *filter(None, (roles.media_type,))))
        cells = {name: batch.column(name).to_pylist() for name in names}

        def value(name: str | None, at: int) -> str | None:
            return None if name is None else written(cells[name][at])

        def row(at: int) -> SparkRow:
            content, path = cells[roles.text][at], value(roles.path, at)
            patient = value(roles.patient, at)
            if content is None:
                return SparkRow(at, None, patient=patient)
            known = {name: cells[name][at] for name in roles.known if cells[name][at] is not None}
            words = RowWords(patient, known, path, value(roles.media_type, at))
            if self.records:
                item, line = words.record(content, made)
                return SparkRow(at, item, id=value(roles.id, at), line=line, patient=patient)
            return SparkRow(at, words.item(content), id=value(roles.id, at), path=path, patient=patient)

        return [row(at) for at in range(batch.num_rows)]

    def _output(self, batch: pa.RecordBatch, made: Deidentifier, served: Sequence[Served]) -> pa.RecordBatch:
        import pyarrow as pa

        from incognote.operators.hash import pseudonym

        roles, engine = self.roles, made.engine
        columns: dict[str, Any] = {}
        refused = pa.array([one.refused for one in served])
        for name in roles.read:
            column = batch.column(name)
            if name == roles.text:
                columns[name] = pa.array([one.output for one in served], column.type)
            elif roles.is_hashed(name):
                words = map(written, _without(column, refused).to_pylist())
                codes = [None if word is None else pseudonym(word, engine.keyring, engine.domain) for word in words]
                columns[name] = pa.array(codes, pa.string())
            else:
                columns[name] = _without(column, refused)
        columns["verdict"] = pa.array([REFUSED if one.refused else one.verdict.outcome for one in served], pa.string())
        columns["reasons"] = pa.array([reasons_of(one.verdict) for one in served], _reasons())
        columns["manifest"] = pa.array([manifest_of(one.result) for one in served], _manifest())
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def slices(batch: pa.RecordBatch, text: str, most: int) -> Iterator[pa.RecordBatch]:
    """Yield the parts of a batch, each with at most `most` rows and about `BYTES` bytes of text."""
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.binary_length(batch.column(text)), 0).to_pylist()
    start = size = 0
    for at, length in enumerate(lengths):
        if at > start and (at - start >= most or size + length > BYTES):
            yield batch.slice(start, at - start)
            start, size = at, 0
        size += length
    if start < len(lengths):
        yield batch.slice(start)


def _without(column: pa.Array, refused: pa.Array) -> pa.Array:
    """Return a column without the values of refused rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(refused, pa.scalar(None, column.type), column) if refused.true_count else column


def serve(
    made: Deidentifier, quarantine: Quarantine | None, rows: Sequence[SparkRow], monitor: Monitor
) -> list[Served]:
    """Return the outcome of each row. Rows that are not released are put into the quarantine.

    The opt-out list is asked before the rows are served, and again afterwards. To forget a patient, the opt-out is
    entered first and the data deleted afterwards. So a row that is held meanwhile is deleted by one of the two.

    Raises:
        AccountingError: the counts do not balance.
        LedgerUnavailable: the list of opt-outs does not answer.
        Unwritable: the quarantine cannot be written.
    """
    from incognote.files.holding import hold
    from incognote.runs.driver import Driver

    nothing = Served(Verdict("release"))  # as in `deidentify_frame`: a missing text stays missing
    served = [nothing for _ in rows]
    keyring = made.engine.keyring

    def release(row: SparkRow, result: Result) -> None:
        served[row.at] = Served(result.verdict, result, output_of(row, result, keyring))

    def keep(row: SparkRow, verdict: Verdict, result: Result | None) -> None:
        served[row.at] = Served(verdict, result)
        if quarantine is not None:
            hold(quarantine, keyring, row.input(keyring), verdict, result.manifest if result else {})

    subjects = monitor.subjects(rows, made.engine)
    patients = set(subjects.values())
    refused = monitor.refused(patients)
    settle(made, Driver[SparkRow](release, keep), [row for row in rows if subjects.get(row.at) not in refused])
    late = monitor.refused(patients - refused)
    for row in rows:
        if subjects.get(row.at) in late and quarantine is not None:
            quarantine.discard(held_name(row, keyring))
        if subjects.get(row.at) in refused | late:
            served[row.at] = Served(_OPTED_OUT, refused=True)
    return served


def settle(made: Deidentifier, driver: Driver[SparkRow], rows: Sequence[SparkRow]) -> None:
    """Let the driver settle each row that has a text.

    Raises:
        AccountingError: the counts do not balance.
    """
    for row in rows:
        if row.line is not None and row.line.error is not None:
            driver.refuse(row, Verdict("quarantine", (row.line.error,)))
    full = [(row, row.item) for row in rows if row.item is not None]
    driver.tally.read += len(full)
    for (row, _), result in zip(full, made.batch([item for _, item in full], progress=False), strict=True):
        driver.settle(row, result)
    driver.end_batch()


def output_of(row: SparkRow, result: Result, keyring: Keyring) -> str | bytes:
    """Return the output of a released row, the same as that of `incognote deid`.

    Raises:
        UnicodeEncodeError: it has half a character, which no table of Spark can hold.
    """
    from incognote.files.outputs import output_of as output_of_line

    output = result.content if row.line is None else output_of_line(row.line, result, keyring)
    if isinstance(output, str):
        output.encode()
    return output


def reasons_of(verdict: Verdict) -> list[dict[str, str]]:
    """Return the reasons in the form of the column. A field is named only if an approved schema names it."""
    from incognote.files.quarantine import in_clear

    clear = dict.fromkeys(map(in_clear, verdict.reasons))
    return [{"code": reason.code, "field": reason.field} for reason in clear]


def manifest_of(result: Result | None) -> dict[str, Any] | None:
    """Return a manifest in the form of the column; None for a row that the machine did not process."""
    if result is None or not result.manifest:
        return None
    manifest = result.manifest
    counts, policy, schema, key = (manifest.get(name) or {} for name in ("counts", "policy", "schema", "key"))
    words = {
        "incognote": manifest.get("incognote"),
        "policy": policy.get("name"),
        "policy_version": policy.get("version"),
        "label": policy.get("label"),
        "schema": f"{schema['data_type']} {schema['version']}" if schema else None,
        "versions": json.dumps(manifest.get("versions"), sort_keys=True),
        "models": None if manifest.get("models") is None else json.dumps(manifest["models"], sort_keys=True),
        "key": key.get("id"),
        "check": key.get("check"),
    }
    by_type = list(counts.get("by_type", {}).items())
    return {**words, **{name: counts.get(name, 0) for name in COUNTS}, "by_type": by_type}


def written(value: Any) -> str | None:
    """Return a name or number as text; None if it is missing or blank."""
    words = "" if value is None else str(value)
    return words if words.strip() else None


def _reasons() -> pa.DataType:
    import pyarrow as pa

    return pa.list_(pa.struct([("code", pa.string()), ("field", pa.string())]))


def _manifest() -> pa.DataType:
    import pyarrow as pa

    words = [(name, pa.string()) for name in WORDS]
    counts = [(name, pa.int32()) for name in COUNTS]
    return pa.struct([*words, *counts, ("by_type", pa.map_(pa.string(), pa.int32()))])
