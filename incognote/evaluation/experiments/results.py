"""The results of finished cells: one JSONL file per cell in an experiment's folder, written completely or not at all.

The first line describes the cell and its scores. Then there is one line per document: `{"id", "spans"}`, or
`{"id", "spans": [], "error"}` if a model did not read all of it. A span is `{"start", "end", "type", "score"}`; files
of earlier versions have no score. The files hold no text, but they do hold ids of documents.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from incognote.errors import UnknownName, UsageError
from incognote.evaluation.corpus import LabeledSpan
from incognote.evaluation.experiments.seal import Seal
from incognote.files.atomic import write_atomic


@dataclass(frozen=True, slots=True)
class CellHead:
    """The first line of a cell's file.

    Attributes:
        key, label, facts: of the cell (`cell.Cell`).
        spec: the hash of the experiment that it was run for.
        corpus: name, path (relative to the file), synthetic, split, documents.
        scores: recall, precision, f1 by character, each `{"value", "low", "high", "of"}`.
        taken: the usage behind its replies: calls paid in the run that finished it, replies from the recording, tokens,
            money.
        failed: the number of documents that a model did not read completely.
        opening: number and hash of the seal's line, if the split is `test`.
    """

    key: str
    label: str
    spec: str
    corpus: Mapping[str, Any]
    facts: Mapping[str, Any]
    scores: Mapping[str, Any]
    taken: Mapping[str, Any]
    failed: int
    opening: tuple[int, str] | None = None


class ScoredLabel(NamedTuple):
    """A label that a system found, with its score (0..1)."""

    start: int
    end: int
    type: str
    score: float

    @property
    def label(self) -> LabeledSpan:
        return LabeledSpan(self.start, self.end, self.type)


@dataclass(frozen=True, slots=True)
class CellResult:
    """A finished cell: its findings by document id. `scores` has one per finding, or none if the file has none."""

    head: CellHead
    path: Path
    found: Mapping[str, tuple[LabeledSpan, ...]] = field(repr=False)
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict, repr=False)

    @property
    def corpus(self) -> Path:
        """The path of its corpus."""
        return self.path.parent / str(self.head.corpus["path"])


class Results:
    """An experiment's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cells = folder / "cells"

    def file(self, key: str) -> Path:
        return self.cells / f"{key}.jsonl"

    def has(self, key: str) -> bool:
        return self.file(key).exists()

    def relative(self, corpus: Path) -> str:
        """A corpus's path, relative to the cell files, so that both can be moved together."""
        return os.path.relpath(corpus.resolve(), self.cells.resolve())

    def keep(self, head: CellHead, ids: Sequence[str], found: Sequence[Sequence[ScoredLabel] | str]) -> None:
        """Write a finished cell.

        Args:
            found: per document, the findings, or the code of the problem that prevented a model from reading it.
        """
        lines = [json.dumps({"cell": 1, **asdict(head)})]
        for id_, findings in zip(ids, found, strict=True):
            row: dict[str, Any] = {"id": id_, "spans": []}
            if isinstance(findings, str):
                row["error"] = findings
            else:
                row["spans"] = [finding._asdict() for finding in findings]
            lines.append(json.dumps(row))
        write_atomic(self.file(head.key), ("\n".join(lines) + "\n").encode(), private=True)

    def heads(self) -> list[CellHead]:
        """The heads of all finished cells, by label, the latest last.

        Raises:
            UsageError: a file is not a cell.
        """
        found = sorted(self.cells.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
        return sorted((_head(path) for path in found), key=lambda head: head.label)

    def tests(self) -> dict[str, Path]:
        """The test splits among the corpora, by name."""
        return {
            str(head.corpus["name"]): self.cells / str(head.corpus["path"])
            for head in self.heads()
            if head.corpus["split"] == "test"
        }

    def check(self, corpus: Path, hash_: str) -> None:
        """Check the log of a test split against the openings that the cells recorded.

        Raises:
            IncognoteError: lines are missing from it.
        """
        for head in self.heads():
            if head.opening is not None and head.facts["corpus"] == hash_:
                Seal(corpus).remembers(*head.opening)

    def find(self, name: str) -> CellResult:
        """Find a finished cell by its label, by the first digits of its key, or by the path of its file in any folder.

        Raises:
            UnknownName: no cell has this name.
            UsageError: several cells have it, or the file is not a cell.
        """
        if name.endswith(".jsonl"):
            return read(Path(name))
        heads = self.heads()
        fitting = [h for h in heads if h.label == name] or [
            h for h in heads if len(name) > 3 and h.key.startswith(name)
        ]
        if not fitting:
            raise UnknownName("cell", name, [h.label for h in heads])
        if len(fitting) > 1:
            keys = ", ".join(h.key for h in fitting)
            raise UsageError(
                f"{len(fitting)} cells are named {name!r}, with different code or texts. Name one of {keys}."
            )
        return read(self.file(fitting[0].key))


def read(path: Path) -> CellResult:
    """Read a cell's file.

    Raises:
        UsageError: it cannot be read or is not a cell.
    """
    rows = _rows(path)
    head = _head_of(next(rows, None), path)
    try:
        spans = {str(r["id"]): r["spans"] for r in rows}
        found = {id_: tuple(LabeledSpan(s["start"], s["end"], s["type"]) for s in each) for id_, each in spans.items()}
        scores = {id_: tuple(float(s["score"]) for s in each if "score" in s) for id_, each in spans.items()}
    except (KeyError, TypeError, ValueError):
        raise UsageError(f"{path.name} is not a cell of an experiment. Remove it and run again.") from None
    return CellResult(head, path, found, scores)


def _head(path: Path) -> CellHead:
    return _head_of(next(_rows(path), None), path)


def _head_of(row: Any, path: Path) -> CellHead:
    try:
        words = dict(row)
        if words.pop("cell") != 1:
            raise ValueError
        opening = words.pop("opening")
        return CellHead(**words, opening=None if opening is None else (int(opening[0]), str(opening[1])))
    except (KeyError, TypeError, ValueError):
        raise UsageError(f"{path.name} is not a cell of an experiment. Remove it and run again.") from None


def _rows(path: Path) -> Iterator[Any]:
    try:
        with path.open(encoding="utf-8") as stream:
            for line in stream:
                yield json.loads(line)
    except (OSError, ValueError):
        raise UsageError(f"{path.name} cannot be read as a cell of an experiment. Remove it and run again.") from None
