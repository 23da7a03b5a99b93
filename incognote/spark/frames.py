"""`deidentify`: a Spark table with notes or documents, de-identified on the workers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from incognote.errors import MissingExtra, SettingError, UsageError
from incognote.settings import SettingKeywords, Settings
from incognote.spark.opening import WorkerSettings
from incognote.spark.roles import Roles
from incognote.spark.secrets import check_arguments, check_configuration
from incognote.spark.task import Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def deidentify(
    df: DataFrame,
    *,
    text: str,
    patient: str | None = None,
    id: str | None = None,
    known: str | Sequence[str] = (),
    path: str | None = None,
    media_type: str | None = None,
    keep: str | Sequence[str] = (),
    records: bool = False,
    by_patient: bool | int = False,
    quarantine: str | Path | None = None,
    policy: str | Path | None = None,
    config: str | Path | None = None,
    model: str | None = None,
    detectors: Sequence[str] | None = None,
    **settings: Unpack[SettingKeywords],
) -> DataFrame:
    """De-identify a column of notes or documents. The result is lazy, as every table of Spark, or a stream.

    The result has the columns that have a role here, and `verdict`, `reasons`, and `manifest`. The text of a row that
    was not released is null. The columns `patient`, `id`, `known`, and `path` become keyed hashes, unless they are in
    `keep`. All other columns are left out: they could identify a person, and nothing looks at them. A row whose patient
    opted out has the verdict `refused`, and nothing else of it is in the result.

    Args:
        df: a table, static or streaming. It is not changed.
        text: a column of notes (string) or documents (binary, such as `content` of the source `binaryFile`).
        patient: the column that identifies each row's patient. Date shifts and surrogates depend on it.
        id: the column that identifies each row in its source.
        known: columns with identifiers, such as a name or an MRN. They are searched for in the row's text.
        path: for documents, the column with the name of the file, whose suffix gives the format.
        media_type: for documents, the column with the media type. Without both, the content decides.
        keep: columns that come along unchanged. Do not name one that identifies a person.
        records: each text is a record, as a line of a .jsonl file is: FHIR, a record with a schema, or
            {"id", "patient", "text"}. The output is that of `incognote deid` for the line. `data_type` implies it.
        by_patient: bring all rows of a patient into one task; a number is the number of partitions. The rows are
            exchanged between the workers, so Spark must encrypt what it writes (spark.io.encryption.enabled).
        quarantine: a folder that all workers can write to. Rows that are not released are stored there, encrypted.
        policy, config, model, detectors, settings: as in `incognote.Deidentifier`, by names and paths that are valid on
            the workers. `index` may also be `partition`: each Python worker has its own index (see docs/spark.md). A
            secret cannot be one of them.

    Raises:
        UsageError, SettingError: an argument is wrong. The message names it and the remedy. Nothing was started.
    """
    words = {**settings, "policy": None if policy is None else str(policy), "model": model, "detectors": detectors}
    roles = Roles.named(text, patient, id, known, path, media_type, keep)
    session = session_of(df)
    made = checked(session, words, config, quarantine)
    roles.check(df.schema)
    lines = records or words.get("data_type") is not None
    if lines and roles.type_of(df.schema) != "string":
        raise UsageError("records: the text must be a string with a line of JSON. For files, leave `records` out.")
    if made.partitioned and not by_patient:
        raise UsageError("index: with `partition`, add by_patient=True, so that a patient has one index.")
    rows = df.select(*map(quoted, roles.read))
    if by_patient:
        rows = _by_patient(rows, roles, session, by_patient)
    task = Task(roles, made, lines)
    schema = roles.output(df.schema)

    def incognote(batches: Any) -> Any:
        return task(batches)

    return rows.mapInArrow(incognote, schema)


def released(df: DataFrame) -> DataFrame:
    """Return the released rows of a result of `deidentify`.

    The result computes `df` again. To split one computation, write `df` first, or partition it by `verdict`.
    """
    return df.filter(df["verdict"] == "release")


def held(df: DataFrame) -> DataFrame:
    """Return the rows that wait for review or are in the quarantine. Their text is null."""
    return df.filter(df["verdict"].isin("review", "quarantine"))


def checked(
    session: SparkSession, words: dict[str, Any], config: str | Path | None, quarantine: str | Path | None
) -> WorkerSettings:
    """Return what the workers open, after checking it as far as this machine can.

    Raises:
        SettingError, UnknownName, PolicyProblem: a setting is wrong, or a secret is in the wrong place.
    """
    from incognote.schemas.policy import load_policy

    check_arguments(words)
    pairs = configuration(session)
    check_configuration(pairs.items())
    local = pairs.get("spark.master", "local").startswith("local")
    made = WorkerSettings.of(words, config, quarantine, several=not local)
    given = dict(made.words)
    if made.partitioned:
        del given["index"]
    loaded = Settings.load(config if local else None, **given)  # names and values; the files are on the workers
    made.check_places(loaded)
    named = given.get("policy")
    if named is not None and (local or not ("/" in named or named.endswith(".toml"))):
        load_policy(named)
    key_file = given.get("key_file")
    if local and key_file is not None and not Path(key_file).expanduser().is_file():
        raise SettingError("key_file: the file does not exist. To make a key, run: incognote key new")
    return made


def configuration(session: SparkSession) -> dict[str, str]:
    """Return the configuration of a session, of Spark Connect, too."""
    try:
        return {**dict(session.sparkContext.getConf().getAll()), **session.conf.getAll}
    except Exception:  # Spark Connect has no context
        return dict(session.conf.getAll)


def session_of(df: DataFrame) -> SparkSession:
    """Return the session of a table.

    Raises:
        UsageError: it is not a table of Spark.
        MissingExtra: pyspark or pyarrow is not installed.
    """
    try:
        import pyarrow  # noqa: F401 -- imported here to raise our own error if it is missing
        from pyspark.sql import DataFrame
    except ImportError:
        raise MissingExtra("spark", "a table of Spark") from None
    if not isinstance(df, DataFrame) and not hasattr(df, "mapInArrow"):
        raise UsageError(f"df must be a DataFrame of Spark, not {type(df).__name__}. For pandas, use deidentify_frame.")
    return df.sparkSession


def quoted(name: str) -> str:
    """Return a column's name for Spark, which reads a dot as a member."""
    return "`" + name.replace("`", "``") + "`"


def _by_patient(rows: DataFrame, roles: Roles, session: SparkSession, partitions: bool | int) -> DataFrame:
    if roles.patient is None:
        raise UsageError("by_patient: name the column of the patient, too (patient=).")
    pairs = configuration(session)
    if pairs.get("spark.io.encryption.enabled", "false").lower() != "true":
        raise SettingError(
            "by_patient: Spark writes the rows to the disks of the workers when it exchanges them. Set "
            "spark.io.encryption.enabled=true when the session or the job is started."
        )
    number = () if isinstance(partitions, bool) else (partitions,)
    return rows.repartition(*number, quoted(roles.patient))
