"""De-identify tables of pandas, polars and Hugging Face datasets that have a column of notes.

Each library has one function below that reads columns as lists and writes the new ones. All else is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from incognote.agents.engine import Engine
from incognote.agents.item import TOGETHER, Item
from incognote.detectors.known import known_from
from incognote.errors import UsageError
from incognote.nouns import Result
from incognote.operators.hash import pseudonym

ADDED = ("verdict", "reasons")
Batch = Callable[..., Iterator[Result]]
Cells = Mapping[Any, list[Any]]


class FrameColumns:
    """The columns of a table by their roles, and the values that replace them.

    Args:
        batch: `Deidentifier.batch`.
        text, patient, known, keep: as in `Deidentifier.deidentify_frame`.

    Raises:
        UsageError: one column has two roles.
    """

    def __init__(
        self, batch: Batch, engine: Engine, *,
        text: Any, patient: Any | None, known: Sequence[Any], keep: Sequence[Any],
    ) -> None:  # fmt: skip
        self.text, self._patient = text, patient
        self._batch, self._engine = batch, engine
        self._known = [known] if isinstance(known, str) else list(known)
        self._keep = [keep] if isinstance(keep, str) else list(keep)
        self._linked = list(dict.fromkeys([*([patient] if patient is not None else []), *self._known]))
        if text in self._linked:
            raise UsageError(f"The column {text!r} is the text and cannot be used for something else.")

    @property
    def read(self) -> list[Any]:
        """The columns whose values are needed."""
        return [self.text, *self._linked]

    @property
    def written(self) -> list[Any]:
        """The columns that are replaced or added, in the order of `values`."""
        return [self.text, *(name for name in self._linked if name not in self._keep), *ADDED]

    def check(self, columns: Iterable[Any]) -> None:
        """Compare the named columns with those of the table.

        Raises:
            UsageError: a column is missing or occurs twice, or has the name of a column that is added.
        """
        there = list(columns)
        for column in (*self.read, *self._keep):
            if column not in there:
                raise UsageError(f"The frame has no column {column!r}.")
            if there.count(column) > 1:
                raise UsageError(f"The frame has several columns named {column!r}. Rename all but one.")
        for column in ADDED:
            if column in there:
                raise UsageError(f"The frame already has a column {column!r}. Rename it.")

    def values(
        self, cells: Cells, missing: Callable[[Any], bool], *, progress: bool | None = False
    ) -> dict[Any, list[Any]]:
        """Return the values of the columns in `written`: str, or the missing value that the cell held before.

        Args:
            cells: the values of the columns in `read`, row by row.
            missing: whether a cell holds no value.
        """

        def item(i: int) -> Item:
            words = {str(name): _plain(cells[name][i]) for name in self._known if not missing(cells[name][i])}
            subject = None if self._patient is None or missing(cells[self._patient][i]) else _subject(
                cells[self._patient][i]
            )
            if not isinstance(cells[self.text][i], str):
                return Item("", fault=f"the column {self.text!r} has a value that is not text")
            return Item(cells[self.text][i], patient=subject, known=known_from(words) if words else ())

        def code(cell: Any) -> Any:
            subject = None if missing(cell) else _subject(cell)
            return cell if subject is None else pseudonym(subject, self._engine.keyring, self._engine.domain)

        notes = cells[self.text]
        results = self._batch([item(i) for i, note in enumerate(notes) if not missing(note)], progress=progress)
        each = [None if missing(note) else next(results) for note in notes]
        next(results, None)  # ends the iterator and so the progress bar
        texts = [
            note if r is None else r.text if r.verdict.released else None for note, r in zip(notes, each, strict=True)
        ]
        codes = {name: [code(cell) for cell in cells[name]] for name in self.written[1 : -len(ADDED)]}
        return {
            self.text: texts,
            **codes,
            "verdict": [r.verdict.outcome if r else "release" for r in each],
            "reasons": ["; ".join(map(str, r.verdict.reasons)) if r else "" for r in each],
        }


def deidentify_frame(df: Any, columns: FrameColumns, *, progress: bool | None = None) -> Any:
    """Implement `Deidentifier.deidentify_frame`. The class of the table, or a base class, determines the library."""
    kinds = {f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(df).__mro__}
    for serve, names in (
        (_pandas, {"pandas.DataFrame"}),
        (_polars, {"polars.DataFrame", "polars.LazyFrame"}),
        (_datasets, {f"datasets.{name}{ending}" for name in ("Dataset", "IterableDataset") for ending in ("", "Dict")}),
    ):
        if names & kinds:
            return serve(df, columns, progress)
    raise UsageError(
        "deidentify_frame takes a pandas DataFrame, a polars DataFrame or LazyFrame, or a Hugging Face Dataset, not "
        f"{type(df).__name__}. For a list of notes, use batch."
    )


def _pandas(df: Any, columns: FrameColumns, progress: bool | None) -> Any:
    import pandas as pd

    def missing(value: Any) -> bool:
        return bool(pd.api.types.is_scalar(value) and pd.isna(value))

    columns.check(df.columns)
    values = columns.values({name: df[name].tolist() for name in columns.read}, missing, progress=progress)
    frame = df.copy()
    for name, cells in values.items():
        frame[name] = pd.Series(cells, index=df.index, dtype=object if name not in ADDED else None)
    return frame


def _polars(df: Any, columns: FrameColumns, progress: bool | None) -> Any:
    import polars as pl

    def frame(part: pl.DataFrame, progress: bool | None = False) -> pl.DataFrame:
        values = columns.values({name: part[name].to_list() for name in columns.read}, _missing, progress=progress)
        return part.with_columns(pl.Series(name, _strings(cells), dtype=pl.String) for name, cells in values.items())

    schema = df.collect_schema()
    columns.check(schema)
    if isinstance(df, pl.DataFrame):
        return frame(df, progress)
    schema = {**schema, **dict.fromkeys(columns.written, pl.String)}
    return df.map_batches(  # a filter on a new column must not move in front of the call
        frame, predicate_pushdown=False, projection_pushdown=False, schema=schema, streamable=True
    )


def _datasets(df: Any, columns: FrameColumns, progress: bool | None) -> Any:
    """Keep everything in memory, since `Dataset.map` would write the notes into cache files."""
    import datasets
    import pyarrow as pa

    if isinstance(df, Mapping):  # the splits of a DatasetDict
        kind: Any = type(df)
        return kind({name: _datasets(split, columns, progress) for name, split in df.items()})
    features = None
    if df.features is not None:
        columns.check(df.features)
        text = dict.fromkeys(columns.written, datasets.Value("string"))
        features = datasets.Features({**df.features, **text})
    if isinstance(df, datasets.IterableDataset):

        def chunk(cells: dict[Any, list[Any]]) -> dict[Any, list[Any]]:
            columns.check(cells)
            return {name: _strings(new) for name, new in columns.values(cells, _missing).items()}

        return df.map(chunk, batched=True, batch_size=TOGETHER, features=features)
    plain = df.with_format(None)
    values = columns.values({name: plain[name][:] for name in columns.read}, _missing, progress=progress)
    table = df.with_format("arrow")[:].replace_schema_metadata(None)
    for name, cells in values.items():
        new = pa.array(_strings(cells), pa.string())
        at = table.schema.get_field_index(name)
        table = table.append_column(name, new) if at < 0 else table.set_column(at, name, new)
    info = df.info.copy()
    info.features = features
    form = df.format
    return datasets.Dataset(table, info=info, split=df.split).with_format(form["type"], **form["format_kwargs"])


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _strings(cells: Iterable[Any]) -> list[str | None]:
    """Return the values of a text column, with None for missing values."""
    return [cell if isinstance(cell, str) else None for cell in cells]


def _subject(value: Any) -> str | None:
    """Return a subject as text; None if it is blank.

    pandas turns an integer column with gaps into 7.0, which becomes 7.
    """
    written = str(_plain(value))
    return written if written.strip() else None


def _plain(value: Any) -> Any:
    """Return a cell's value as a plain Python value.

    pandas turns an integer column with gaps into 7.0, which becomes 7.
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    return int(value) if isinstance(value, float) and value.is_integer() else value
